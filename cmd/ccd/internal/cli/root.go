package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"ccd/compactor"
	"ccd/compactor/sidecar"
	"ccd/internal/words"
)

// Execute runs a command line and returns the exit code.
func (a *App) Execute(ctx context.Context, args []string) int {
	s := a.Std
	if f, ok := s.Err.(*os.File); ok && IsTTY(f) {
		a.Err = guarded{f}
	}
	root := a.Root()
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		Grouped(c) // cobra's own prints its help for a shell that it does not know
	}
	root.SetArgs(args)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		i := slices.IndexFunc(args, func(arg string) bool { return Synonyms[arg] != "" })
		if !c.HasParent() && i >= 0 {
			return unknownCommand(c, args[i:])
		}
		return unknownFlag(c, err)
	})
	c, err := root.ExecuteContextC(ctx)
	if both := together().FindStringSubmatch(fmt.Sprint(err)); both != nil {
		err = Usage(c, fmt.Errorf("--%s and --%s cannot be used together", both[1], both[2]))
	}
	if cause := context.Cause(ctx); cause != nil && (errors.Is(err, context.Canceled) || err == nil) {
		err = cause
	}
	if errors.Is(err, ErrStopped) {
		err = nil
	}
	if err == nil && a.Damaged {
		err = ErrDamaged
	}
	Report(s.Err, a.pulledDamage(err), slices.Contains(strings.Fields(c.CommandPath()), "agent"))
	return ExitCode(err)
}

// Root returns the command table. Within a group, help keeps its order.
func (a *App) Root() *cobra.Command {
	root := a.rootCommand()
	root.AddCommand(a.Commands(a)...)
	root.AddCommand(a.manCommand(), a.versionCommand())
	EachCommand(root, func(c *cobra.Command) {
		usageErrors(c)
		c.DisableAutoGenTag = true
	})
	a.completeSessions(root)
	return root
}

// rootCommand returns `ccd` itself, with the global flags.
func (a *App) rootCommand() *cobra.Command {
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
		if shown, err := a.Start(c.Context(), a); shown || err != nil {
			return err
		}
		return c.Help()
	}
	flags := root.PersistentFlags()
	flags.SortFlags = false
	flags.StringVar(&a.ConfigFile, "config", "", "read the configuration from `FILE`")
	flags.BoolVar(&a.JSON, "json", false, "print JSON with stable keys (ccd help COMMAND --json)")
	flags.BoolVarP(&a.Quiet, "quiet", "q", false, "print only errors on stderr")
	flags.BoolVarP(&a.Verbose, "verbose", "v", false, "print more on stderr")
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g, Title: g})
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetUsageTemplate(helpText)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { fmt.Fprint(a.Out, a.helpPage(c)) })
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

// manCommand returns `ccd man`, which packages call.
func (a *App) manCommand() *cobra.Command {
	return &cobra.Command{
		Hidden: true, Use: "man DIR", Short: "write the man pages to a directory", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir := a.Path(args[0])
			err := os.MkdirAll(dir, 0o755)
			if err == nil {
				err = doc.GenManTree(c.Root(), &doc.GenManHeader{Section: "1", Source: "ccd", Manual: "ccd manual"}, dir)
			}
			if err != nil {
				return fmt.Errorf("write man pages: %w", err)
			}
			return nil
		},
	}
}

func (a *App) versionCommand() *cobra.Command {
	return &cobra.Command{
		Hidden: true, Use: "version", Short: "print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

// printVersion prints the version, its commit, and the versions of what it writes.
func (a *App) printVersion() error {
	commit := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = fmt.Sprintf(" (%.12s)", s.Value)
			}
		}
	}
	return a.Print(fmt.Sprintf("ccd %s%s %s %s/%s, companion format %d, rules version %d\n",
		a.Version(), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, sidecar.Version, compactor.Rules))
}

// Version returns the version of this build.
func (a *App) Version() string { return words.Version(a.Release) }
