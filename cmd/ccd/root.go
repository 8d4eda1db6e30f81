package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
)

const about = "ccd archives the transcripts of your coding agents and restores what an agent forgets when it compacts its context."

// rootCommand returns `ccd` itself, with the global flags.
func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use: "ccd COMMAND", Short: "archive sessions of coding agents, restore what they forget", Long: about,
		SilenceErrors: true, SilenceUsage: true, DisableAutoGenTag: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              unknownCommand,
	}
	showVersion := root.Flags().Bool("version", false, "print the version")
	root.RunE = func(c *cobra.Command, _ []string) error {
		if *showVersion {
			return a.printVersion()
		}
		if shown, err := a.home(c.Context()); shown || err != nil {
			return err
		}
		writeRootHelp(a.out, c, false)
		return nil
	}
	flags := root.PersistentFlags()
	flags.SortFlags = false
	flags.StringVar(&a.ConfigFile, "config", "", "read the configuration from `FILE`")
	flags.BoolVar(&a.json, "json", false, "print JSON with stable keys (keys: ccd help --all COMMAND)")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "print only errors on stderr")
	flags.BoolVarP(&a.verbose, "verbose", "v", false, "print more on stderr")
	flags.BoolVar(&a.noPager, "no-pager", false, "print long output without a pager")
	root.PersistentPreRun = func(c *cobra.Command, _ []string) {
		if a.verb = c.Name(); c.Flags().Lookup("machine") == nil {
			a.verb = "show"
		}
		a.pageCommand(c)
	}
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g, Title: g + ":"})
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(unknownFlag)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		a.page(c.Context())
		writeHelp(a.out, c, false)
	})
	return root
}

// noJSON rejects --json for commands without it, so that a script notices.
func (a *app) noJSON(c *cobra.Command) error {
	if a.json {
		return usage(c, fmt.Errorf("ccd %s takes no --json", c.Name()))
	}
	return nil
}

func (a *app) helpCommand() *cobra.Command {
	p := page{
		use: "help [COMMAND]", group: care, short: "print help", forms: []string{"ccd help [--all] [COMMAND]"},
		examples: []example{
			{"ccd help --all", "every command and flag"},
			{"ccd help restore", "one command: flags, examples, exit status"},
			{"ccd help --all restore", "the same with all details and the keys of --json"},
		},
	}
	all := false
	c := p.command(cobra.MaximumNArgs(1), func(c *cobra.Command, args []string) error {
		root := c.Root()
		if len(args) == 0 {
			writeRootHelp(a.out, root, all)
			return nil
		}
		i := slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == args[0] })
		if i < 0 {
			return unknownCommand(root, args)
		}
		writeHelp(a.out, root.Commands()[i], all)
		return nil
	})
	c.Flags().BoolVar(&all, "all", false, "show every command, or all details of COMMAND")
	return c
}
