package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "write the generated documents and golden files anew")

// TestDocsUpToDate holds docs/COMMANDS.md, the man pages and the README's command list to the commands.
func TestDocsUpToDate(t *testing.T) {
	root := (&app{std: std{out: &bytes.Buffer{}}}).root()
	golden(t, "../../docs/COMMANDS.md", markdown(root))
	manGoldens(t, manPages(root))
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Skipf("NOTICE: no README: %v", err)
	}
	before, rest, begun := strings.Cut(string(readme), "<!-- commands -->\n")
	_, after, ended := strings.Cut(rest, "<!-- /commands -->")
	if !begun || !ended {
		t.Fatal("README.md has no list of commands between <!-- commands --> and <!-- /commands -->")
	}
	golden(t, "../../README.md", before+"<!-- commands -->\n"+commandList(root)+"<!-- /commands -->"+after)
}

func golden(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is stale, run: go test ./cmd/ccd -args -update (-want +got):\n%s", path, diff)
	}
}

func commandList(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("| command | does |\n|---|---|\n")
	for _, g := range groups {
		for _, c := range inGroup(root, g) {
			fmt.Fprintf(&b, "| `ccd %s` | %s |\n", strings.ReplaceAll(c.Use, "|", `\|`), c.Short)
		}
	}
	return b.String()
}

func markdown(root *cobra.Command) string {
	var b bytes.Buffer
	b.WriteString("# Commands\n\nGenerated from the commands themselves: `go test ./cmd/ccd -args -update`. What stands here is what `ccd help` says.\n\n```\n")
	writeHelp(&b, root)
	b.WriteString("```\n")
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s\n", g)
		for _, c := range inGroup(root, g) {
			fmt.Fprintf(&b, "\n### ccd %s\n\n```\n", c.Name())
			writeHelp(&b, c)
			b.WriteString("```\n")
		}
	}
	return b.String()
}

// TestPages holds what every command's page must have.
func TestPages(t *testing.T) {
	root := (&app{std: std{out: &bytes.Buffer{}}}).root()
	for _, c := range root.Commands() {
		t.Run(c.Name(), func(t *testing.T) {
			if len(examplesOf(c)) < 2 {
				t.Error("fewer than two worked examples")
			}
			for _, e := range examplesOf(c) {
				if !strings.Contains(e.line, "ccd "+c.Name()) || e.does == "" {
					t.Errorf("example %q does not show the command, or does not say what it does", e.line)
				}
			}
			if c.GroupID == "" || c.Short == "" || c.Annotations[keyExits] == "" {
				t.Error("group, one line or exit status is missing")
			}
			for line := range strings.Lines(c.Long + "\n" + c.Annotations[keyJSON]) {
				if len(line) > 106 {
					t.Errorf("line of %d characters: %s", len(line), line)
				}
			}
		})
	}
}
