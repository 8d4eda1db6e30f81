package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ccd/internal/config"
	"ccd/internal/words"
)

// The groups of help, in the order of groups. Commands that only other programs call are hidden.
const (
	Everyday = "Everyday"
	Agents   = "Agents"
	Setup    = "Set-up"
	Data     = "Data"
)

var groups = []string{Everyday, Agents, Setup, Data}

const about = "ccd archives the transcripts of your coding agents and restores what an agent\nforgets when it compacts its context."

// SessionWords explains SESSION.
const SessionWords = `SESSION is an ID, the last part of an ID with slashes or a name from ccd label,
of each as much as names no other; a transcript's path; latest, or
latest:PROJECT with what --project takes. Without it, or with a dot: the newest
session of this directory's repository or, without git, of this directory.
Write -- before one that begins with a hyphen.`

// helpText is cobra's template with the commands of a group in one block, so that the first page fits one screen.
const helpText = `Usage:
  {{if .HasParent}}{{.UseLine}}{{else}}ccd COMMAND [SESSION] [flags]{{end}}
{{- range .Groups}}{{$id := .ID}}

{{.Title}}{{range $.Commands}}{{if and (eq .GroupID $id) .IsAvailableCommand}}
  {{rpad .Name 10}}{{.Short}}{{end}}{{end}}{{end}}
{{- if and .HasParent .HasAvailableSubCommands}}

Commands{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name 12}}{{.Short}}{{end}}{{end}}{{end}}
{{- if .HasExample}}

Examples
{{.Example}}{{end}}
{{- if and .HasParent .HasAvailableLocalFlags}}

Flags
{{.LocalFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}

{{if .HasParent}}All commands take --config FILE, --quiet (-q), --verbose (-v) and, if they
list something, --json (its keys: ccd help COMMAND --json).{{else}}ccd help COMMAND shows flags, examples and what SESSION is. New? Try ccd demo.
Exit status: 0 done, 1 failed, 2 usage, 3 not found, 4 damage, 130 interrupted.{{end}}
`

// Grouped returns a command that only has subcommands.
func Grouped(c *cobra.Command, subcommands ...*cobra.Command) *cobra.Command {
	c.Args = unknownCommand
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.AddCommand(subcommands...)
	return c
}

// EachCommand calls f for a command and all below it.
func EachCommand(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		EachCommand(sub, f)
	}
}

// usageErrors makes the errors of a command's arguments usage errors.
func usageErrors(c *cobra.Command) {
	c.DisableFlagsInUseLine = strings.Contains(c.Use, "[flags]") || !c.HasAvailableLocalFlags()
	args := c.Args
	if args == nil {
		return
	}
	c.Args = func(c *cobra.Command, given []string) error {
		err := args(c, given)
		if err == nil || errors.As(err, new(words.UsageError)) {
			return err
		}
		if text := err.Error(); strings.HasPrefix(text, "accepts ") || strings.HasPrefix(text, "unknown command ") { // cobra's own only counts
			err = fmt.Errorf("expected `%s`, got %s", strings.TrimSuffix(c.UseLine(), " [flags]"), words.Count(len(given), "argument"))
		}
		return Usage(c, err)
	}
}

// Usage makes err an error of usage, with the help of c as its hint.
func Usage(c *cobra.Command, err error) error {
	ask := strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), "ccd"))
	return words.Hint(words.Usage(err), "%s", strings.TrimSpace("ccd help "+ask))
}

// jsonHelp begins what the help of a command says of its JSON. Without it, the command has none.
const jsonHelp = "With --json:"

// helpPage is a command's help. The keys of its JSON are a page of their own, with --json.
func (a *App) helpPage(c *cobra.Command) string {
	var page []string
	for paragraph := range strings.SplitSeq(cmp.Or(c.Long, c.Short), "\n\n") {
		if strings.HasPrefix(paragraph, jsonHelp) == a.JSON {
			page = append(page, strings.TrimSpace(paragraph))
		}
	}
	if !a.JSON {
		page = append(page, c.UsageString())
	}
	return strings.TrimSpace(strings.Join(page, "\n\n")) + "\n"
}

// NoJSON rejects --json for commands without it, so that a script notices.
func (a *App) NoJSON(c *cobra.Command) error {
	if a.JSON {
		return Usage(c, fmt.Errorf("%s takes no --json", c.CommandPath()))
	}
	return nil
}

// Synonyms maps words of other tools to the command that does the same.
var Synonyms = map[string]string{
	"log": "timeline", "history": "timeline",
	"grep": "search", "find": "search", "rg": "search", "ag": "search",
	"sessions": "ls", "list": "ls", "du": "status --totals", "size": "status --totals",
	"cat": "show", "view": "show", "print": "show", "open": "show", "latest": "show latest",
	"get": "restore", "recover": "restore", "checkout": "restore",
	"continue": "resume", "compress": "compact", "summarize": "compact",
	"rm": "archive forget", "delete": "archive forget", "remove": "archive forget",
	"check": "archive verify", "fsck": "archive verify", "info": "status",
	"init": "setup", "configure": "config", "purge": "setup --undo", "undo": "setup --undo", "uninstall": "setup --undo",
	"cost": "week", "costs": "week", "usage": "week", "tokens": "week",
	// Commands of earlier versions.
	"verify": "archive verify", "backup": "archive backup", "salvage": "archive import", "import": "archive import", "gc": "archive gc",
	"forget": "archive forget", "secrets": "archive secrets",
	"pin": "label --pin", "tag": "label SESSION --tag TAG", "name": "label SESSION --name NAME", "unpin": "label SESSION --unpin", "untag": "label SESSION --untag TAG",
	"install": "service install", "start": "service start", "stop": "service stop", "restart": "service restart",
	"path": "show --path", "stats": "status --totals",
}

// unknownCommand fails if args do not start with a subcommand of c, and suggests one.
func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	unknown := words.Usage(fmt.Errorf("unknown command %q", args[0]))
	meant := nearest(c, strings.ToLower(args[0]))
	if meant == "" {
		return words.Hint(unknown, "%s --help", c.CommandPath())
	}
	for _, arg := range args[1:] {
		if meant != strings.ToLower(meant) { // it has a placeholder
			break
		}
		meant += " " + words.Shell(arg)
	}
	return words.Hint(unknown, "%s %s", c.CommandPath(), meant)
}

// nearest returns the command that a user who typed something else meant, or "".
func nearest(c *cobra.Command, typed string) string {
	if meant, ok := Synonyms[typed]; ok && !c.HasParent() {
		return meant
	}
	c.SuggestionsMinimumDistance = (len(typed) + 2) / 3 // letters to change
	if near := c.SuggestionsFor(typed); len(near) == 1 {
		return near[0]
	}
	return ""
}

// unknownFlag returns the error for flags that cannot be parsed. It suggests the nearest flag.
func unknownFlag(c *cobra.Command, err error) error {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if typed, unknown := strings.CutPrefix(err.Error(), "unknown flag: --"); unknown {
		if best, _ := config.Nearest(typed, names); best != "" {
			return words.Hint(Usage(c, err), "%s --%s", c.CommandPath(), best)
		}
	}
	return Usage(c, err)
}

// Typed returns arguments as they are typed, each after a space; if one looks like a flag, none is taken for one.
func Typed(args []string) (typed string) {
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") && !strings.HasPrefix(typed, " -- ") {
			typed = " --" + typed
		}
		typed += " " + words.Shell(arg)
	}
	return typed
}
