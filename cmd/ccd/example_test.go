package main

import (
	"os"
	"path/filepath"
	"testing"

	"ccd/compactor/sidecar"
)

const (
	exampleDoc  = "../../docs/EXAMPLE.md"
	exampleHead = `# A whole companion

The output of ` + "`CCD_COMPANION_HOST=forge ccd compact --no-archive --max-tokens 12000 cmd/ccd/story/ledger.jsonl`" + ` for an invented session, checked
by a test. docs/FORMAT.md explains each part.

` + "````markdown\n"
	exampleFoot = "````\n"
)

// docs/EXAMPLE.md is the companion of the invented session.
func TestExampleIsReal(t *testing.T) {
	text := string(commandIn(t, t.TempDir(), []string{"CCD_COMPANION_HOST=forge"}, "compact", "--no-archive", "--max-tokens", "12000", "-q",
		filepath.Join("story", "ledger.jsonl")))
	want := exampleHead + text + exampleFoot
	if *update {
		must(t, os.WriteFile(exampleDoc, []byte(want), 0o644))
	}
	got, err := os.ReadFile(exampleDoc)
	if err != nil || string(got) != want {
		t.Errorf("docs/EXAMPLE.md is not what ccd writes (%v): go test ./cmd/ccd -args -update", err)
	}
	p, err := sidecar.Parse([]byte(text))
	must(t, err)
	if err := p.Check(); err != nil {
		t.Error(err)
	}
}
