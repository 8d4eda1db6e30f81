package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

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
const SessionWords = `SESSION is an ID, its beginning, the last part of an ID with slashes, a name
from ccd label, a transcript's path, latest or latest:DIR. Without it, or with a
dot: the newest session of this directory's repository or, without git, of this
directory. Write -- before one that begins with a hyphen.`

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
list something, --json (its keys: ccd help COMMAND --json).{{else}}ccd help COMMAND shows flags and examples. New here? ccd demo shows ccd at work.
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
	return words.Hint(words.Usage(flagError(err)), "%s", strings.TrimSpace("ccd help "+ask))
}

// helpPage is a command's help. The keys of its JSON are a page of their own, with --json.
func (a *App) helpPage(c *cobra.Command) string {
	var page []string
	for paragraph := range strings.SplitSeq(cmp.Or(c.Long, c.Short), "\n\n") {
		if strings.HasPrefix(paragraph, "With --json:") == a.JSON {
			page = append(page, strings.TrimSpace(paragraph))
		}
	}
	if !a.JSON {
		page = append(page, c.UsageString())
	}
	return strings.TrimSpace(strings.Join(page, "\n\n")) + "\n"
}

// CommandName returns the words that call a command, without ccd.
func CommandName(c *cobra.Command) string {
	return strings.TrimPrefix(c.CommandPath(), "ccd ")
}

// NoJSON rejects --json for commands without it, so that a script notices.
func (a *App) NoJSON(c *cobra.Command) error {
	if a.JSON {
		return Usage(c, fmt.Errorf("ccd %s takes no --json", CommandName(c)))
	}
	return nil
}
