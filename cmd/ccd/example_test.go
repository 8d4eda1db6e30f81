package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/sidecar"
)

const (
	exampleDoc  = "../../docs/EXAMPLE.md"
	exampleHead = `# A whole companion

Made by ` + "`CCD_COMPANION_HOST=forge ccd compact --no-archive cmd/ccd/testdata/ledger.jsonl`" + ` from an invented session; a test holds it
to what the program writes. docs/FORMAT.md explains each part.

` + "````markdown\n"
	exampleFoot = "````\n"
)

// docs/EXAMPLE.md is what the program makes of the invented session, and the README's excerpt is a part of it.
func TestExampleIsReal(t *testing.T) {
	text := string(commandIn(t, t.TempDir(), []string{"CCD_COMPANION_HOST=forge"}, "compact", "--no-archive", "-q",
		filepath.Join("testdata", "ledger.jsonl")))
	want := exampleHead + text + exampleFoot
	if *update {
		if err := os.WriteFile(exampleDoc, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(exampleDoc)
	if err != nil || string(got) != want {
		t.Errorf("docs/EXAMPLE.md is not what ccd writes (%v): go test ./cmd/ccd -args -update", err)
	}
	p, err := sidecar.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(readme), "<!-- example -->\n```markdown\n")
	excerpt, _, found := strings.Cut(rest, "```\n<!-- /example -->")
	if !ok || !found {
		t.Fatal("README.md has no example")
	}
	for line := range strings.Lines(excerpt) {
		if line = strings.TrimSuffix(line, "\n"); line != "…" && !strings.Contains(text, line+"\n") {
			t.Errorf("README.md shows a line that ccd does not write: %q", line)
		}
	}
}
