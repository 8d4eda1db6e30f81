package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/compactor/sidecar"
)

const (
	exampleDoc  = "../../docs/EXAMPLE.md"
	exampleHead = `# A whole companion

The output of ` + "`CCD_COMPANION_HOST=forge ccd compact --no-archive cmd/ccd/story/ledger.jsonl`" + ` for an invented session, checked
by a test. docs/FORMAT.md explains each part.

` + "````markdown\n"
	exampleFoot = "````\n"

	excerptHead = "<!-- example -->\n```markdown\n"
	excerptFoot = "```\n<!-- /example -->"
)

// docs/EXAMPLE.md is the companion of the invented session, and README's excerpt is a part of it.
func TestExampleIsReal(t *testing.T) {
	text := string(commandIn(t, t.TempDir(), []string{"CCD_COMPANION_HOST=forge"}, "compact", "--no-archive", "-q",
		filepath.Join("story", "ledger.jsonl")))
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
	before, rest, ok := strings.Cut(string(readme), excerptHead)
	shown, after, found := strings.Cut(rest, excerptFoot)
	if !ok || !found {
		t.Fatal("README.md has no example")
	}
	if *update {
		shown = excerpt(text)
		if err := os.WriteFile("../../README.md", []byte(before+excerptHead+shown+excerptFoot+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(shown) {
		if line = strings.TrimSuffix(line, "\n"); line != "…" && !strings.Contains(text, line+"\n") {
			t.Errorf("README.md shows a line that ccd does not write: %q", line)
		}
	}
}

// excerptOf is how many lines of a section README shows.
var excerptOf = map[string]int{"## Handover": 13}

// excerpt returns the part of a companion that README.md shows, with "…" for omissions.
func excerpt(text string) string {
	var b strings.Builder
	section, n, left := "", 0, false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "## ") {
			section, n = strings.TrimSuffix(line, "\n"), -1
		}
		n++
		show := n <= excerptOf[section] && excerptOf[section] > 0
		if !show && !left {
			b.WriteString("…\n")
		}
		if left = !show; show {
			b.WriteString(line)
		}
	}
	return b.String()
}
