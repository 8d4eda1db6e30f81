package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// agentFlags are those of `ccd agent`: none names a file to read or to write.
type agentFlags struct {
	restore restoreFlags
	search  searchFlags
	show    showFlags
}

func (a *app) agentCommand() *cobra.Command {
	p := page{
		use: "agent restore|search|show", group: agents, short: "restore, search or show sessions of the current project (for agents)",
		forms: []string{
			"ccd agent restore [--raw | --full] ID|SESSION#N",
			"ccd agent search [--session SESSION] [--agent AGENT] [--since TIME] [--tool NAME] [--path PATH] [--phrase] [--all] [--limit N] WORDS...",
			"ccd agent show [--section NAME] [--agent AGENT] [SESSION]",
		},
		long: `These are the commands that hooks, the skill and the permission rules of ccd agents install name. They
print what ccd restore, ccd search and ccd show print, but only of this project's sessions, and they take
no --config and no flag that names a file to read or write.

A session is of this project if it began in the same git repository as the current directory, in any of
its worktrees, or, without git, in the current directory or below it. Its sub-agents and spilled outputs
are included, and so is the session that runs the command. In the home directory and those above it,
without git, only sessions started in exactly that directory are. Anything else is not found (exit 3).
The user can let agents read all projects: ccd agents install --reach all.

` + "`[ccd ID ...]`" + ` marks omitted text; restore prints it. Without SESSION, show prints the session with the
newest record in this directory, or else in the project.`,
		examples: []example{
			{"ccd agent restore 4tq9c1m7x2ka", "the original behind a marker [ccd 4tq9c1m7x2ka ...]"},
			{"ccd agent search --since 7d overflow cents", "this project's sessions of the last 7 days with both words"},
			{"ccd agent show --section now", "what was asked last, what is under way, planned and open"},
		},
		json:  "(search) as ccd search prints it",
		exits: []int{exitNotFound, exitDamage},
	}
	var f agentFlags
	check := func(c *cobra.Command, args []string) error { return f.check(c, args, a.json) }
	c := p.command(check, func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			writeHelp(a.out, c)
			return nil
		}
		a.agent = true
		return a.forAgent(c.Context(), f, args[0], args[1:])
	})
	c.ValidArgs = []string{"restore", "search", "show"}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.restore.raw, "raw", false, "(restore) print the transcript's line(s) that hold the original")
	flags.BoolVar(&f.restore.full, "full", false, "(restore) print the whole of a result that the agent saw cut")
	f.search.add(c)
	flags.StringVar(&f.show.section, "section", "", "(show) only the section `NAME`: now, rules, conversation, files, commands, problems, recent or rest")
	return c
}

// check fails where the command line is not one of the three forms.
func (f agentFlags) check(c *cobra.Command, args []string, json bool) error {
	if len(args) == 0 {
		return nil
	}
	var may []string
	var err error
	switch args[0] {
	case "restore":
		may, err = []string{"raw", "full", "agent"}, f.restore.check(pasted(args[1:]), json)
		if n := len(pasted(args[1:])); n != 1 {
			err = fmt.Errorf("restore takes one ID or SESSION#N, got %d", n)
		}
	case "search":
		may = []string{"session", "agent", "since", "tool", "path", "phrase", "all", "limit", "json"}
		_, err = f.search.query(args[1:], time.Now())
	case "show":
		if may = []string{"section", "agent"}; len(args) > 2 {
			err = errors.New("show takes one SESSION")
		}
	default:
		return fmt.Errorf("want restore, search or show, got %s", args[0])
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
		return a.restore(ctx, f.restore, pasted(args))
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
