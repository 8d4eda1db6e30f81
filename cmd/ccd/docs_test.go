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

// TestDocsUpToDate holds docs/COMMANDS.md, the man page and the README's command list to the commands.
func TestDocsUpToDate(t *testing.T) {
	root := (&app{std: std{out: &bytes.Buffer{}}}).root()
	golden(t, "../../docs/COMMANDS.md", markdown(root))
	golden(t, "../../packaging/ccd.1", roff(root))
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

// roff renders the man page: the same words, in the order of man pages.
func roff(root *cobra.Command) string {
	var b bytes.Buffer
	b.WriteString(".\\\" Generated from the commands: go test ./cmd/ccd -args -update\n")
	b.WriteString(".TH CCD 1\n.SH NAME\nccd \\- " + escape(root.Short) + "\n.SH SYNOPSIS\n.B ccd\n[flags] COMMAND [arguments]\n")
	b.WriteString(".SH DESCRIPTION\n" + escape(root.Long) + "\n")
	b.WriteString(".PP\n" + escape(sessionWords) + ".\n")
	b.WriteString(".SH OPTIONS\n.nf\n" + escape(flagLines(root.PersistentFlags())) + ".fi\n")
	for _, g := range groups {
		fmt.Fprintf(&b, ".SH COMMANDS: %s\n", strings.ToUpper(g))
		for _, c := range inGroup(root, g) {
			roffCommand(&b, c)
		}
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, code := range []int{exitDone, exitFailed, exitUsage, exitNotFound, exitDamage, exitInterrupted} {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s\n", code, exitMeaning[code])
	}
	return b.String()
}

func roffCommand(b *bytes.Buffer, c *cobra.Command) {
	fmt.Fprintf(b, ".SS ccd %s\n%s.\n.PP\n.nf\n", escape(c.Name()), escape(c.Short))
	for _, form := range forms(c) {
		b.WriteString(escape(form) + "\n")
	}
	b.WriteString(".fi\n")
	if c.Long != "" {
		b.WriteString(".PP\n" + escape(c.Long) + "\n")
	}
	if flags := flagLines(c.LocalNonPersistentFlags()); flags != "" {
		b.WriteString(".PP\n.nf\n" + escape(flags) + ".fi\n")
	}
	if keys := c.Annotations[keyJSON]; keys != "" {
		b.WriteString(".PP\nWith --json: " + escape(keys) + "\n")
	}
	b.WriteString(".PP\nExamples:\n")
	for _, e := range examplesOf(c) {
		b.WriteString(".TP\n.B " + escape(e.line) + "\n" + escape(e.does) + "\n")
	}
	b.WriteString(".PP\nExit status: " + escape(exitLine(c)) + ".\n")
}

// escape makes text inert for roff: no line begins a request, hyphens and backslashes stay what they are.
func escape(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n\n", "\n.PP\n").Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if l != ".PP" && (strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'")) {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
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
