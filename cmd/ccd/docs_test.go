package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/cli"
	"ccd/internal/words"
)

var update = flag.Bool("update", false, "write the generated documents and golden files anew")

func golden(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(want), 0o644))
	}
	got := read(t, path)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is stale, run: go test ./cmd/ccd -args -update (-want +got):\n%s", path, diff)
	}
}

// TestHelp checks what the help of every command must have.
func TestHelp(t *testing.T) {
	cli.EachCommand(newApp(cli.Std{Out: &bytes.Buffer{}}, account.Env{}).Root(), func(c *cobra.Command) {
		if c.Short == "" || !c.Hidden && c.HasParent() && !c.Parent().HasParent() && c.GroupID == "" {
			t.Errorf("%s: group or short help is missing", c.CommandPath())
		}
		for line := range strings.Lines(c.Long) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%s: line of %d characters: %s", c.CommandPath(), n, line)
			}
		}
		for line := range strings.Lines(c.Example) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "ccd ") && unknown(c.Root(), strings.Split(line, "   ")[0]) != "" {
				t.Errorf("%s: example %q names no command", c.CommandPath(), line)
			}
		}
	})
	var first bytes.Buffer
	if code := run(t.Context(), []string{"help"}, std(strings.NewReader(""), &first, &first), []string{"HOME=" + t.TempDir()}); code != words.ExitDone || strings.Count(first.String(), "\n") > 40 {
		t.Errorf("exit %d, %d lines: the first page does not fit one screen", code, strings.Count(first.String(), "\n"))
	}
}

// TestSynonyms: a synonym is not a command, and what it suggests is one.
func TestSynonyms(t *testing.T) {
	root := newApp(cli.Std{Out: &bytes.Buffer{}}, account.Env{}).Root()
	for typed := range cli.Synonyms {
		if c, _, err := root.Find([]string{typed}); err == nil && c != root {
			t.Errorf("%s is a command", typed)
		}
		if line := "ccd " + cli.NearestCommand(root, typed); unknown(root, line) != "" {
			t.Errorf("%s leads to %q, which is none", typed, line)
		}
	}
}
