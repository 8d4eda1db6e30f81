package look

import (
	"errors"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/cli"
)

func (a *app) agentCommand() *cobra.Command {
	return cli.Grouped(
		&cobra.Command{
			Hidden: true, Use: "agent", Short: "restore, search or show sessions of the current project (for agents)",
			Long: `The hooks, the skill and the permission rules of ccd agents install use only
these commands. They print what ccd restore, search and show print, but only
for sessions of the current project, and take no flag that names a file.
Without SESSION, show prints the newest session of this directory, else of the
project.`,
			Example: `  ccd agent restore 4tq9c1m7x2ka
      the original behind a marker [ccd 4tq9c1m7x2ka ...]
  ccd agent search --since 7d overflow cents
      this project's sessions of the last 7 days with both words
  ccd agent show --section handover
      the last request, work in progress, plan and open problems`,
		},
		a.forAgent(a.restoreCommand(), "raw", "agent"),
		a.forAgent(a.searchCommand(), "said", "tool", "path", "session", "agent", "since", "until", "context", "limit", "all"),
		a.forAgent(a.showCommand(), "section", "agent"),
	)
}

// forAgent returns a command as agents may run it unasked: for the sessions in their reach, with only the named flags, none of which
// names a file to read or write.
func (a *app) forAgent(of *cobra.Command, flags ...string) *cobra.Command {
	c := &cobra.Command{Use: of.Use, Short: of.Short, Args: of.Args}
	c.RunE = func(c *cobra.Command, args []string) error {
		if a.ConfigFile != "" {
			return cli.Usage(c, errors.New("--config is not for agents"))
		}
		a.Agent = true
		return of.RunE(c, args)
	}
	c.Flags().SortFlags = false
	for _, name := range flags {
		c.Flags().AddFlag(of.Flags().Lookup(name))
	}
	return c
}
