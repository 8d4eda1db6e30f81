package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// root returns the command table. Within a group, help keeps its order.
func (a *app) root() *cobra.Command {
	root := a.rootCommand()
	root.AddCommand(
		a.topCommand(), a.lsCommand(), a.showCommand(), a.timelineCommand(), a.searchCommand(), a.diffCommand(), a.restoreCommand(),
		a.webCommand(), a.exportCommand(), a.labelCommand(),
		a.resumeCommand(), a.compactCommand(), a.agentsCommand(),
		a.setupCommand(), a.runCommand(), a.serviceCommand(), a.statusCommand(), a.doctorCommand(), a.configCommand(), a.demoCommand(),
		a.archiveCommand(), a.remoteCommand(),
	)
	for _, c := range []*cobra.Command{a.hookCommand(), a.agentCommand(), a.mcpCommand(), a.statuslineCommand(), a.manCommand(), a.versionCommand()} {
		c.Hidden = true
		root.AddCommand(c)
	}
	eachCommand(root, func(c *cobra.Command) {
		usageErrors(c)
		c.DisableAutoGenTag = true
	})
	a.completeSessions(root)
	return root
}

// rootCommand returns `ccd` itself, with the global flags.
func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use: "ccd COMMAND", Short: "archive sessions of coding agents, restore what they forget", Long: about,
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
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
		return c.Help()
	}
	flags := root.PersistentFlags()
	flags.SortFlags = false
	flags.StringVar(&a.ConfigFile, "config", "", "read the configuration from `FILE`")
	flags.BoolVar(&a.json, "json", false, "print JSON with stable keys (ccd help COMMAND --json)")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "print only errors on stderr")
	flags.BoolVarP(&a.verbose, "verbose", "v", false, "print more on stderr")
	root.PersistentPreRun = func(c *cobra.Command, _ []string) {
		if a.verb = commandName(c); c.Flags().Lookup("machine") == nil {
			a.verb = "show"
		}
	}
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g, Title: g})
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetUsageTemplate(helpText)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { fmt.Fprint(a.out, a.helpPage(c)) })
	root.SetHelpCommand(&cobra.Command{Use: "help [COMMAND]", Short: "print help", Hidden: true, RunE: func(_ *cobra.Command, args []string) error {
		c, rest, err := root.Find(args)
		if err == nil && len(rest) > 0 && !slices.Contains(c.ValidArgs, rest[0]) {
			err = unknownCommand(c, rest)
		}
		if err != nil {
			return err
		}
		c.InitDefaultHelpFlag()
		return c.Help()
	}})
	return root
}

// commandName returns the words that call a command, without ccd.
func commandName(c *cobra.Command) string {
	return strings.TrimPrefix(c.CommandPath(), "ccd ")
}

// noJSON rejects --json for commands without it, so that a script notices.
func (a *app) noJSON(c *cobra.Command) error {
	if a.json {
		return usage(c, fmt.Errorf("ccd %s takes no --json", commandName(c)))
	}
	return nil
}

// archiveCommand returns `ccd archive`: what keeps the archive, and what removes from it.
func (a *app) archiveCommand() *cobra.Command {
	return grouped(
		&cobra.Command{Use: "archive", GroupID: data, Short: "check, back up and clean up the archive"},
		a.verifyCommand(), a.backupCommand(), a.importCommand(), a.gcCommand(), a.forgetCommand(), a.secretsCommand(),
	)
}

// manCommand returns `ccd man`, which packages call.
func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "write the man pages to a directory", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			err := doc.GenManTree(c.Root(), &doc.GenManHeader{Section: "1", Source: "ccd", Manual: "ccd manual"}, a.Path(args[0]))
			if err != nil {
				return fmt.Errorf("write man pages: %w", err)
			}
			return nil
		},
	}
}
