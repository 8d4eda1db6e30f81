package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"ccd/internal/words"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The groups of help, in the order of groups.
const (
	everyday = "Everyday"
	agents   = "Agents"
	setup    = "Setup"
	care     = "Maintenance"
)

// helpColumns is the width of help.
const helpColumns = 80

// sessionWords explains SESSION.
const sessionWords = `SESSION is a session ID, its beginning, the last part of an ID that contains slashes, a transcript's path, latest
(the newest session, or the one whose agent runs the command) or latest:DIR. Write -- before one that begins with a hyphen. Without
SESSION, or if SESSION is a dot, a command uses the newest session of this directory's git repository or,
without git, of this directory. If there is none, you pick a session on a terminal; otherwise ccd lists the sessions
and exits 3.`

// sessionBrief is the short form of sessionWords, for the help of each command.
const sessionBrief = "SESSION: ID, path, latest or latest:DIR; without it, this directory's newest."

// timeWords explains TIME.
const timeWords = `TIME is a time (14:00, 2026-01-29, 2026-01-29 14:00, 2026-01-29T14:00Z), a day (today, yesterday, monday),
both (yesterday 14:00), a month (2026-01), or an age (3h, 2 days ago, last week). Times without a zone are local.`

var groups = []string{everyday, agents, setup, care}

// firstHelp are the commands that `ccd help` shows. --all shows all.
var firstHelp = []string{"top", "web", "status", "ls", "search", "show", "diff", "restore", "resume", "setup", "run", "doctor"}

// page is what help, docs/COMMANDS.md and the man page say about a command. Prose is wrapped when printed; lines that
// start with a space are not.
type page struct {
	use      string   // "restore ID"
	forms    []string // full synopses, if one is not enough
	group    string
	short    string // one line, lower case, no full stop
	long     string // a few short paragraphs
	more     string // details, printed only by help --all, docs/COMMANDS.md and the man page
	examples []example
	json     string // what --json prints; "" if the command has no --json. Printed where more is
	exits    []int  // in addition to 0, 1, 2 and 130
	picks    bool   // without SESSION, it takes this directory's session or lets a person choose
	mute     bool   // it always exits 0
}

// example is a command line and what it does.
type example struct{ line, does string }

const (
	keyForms = "forms"
	keyMore  = "more"
	keyPicks = "picks"
	keyJSON  = "json"
	keyExits = "exits"
)

// command makes the command of a page. args checks the arguments; the caller adds the flags.
func (p page) command(args cobra.PositionalArgs, do func(*cobra.Command, []string) error) *cobra.Command {
	var lines []string
	for _, e := range p.examples {
		lines = append(lines, e.line+"\t"+e.does)
	}
	var exits []string
	all := append([]int{exitDone, exitFailed, exitUsage, exitInterrupted}, p.exits...)
	if p.mute {
		all = []int{exitDone}
	}
	for _, code := range all {
		exits = append(exits, fmt.Sprintf("%03d", code))
	}
	slices.Sort(exits)
	picks := ""
	if p.picks {
		picks = sessionBrief
	}
	return &cobra.Command{
		Use: p.use, GroupID: p.group, Short: p.short, Long: p.long, Example: strings.Join(lines, "\n"),
		DisableFlagsInUseLine: true,
		Annotations: map[string]string{
			keyForms: strings.Join(p.forms, "\n"), keyMore: p.more, keyPicks: picks, keyJSON: p.json, keyExits: strings.Join(exits, " "),
		},
		Args: func(c *cobra.Command, given []string) error {
			if err := args(c, given); err != nil {
				return usage(c, argumentError(c, given, err))
			}
			return nil
		},
		RunE: do,
	}
}

// argumentError says which arguments a command takes, because cobra's own error only counts them.
func argumentError(c *cobra.Command, given []string, err error) error {
	if text := err.Error(); strings.HasPrefix(text, "accepts ") || strings.HasPrefix(text, "unknown command ") {
		return fmt.Errorf("expected `ccd %s`, got %s", c.Use, words.Count(len(given), "argument"))
	}
	return err
}

func usage(c *cobra.Command, err error) error {
	ask := strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), "ccd"))
	return words.Hint(words.Usage(fmt.Errorf("parse command line: %w", flagError(err))), "%s", strings.TrimSpace("ccd help "+ask))
}

// writeHelp prints the help of a command; with all, also its details and what --json prints.
func writeHelp(w io.Writer, c *cobra.Command, all bool) {
	if !c.HasParent() {
		writeRootHelp(w, c, all)
		return
	}
	fmt.Fprintf(w, "%s: %s\n\nUsage:\n", c.CommandPath(), c.Short)
	for _, form := range forms(c) {
		fmt.Fprint(w, hanging("  ", form, "      "))
	}
	for _, text := range []string{c.Long, c.Annotations[keyPicks]} {
		if text != "" {
			fmt.Fprintf(w, "\n%s", wrap(text, ""))
		}
	}
	if more := c.Annotations[keyMore]; more != "" && all {
		fmt.Fprintf(w, "\n%s", wrap(more, ""))
	}
	if flags := flagLines(c.LocalNonPersistentFlags()); flags != "" {
		fmt.Fprintf(w, "\nFlags:\n%s", flags)
	}
	keys := c.Annotations[keyJSON]
	if keys != "" && all {
		fmt.Fprintf(w, "\nWith --json:\n%s", wrap(keys, "  "))
	}
	fmt.Fprint(w, "\nExamples:\n")
	for _, e := range examplesOf(c) {
		fmt.Fprintf(w, "  %s\n      %s\n", e.line, e.does)
	}
	fmt.Fprint(w, "\n"+hanging("Exit status: ", exitLine(c), "  "))
	switch {
	case all:
	case keys != "":
		fmt.Fprintf(w, "What --json prints: ccd help --all %s\n", c.Name())
	case c.Annotations[keyMore] != "":
		fmt.Fprintf(w, "More: ccd help --all %s\n", c.Name())
	}
}

// writeRootHelp prints the help of ccd: the first commands or, with all, every command and flag.
func writeRootHelp(w io.Writer, root *cobra.Command, all bool) {
	fmt.Fprintf(w, "%s\nUsage: ccd COMMAND [SESSION] [flags]\n\n", wrap(root.Long, ""))
	for _, g := range groups {
		title, listed := g, inGroup(root, g)
		if !all {
			listed = slices.DeleteFunc(listed, func(c *cobra.Command) bool { return !slices.Contains(firstHelp, c.Name()) })
			slices.SortFunc(listed, func(a, b *cobra.Command) int {
				return slices.Index(firstHelp, a.Name()) - slices.Index(firstHelp, b.Name())
			})
		}
		for _, c := range listed {
			fmt.Fprint(w, hanging(fmt.Sprintf("%-11s %-10s ", title, c.Name()), c.Short, strings.Repeat(" ", 23)))
			title = ""
		}
	}
	if !all {
		fmt.Fprint(w, "\n`ccd help COMMAND` shows a command's flags and examples, `ccd help --all` lists\n"+
			"every command and flag. New here? `ccd demo` shows ccd at work in a few seconds.\n")
		return
	}
	fmt.Fprintf(w, "\nGlobal flags:\n%s", flagLines(root.PersistentFlags()))
	fmt.Fprint(w, "\n"+hanging("Commands with --json: ", strings.Join(listing(root), ", "), "  "))
	fmt.Fprint(w, "\n"+hanging("Exit status: ", exitList([]int{exitDone, exitFailed, exitUsage, exitNotFound, exitDamage, exitInterrupted}), "  "))
	fmt.Fprintf(w, "\n%s\n%s", wrap(sessionWords, ""), wrap(timeWords, ""))
}

// listing returns the names of the commands that take --json.
func listing(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		if c.Annotations[keyJSON] != "" {
			names = append(names, c.Name())
		}
	}
	return names
}

func inGroup(root *cobra.Command, group string) []*cobra.Command {
	var in []*cobra.Command
	for _, c := range root.Commands() {
		if c.GroupID == group {
			in = append(in, c)
		}
	}
	return in
}

func forms(c *cobra.Command) []string {
	if all := c.Annotations[keyForms]; all != "" {
		return strings.Split(all, "\n")
	}
	return []string{"ccd " + c.Use}
}

func examplesOf(c *cobra.Command) []example {
	var all []example
	for line := range strings.Lines(c.Example) {
		cmd, does, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		all = append(all, example{cmd, does})
	}
	return all
}

func exitLine(c *cobra.Command) string {
	var codes []int
	for _, f := range strings.Fields(c.Annotations[keyExits]) {
		var n int
		if _, err := fmt.Sscanf(f, "%d", &n); err == nil {
			codes = append(codes, n)
		}
	}
	return exitList(codes)
}

func exitList(codes []int) string {
	var parts []string
	for _, n := range codes {
		parts = append(parts, fmt.Sprintf("%d %s", n, exitMeaning[n]))
	}
	return strings.Join(parts, ", ")
}

func flagLines(flags *pflag.FlagSet) string {
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" { // cobra adds --help only when it was asked for
			name, text := flagText(f)
			name = fmt.Sprintf("  %-22s ", name)
			b.WriteString(hanging(name, text, strings.Repeat(" ", 25)))
		}
	})
	return b.String()
}

// flagText returns how a flag is written, and its description.
func flagText(f *pflag.Flag) (name, text string) {
	value, text := pflag.UnquoteUsage(f)
	name = "--" + f.Name
	if value != "" {
		name += " " + value
	}
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	return name, text
}

// wrap breaks each paragraph of text into lines of at most helpColumns, each after indent. It does not wrap lines that
// start with a space.
func wrap(text, indent string) string {
	var b strings.Builder
	var run []string
	flush := func() {
		if len(run) > 0 {
			b.WriteString(hanging(indent, strings.Join(run, " "), indent))
		}
		run = nil
	}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if line != "" && line[0] != ' ' {
			run = append(run, line)
			continue
		}
		flush()
		if line != "" {
			line = indent + line
		}
		b.WriteString(line + "\n")
	}
	flush()
	return b.String()
}

// hanging returns text after head, broken into lines of at most helpColumns. indent starts each line but the first.
func hanging(head, text, indent string) string {
	var b strings.Builder
	line, begun := head, false
	for _, word := range strings.Fields(text) {
		if begun && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > helpColumns {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line, begun = indent, false
		}
		if begun {
			line += " "
		}
		line, begun = line+word, true
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
	return b.String()
}
