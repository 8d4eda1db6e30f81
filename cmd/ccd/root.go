package main

import (
	"ccd/cmd/ccd/internal/account"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// runIn runs a command in an environment, which may have another working directory than the process.
func runIn(ctx context.Context, args []string, s std, env account.Env) int {
	return execute(ctx, &app{std: s, Env: env, run: runIn}, args)
}

// execute runs a command line and returns the exit code.
func execute(ctx context.Context, a *app, args []string) int {
	s := a.std
	if f, ok := s.err.(*os.File); ok && isTTY(f) {
		a.err = guarded{f}
	}
	root := newRoot(a)
	root.SetArgs(args)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		i := slices.IndexFunc(args, func(arg string) bool { return synonyms[arg] != "" })
		if !c.HasParent() && i >= 0 {
			return unknownCommand(c, args[i:])
		}
		return unknownFlag(c, err)
	})
	c, err := root.ExecuteContextC(ctx)
	if cause := context.Cause(ctx); cause != nil && (errors.Is(err, context.Canceled) || err == nil) {
		err = cause
	}
	if errors.Is(err, errStopped) {
		err = nil
	}
	if err == nil && a.damaged {
		err = errDamaged
	}
	report(s.err, a.onMachine(root, err), c.Name() == "agent")
	return exitCode(err)
}

// newRoot returns the command table. Within a group, help keeps its order.
func newRoot(a *app) *cobra.Command {
	root := rootCommand(a)
	root.AddCommand(
		a.topCommand(), a.lsCommand(), a.showCommand(), a.timelineCommand(), a.searchCommand(), a.diffCommand(), a.restoreCommand(),
		a.webCommand(), a.exportCommand(), a.labelCommand(),
		a.resumeCommand(), a.compactCommand(), a.agentsCommand(),
		a.setupCommand(), a.runCommand(), a.serviceCommand(), a.statusCommand(), a.doctorCommand(), a.configCommand(), a.demoCommand(),
		archiveCommand(a), a.remoteCommand(),
	)
	for _, c := range []*cobra.Command{a.hookCommand(), a.agentCommand(), a.mcpCommand(), a.statuslineCommand(), manCommand(a), a.versionCommand()} {
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
func rootCommand(a *app) *cobra.Command {
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

// archiveCommand returns `ccd archive`: what keeps the archive, and what removes from it.
func archiveCommand(a *app) *cobra.Command {
	return grouped(
		&cobra.Command{Use: "archive", GroupID: data, Short: "check, back up and clean up the archive"},
		a.verifyCommand(), a.backupCommand(), a.importCommand(), a.gcCommand(), a.forgetCommand(), a.secretsCommand(),
	)
}

// manCommand returns `ccd man`, which packages call.
func manCommand(a *app) *cobra.Command {
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
