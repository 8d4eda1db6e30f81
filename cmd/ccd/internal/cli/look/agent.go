package look

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// agentFlags are the flags of `ccd agent`. None names a file to read or write, because agents may run it unasked.
type agentFlags struct {
	restore restoreFlags
	search  searchFlags
	show    showFlags
}

func (a *app) agentCommand() *cobra.Command {
	c := &cobra.Command{
		Hidden: true, Use: "agent restore|search|show", Short: "restore, search or show sessions of the current project (for agents)",
		Long: `The hooks, the skill and the permission rules of ccd agents install use only
these commands. They print what ccd restore, search and show print, but only
for sessions of the current project, and take no flag that names a file.
Without SESSION, show prints the newest session of this directory, else of the
project.

With --json: (search) as ccd search prints it`,
		Example: `  ccd agent restore 4tq9c1m7x2ka
      the original behind a marker [ccd 4tq9c1m7x2ka ...]
  ccd agent search --since 7d overflow cents
      this project's sessions of the last 7 days with both words
  ccd agent show --section handover
      the last request, work in progress, plan and open problems`,
	}
	var f agentFlags
	check := func(c *cobra.Command, args []string) error { return f.check(c, args, a.JSON) }
	c.Args = check
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		a.Agent = true
		return a.forAgent(c.Context(), f, args[0], args[1:])
	}
	c.ValidArgs = []string{"restore", "search", "show"}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.restore.raw, "raw", false, "(restore) print the transcript's line(s) with the original")
	flags.BoolVar(&f.restore.full, "full", false, "(restore) print the full result if the agent saw a shortened one")
	f.search.add(a, c)
	flags.StringVar(&f.show.section, "section", "", "(show) only the section `NAME`, by its heading: handover, record or files")
	return c
}

// check fails if the command line is none of the three forms.
func (f agentFlags) check(c *cobra.Command, args []string, json bool) error {
	if len(args) == 0 {
		return nil
	}
	var may []string
	var err error
	switch args[0] {
	case "restore":
		may, err = []string{"raw", "full", "agent"}, f.restore.check(joinMarker(args[1:]), json)
		if n := len(joinMarker(args[1:])); n != 1 {
			err = fmt.Errorf("restore takes one ID or SESSION#N, got %d", n)
		}
	case "search":
		may = []string{"session", "agent", "since", "until", "context", "tool", "path", "all", "limit", "json"}
		_, err = f.search.query(args[1:], time.Now())
	case "show":
		if may = []string{"section", "agent"}; len(args) > 2 {
			err = errors.New("show takes one SESSION")
		}
	default:
		return fmt.Errorf("expected restore, search or show, got %s", args[0])
	}
	c.Flags().Visit(func(flag *pflag.Flag) {
		if !slices.Contains(append(may, "quiet", "verbose", "help"), flag.Name) {
			err = fmt.Errorf("ccd agent %s takes no --%s", args[0], flag.Name)
		}
	})
	return err
}

func (a *app) forAgent(ctx context.Context, f agentFlags, verb string, args []string) error {
	switch verb {
	case "restore":
		f.restore.agent = f.search.agent
		return a.Restored(a.restore(ctx, f.restore, joinMarker(args)))
	case "search":
		return a.search(ctx, f.search, args)
	}
	f.show.agent = f.search.agent
	arg := ""
	if len(args) == 1 {
		arg = args[0]
	}
	arg, err := a.named(ctx, arg, f.show.agent)
	if err != nil {
		return err
	}
	return a.show(ctx, arg, f.show)
}
