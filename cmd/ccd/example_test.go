package main

import (
	"os"
	"path/filepath"
	"regexp"
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

// inExcerpt matches the lines that README shows: of the handover, what was asked and what is open.
var inExcerpt = regexp.MustCompile(`^(## Handover|Began with|Asked before|Task|State|Plan|> )`)

// excerpt returns the part of a companion that README.md shows, with "…" for omissions.
func excerpt(text string) string {
	var b strings.Builder
	left := false
	handover, _, _ := strings.Cut(text, "\n## Working set")
	for line := range strings.Lines(handover) {
		show := inExcerpt.MatchString(line)
		switch {
		case show:
			b.WriteString(line)
		case !left:
			b.WriteString("…\n")
		}
		left = !show
	}
	return b.String()
}
