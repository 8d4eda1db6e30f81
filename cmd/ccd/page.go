package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The groups of help, in its order.
const (
	everyday = "Everyday"
	agents   = "Agents"
	setup    = "Set-up"
	care     = "Care"
)

// sessionWords is what every page means by SESSION.
const sessionWords = "SESSION is a session ID, a unique prefix of one, a transcript's path, latest (the one with the newest record),\n" +
	"or latest:DIR. Before one that begins with a hyphen, write --. If several sessions have grown in the last 10\n" +
	"minutes, latest is the one that runs the command in its shell; without one, it lists them and fails (exit status 3)"

var groups = []string{everyday, agents, setup, care}

// page is what help, docs/COMMANDS.md and the man page say of a command.
type page struct {
	use      string   // "restore ID"
	forms    []string // full synopses, where one is not enough
	group    string
	short    string // one line, lower case, no full stop
	long     string // paragraphs; lines of at most 105 characters
	examples []example
	json     string // what --json prints; "" where the command takes no --json
	exits    []int  // beside 0, 1, 2 and 130
	mute     bool   // it exits 0 whatever becomes of it
}

// example is a command line and what it does.
type example struct{ line, does string }

const (
	keyForms = "forms"
	keyJSON  = "json"
	keyExits = "exits"
)

// command makes the command of a page. Arguments are checked by args (usage errors), flags are added by the caller.
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
	return &cobra.Command{
		Use: p.use, GroupID: p.group, Short: p.short, Long: p.long, Example: strings.Join(lines, "\n"),
		DisableFlagsInUseLine: true,
		Annotations: map[string]string{
			keyForms: strings.Join(p.forms, "\n"), keyJSON: p.json, keyExits: strings.Join(exits, " "),
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

// argumentError says which arguments a command takes where the parser only counts them.
func argumentError(c *cobra.Command, given []string, err error) error {
	if text := err.Error(); strings.HasPrefix(text, "accepts ") || strings.HasPrefix(text, "unknown command ") {
		return fmt.Errorf("want `ccd %s`, got %s", c.Use, count(len(given), "argument"))
	}
	return err
}

func usage(c *cobra.Command, err error) error {
	ask := strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), "ccd"))
	return hint(usageError{fmt.Errorf("parse command line: %w", flagError(err))}, "%s", strings.TrimSpace("ccd help "+ask))
}

// writeHelp prints one command's page: synopsis, what it does, flags, JSON, examples, exit status.
func writeHelp(w io.Writer, c *cobra.Command) {
	if !c.HasParent() {
		writeRootHelp(w, c)
		return
	}
	fmt.Fprintf(w, "%s: %s\n\nUsage:\n", c.CommandPath(), c.Short)
	for _, form := range forms(c) {
		fmt.Fprintf(w, "  %s\n", form)
	}
	if c.Long != "" {
		fmt.Fprintf(w, "\n%s\n", c.Long)
	}
	if flags := flagLines(c.LocalNonPersistentFlags()); flags != "" {
		fmt.Fprintf(w, "\nFlags:\n%s", flags)
	}
	if keys := c.Annotations[keyJSON]; keys != "" {
		fmt.Fprintf(w, "\nWith --json:\n%s\n", indent(keys, "  "))
	}
	fmt.Fprint(w, "\nExamples:\n")
	for _, e := range examplesOf(c) {
		fmt.Fprintf(w, "  %s\n      %s\n", e.line, e.does)
	}
	fmt.Fprintf(w, "\nExit status: %s\n", exitLine(c))
}

func writeRootHelp(w io.Writer, root *cobra.Command) {
	fmt.Fprintf(w, "%s\n\nUsage:\n  ccd [flags] COMMAND [arguments]\n", root.Long)
	for _, g := range groups {
		fmt.Fprintf(w, "\n%s:\n", g)
		for _, c := range inGroup(root, g) {
			fmt.Fprintf(w, "  %-11s %s\n", c.Name(), c.Short)
		}
	}
	fmt.Fprintf(w, "\nFlags of every command:\n%s", flagLines(root.PersistentFlags()))
	fmt.Fprintf(w, "\nWith --json: %s.\n", strings.Join(listing(root), ", "))
	fmt.Fprintf(w, "\nExit status: %s\n", exitList([]int{exitDone, exitFailed, exitUsage, exitNotFound, exitDamage, exitInterrupted}))
	fmt.Fprint(w, "\n"+sessionWords+".\n"+
		"`ccd help COMMAND` tells more, with examples. New here? `ccd demo` shows it all in a few seconds.\n")
}

// listing names the commands that take --json.
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
		if !f.Hidden && f.Name != "help" { // the parser adds it where it was asked for
			name, text := flagText(f)
			fmt.Fprintf(&b, "  %-20s %s\n", name, text)
		}
	})
	return b.String()
}

// flagText returns how a flag is written, and what it does.
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

func indent(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+by)
}
