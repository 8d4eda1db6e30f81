package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/cli"
)

var (
	// typed matches a command line in a document: between backquotes or on a line of a block.
	typed   = regexp.MustCompile("(?m)`(ccd [^`\n]*)`|^ *(?:\\$ )?(?:sudo )?(ccd [a-z][^\n]*)$")
	block   = regexp.MustCompile("(?ms)^```.*?^```$|^    [^\n]*$")
	flagged = regexp.MustCompile(`(?:^|[\s\[|])(--?[a-z][a-z-]*)`)
)

// unknown returns the first name in a command line that is no command or flag.
func unknown(root *cobra.Command, line string) string {
	line, _, _ = strings.Cut(line, " # ")
	line, _, _ = strings.Cut(line, " | ")
	line, _, _ = strings.Cut(line, "; ")
	words := strings.Fields(line)[1:]
	if len(words) == 0 || words[0] != strings.ToLower(words[0]) || strings.HasPrefix(words[0], "-") || !regexp.MustCompile(`^[a-z]+$`).MatchString(words[0]) {
		return "" // `ccd COMMAND`, `ccd --json`, `ccd: verb object`
	}
	if words[0] == "help" || words[0] == "completion" { // cobra's own
		return ""
	}
	c, _, err := root.Find(words)
	if err != nil || c == root {
		return words[0]
	}
	for _, m := range flagged.FindAllStringSubmatch(strings.Join(words[1:], " "), -1) {
		name := strings.TrimLeft(m[1], "-")
		known := c.Flags().Lookup(name) != nil || c.InheritedFlags().Lookup(name) != nil || root.PersistentFlags().Lookup(name) != nil
		if len(name) == 1 {
			known = c.Flags().ShorthandLookup(name) != nil || c.InheritedFlags().ShorthandLookup(name) != nil
		}
		if !known {
			return m[1]
		}
	}
	return ""
}

// TestDocumentsNameRealCommands: every command line in a document names an existing command and its flags.
func TestDocumentsNameRealCommands(t *testing.T) {
	root := newApp(cli.Std{Out: &bytes.Buffer{}}, account.Env{}).Root()
	files, _ := filepath.Glob("../../docs/*.md")
	seen := 0
	for _, file := range append(files, "../../README.md", "../../CHANGELOG.md", "../../CONTRIBUTING.md") {
		text := read(t, file)
		blocks := strings.Join(block.FindAllString(string(text), -1), "\n")
		for _, m := range typed.FindAllStringSubmatch(string(text), -1) {
			if m[1] == "" && !strings.Contains(blocks, m[2]) || m[1] == "ccd summarizer request ID" { // prose; a mark in a transcript
				continue
			}
			seen++
			if bad := unknown(root, m[1]+m[2]); bad != "" {
				t.Errorf("%s: `%s`: there is no %q", filepath.Base(file), m[1]+m[2], bad)
			}
		}
	}
	if seen < 100 {
		t.Errorf("%d command lines seen", seen)
	}
	for line, want := range map[string]string{
		"ccd frobnicate": "frobnicate", "ccd run --twice": "--twice", "ccd restore -z ID": "-z", "ccd ls --json -q": "", "ccd COMMAND": "",
	} {
		if got := unknown(root, line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
