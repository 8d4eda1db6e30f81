package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ccd/internal/config"
)

const manDir = "../../packaging/man"

// manGoldens compares packaging/man with pages; other files there are an error.
func manGoldens(t *testing.T, pages map[string]string) {
	t.Helper()
	if *update {
		if err := os.RemoveAll(manDir); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range pages {
		golden(t, filepath.Join(manDir, name), text)
	}
	var there []string
	files, err := os.ReadDir(manDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		there = append(there, f.Name())
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(pages)), there); diff != "" {
		t.Errorf("%s holds other pages than it should (-want +got):\n%s", manDir, diff)
	}
}

// manPages renders all man pages by file name: ccd(1), one per command, ccd-config(5). The text is that of help.
func manPages(root *cobra.Command) map[string]string {
	pages := map[string]string{"ccd.1": rootMan(root), "ccd-config.5": configMan(config.Example())}
	for _, c := range root.Commands() {
		if c.GroupID != "" {
			pages["ccd-"+c.Name()+".1"] = commandMan(c)
		}
	}
	return pages
}

func rootMan(root *cobra.Command) string {
	b := manPage("ccd", 1, root.Short)
	b.section("SYNOPSIS", ".B ccd\n[flags] COMMAND [arguments]")
	b.section("DESCRIPTION", escape(root.Long)+"\n.PP\n"+escape(sessionWords))
	b.section("COMMANDS", "Each command has its own page.")
	for _, g := range groups {
		fmt.Fprintf(b, ".SS %s\n", escape(g))
		for _, c := range inGroup(root, g) {
			fmt.Fprintf(b, ".TP\n.BR ccd\\-%s (1)\n%s\n", escape(c.Name()), escape(c.Short))
		}
	}
	b.section("OPTIONS", "All commands accept:")
	b.flags(root)
	b.section("EXIT STATUS", "")
	for _, code := range []int{exitDone, exitFailed, exitUsage, exitNotFound, exitDamage, exitInterrupted} {
		b.term(fmt.Sprint(code), exitMeaning[code])
	}
	b.section("ENVIRONMENT", "")
	b.term("CCD_CONFIG", "the configuration file")
	b.term("CCD_SECTION_KEY", "one key of the configuration, such as CCD_WATCH_SETTLE=5s; it overrides the file")
	b.term("CLAUDE_CONFIG_DIR, CODEX_HOME", "the agents' own directories, as the agents interpret these variables")
	b.term("NO_COLOR", "no colours, even on a terminal")
	b.term("CCD_PAGER, PAGER", "the pager for long output on a terminal (default: less, if installed; cat or nothing: none)")
	b.section("FILES", "")
	b.term("$XDG_CONFIG_HOME/ccd/config.toml, else ~/.config/ccd/config.toml", "the configuration; none is needed")
	b.term("$XDG_STATE_HOME/ccd, else ~/.local/state/ccd; on macOS ~/Library/Application Support/ccd",
		"the archive and a few small files, readable only by their user")
	b.term("*.ccd.md", "a companion, beside its transcript or below companion.dir")
	b.section("SEE ALSO", ".BR ccd\\-config (5)")
	return b.String()
}

func commandMan(c *cobra.Command) string {
	b := manPage("ccd-"+c.Name(), 1, c.Short)
	b.section("SYNOPSIS", ".nf\n"+escape(strings.Join(forms(c), "\n"))+"\n.fi")
	if c.Long != "" {
		b.section("DESCRIPTION", escape(c.Long))
	}
	if flagLines(c.LocalNonPersistentFlags()) != "" {
		b.section("OPTIONS", "")
		b.flags(c)
	}
	if keys := c.Annotations[keyJSON]; keys != "" {
		b.section("OUTPUT WITH \\-\\-json", escape(keys))
	}
	b.section("EXAMPLES", "")
	for _, e := range examplesOf(c) {
		b.term(e.line, e.does)
	}
	b.section("EXIT STATUS", escape(exitLine(c))+".")
	b.section("SEE ALSO", ".BR ccd (1),\n.BR ccd\\-config (5)")
	return b.String()
}

// configMan makes a page of config.toml.example, where a comment explains what follows it.
func configMan(example string) string {
	b := manPage("ccd-config", 5, "the configuration of ccd")
	head, rest, _ := strings.Cut(example, "\n\n")
	b.section("SYNOPSIS", "$CCD_CONFIG, else $XDG_CONFIG_HOME/ccd/config.toml, else ~/.config/ccd/config.toml")
	b.section("DESCRIPTION", "A TOML file. Each mistake in it is an error that names the line.\n.PP\n"+
		escape(strings.ReplaceAll("\n"+head, "\n# ", "\n")[1:])+"\n.PP\n"+
		".BR ccd\\-config (1)\nprints the effective configuration, and where each value comes from.")
	var doc []string
	for line := range strings.Lines(rest) {
		line = strings.TrimSuffix(line, "\n")
		comment, isComment := strings.CutPrefix(line, "# ")
		switch {
		case isComment:
			doc = append(doc, comment)
			continue
		case strings.HasPrefix(line, "["):
			b.section(escape(line), configDoc(doc))
		case line != "":
			b.term(line, "")
			fmt.Fprintln(b, configDoc(doc))
		}
		if line != "" {
			doc = nil
		}
	}
	b.section("SEE ALSO", ".BR ccd (1),\n.BR ccd\\-config (1)")
	return b.String()
}

var assignment = regexp.MustCompile(`^[\w"-]+ = `)

// configDoc formats a comment as prose; lines with an assignment stay as they are.
func configDoc(doc []string) string {
	var b strings.Builder
	for _, line := range doc {
		if assignment.MatchString(line) {
			line = "\n.br\n" + escape(line) + "\n.br\n"
		} else {
			line = escape(line) + "\n"
		}
		b.WriteString(line)
	}
	return strings.TrimSuffix(strings.ReplaceAll(b.String(), "\n\n", "\n"), "\n")
}

type man struct{ bytes.Buffer }

func manPage(name string, section int, short string) *man {
	b := &man{}
	b.WriteString(".\\\" Generated from the commands: go test ./cmd/ccd -args -update\n")
	fmt.Fprintf(b, ".TH %s %d \"\" ccd \"ccd manual\"\n.SH NAME\n%s \\- %s\n", escape(strings.ToUpper(name)), section, escape(name), escape(short))
	return b
}

func (b *man) section(title, text string) {
	fmt.Fprintf(b, ".SH %s\n", title)
	if text != "" {
		b.WriteString(text + "\n")
	}
}

func (b *man) term(name, text string) {
	fmt.Fprintf(b, ".TP\n.B %s\n", strings.ReplaceAll(escape(name), `"`, `\(dq`)) // an unescaped quote would only group words
	if text != "" {
		b.WriteString(escape(text) + "\n")
	}
}

func (b *man) flags(c *cobra.Command) {
	set := c.LocalNonPersistentFlags()
	if !c.HasParent() {
		set = c.PersistentFlags()
	}
	set.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			b.term(flagText(f))
		}
	})
}

// escape escapes text for roff: no line starts a request, and hyphens and backslashes stay.
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

// lint returns groff's warnings on a man page.
func lint(t *testing.T, page string) string {
	t.Helper()
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("NOTICE: no groff: the man pages are not linted")
	}
	c := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z")
	c.Stdin = strings.NewReader(page)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("groff: %v\n%s", err, out)
	}
	return string(out)
}

func TestManPagesAreClean(t *testing.T) {
	pages := manPages((&app{std: std{out: &bytes.Buffer{}}}).root())
	if said := lint(t, strings.Join(slices.Collect(maps.Values(pages)), "")); said != "" {
		t.Error(said)
	}
	for name, page := range pages {
		if _, after, _ := strings.Cut(page, ".SH NAME\n"); !strings.HasPrefix(after, escape(strings.TrimRight(name, ".15"))+` \- `) {
			t.Errorf("%s: its NAME is not what whatis and apropos read: %.60q", name, after)
		}
	}
	if lint(t, ".TH X 1\n.SH NAME\n.BROKEN request\n") == "" {
		t.Error("a broken page is clean: the lint proves nothing")
	}
}

// TestManPageOfConfig: every key of the example has an entry with its comment.
func TestManPageOfConfig(t *testing.T) {
	page := configMan("# Head.\n# Sizes: \"1MB\".\n\n# What is a.\n[a]\n# One.\n# more of it\nb-c = \"x\"\n\n# Table, such as:\n# k = [1]\n[a.d]\n")
	want := ".SH [a]\nWhat is a.\n.TP\n.B b\\-c = \\(dqx\\(dq\nOne.\nmore of it\n.SH [a.d]\nTable, such as:\n.br\nk = [1]\n.br\n.SH SEE ALSO"
	if !strings.Contains(page, want) || !strings.Contains(page, "\n.PP\nHead.\nSizes: \"1MB\".\n") {
		t.Errorf("got:\n%s", page)
	}
}
