package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"ccd/archive"
	"ccd/cmd/ccd/internal/reader"
	"ccd/compactor"
	"ccd/compactor/companion"
	"ccd/internal/lazy"
	"ccd/internal/mark"
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
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if !c.HasParent() || c.Hidden || c.Parent().Hidden || strings.Contains(c.Long, jsonHelp) { // what is hidden is for programs
			return nil
		}
		return a.NoJSON(c)
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
		a.Version(), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, companion.Version, compactor.Rules))
}

// Version returns the version of this build.
func (a *App) Version() string { return words.Version(a.Release) }

// How a command ends without a message.
var (
	ErrInterrupted = errors.New("interrupted")  // by SIGINT
	ErrTerminated  = errors.New("terminated")   // by SIGTERM
	ErrSaid        = errors.New("failed")       // what failed was reported
	ErrDamaged     = errors.New("damage found") // so was the damage
	ErrStopped     = errors.New("stopped")      // a daemon, on purpose
)

// ErrChild is returned for a child process that has failed and has reported why.
type ErrChild struct{ Code int }

// Error returns the exit code.
func (e ErrChild) Error() string {
	return fmt.Sprintf("ccd-remote exited with status %d", e.Code)
}

// ExitCode returns the exit code of an error.
func ExitCode(err error) int {
	var usage words.UsageError
	var several *reader.AmbiguousError
	var damage *archive.DamageError
	var child ErrChild
	switch {
	case err == nil:
		return words.ExitDone
	case errors.Is(err, ErrInterrupted), errors.Is(err, ErrTerminated), errors.Is(err, context.Canceled):
		return words.ExitInterrupted
	case errors.As(err, &usage):
		return words.ExitUsage
	case errors.As(err, &child):
		return child.Code
	case errors.As(err, &damage), errors.Is(err, ErrDamaged):
		return words.ExitDamage
	case errors.As(err, &several), errors.Is(err, archive.ErrNotFound):
		return words.ExitNotFound
	}
	return words.ExitFailed
}

// Report prints an error in one line, then candidates and a hint.
func Report(w io.Writer, err error, forAgent bool) {
	var several *reader.AmbiguousError
	if err == nil || errors.Is(err, ErrSaid) || errors.Is(err, ErrDamaged) || errors.As(err, new(ErrChild)) || ExitCode(err) == words.ExitInterrupted {
		return
	}
	err = reader.Locked(err)
	text := fmt.Sprintf("ccd: %s\n", strings.TrimPrefix(err.Error(), "ccd: "))
	if errors.As(err, &several) {
		for _, m := range several.Matches {
			text += fmt.Sprintf("  %s\n", m)
		}
	}
	if line := words.HintOf(err); line != "" {
		if forAgent {
			line = agentHint(line)
		}
		text += fmt.Sprintf("hint: %s\n", line)
	}
	fmt.Fprint(w, mark.Visible(text)) // the error may quote names from transcripts
}

// Signals returns a context that the first SIGINT or SIGTERM cancels, with errInterrupted or errTerminated as its
// cause. The second signal ends the process at once. A signal that stops the process (Ctrl-Z) waits until no call with
// that context holds the archive's lock.
func Signals() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	go func() {
		cause := ErrInterrupted
		if s, ok := <-c; !ok {
			return
		} else if s == syscall.SIGTERM {
			cause = ErrTerminated
		}
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		cancel(cause)
	}()
	return ctx, func() { signal.Stop(c); cancel(nil) }
}

// agentHint turns a hint for a person into one for an agent, which may run only `ccd agent`.
func agentHint(line string) string {
	verb, rest, _ := strings.Cut(strings.TrimPrefix(line, "ccd "), " ")
	switch {
	case strings.HasPrefix(line, "ccd help agent "):
		return strings.Replace(line, " help", "", 1) + " --help"
	case strings.HasPrefix(line, "ccd agent "), !actsOutside().MatchString(line):
		return line
	case !strings.HasPrefix(line, "ccd "):
		return "ask the user: " + line
	case (verb == "restore" || verb == "show" || verb == "search") && !strings.HasPrefix(rest, "--"):
		return "ccd agent " + verb + " " + rest
	}
	return "ask the user to run: " + line
}

// actsOutside matches hints that an agent may not follow.
var actsOutside = lazy.Regexp(`^(ccd|kill|unset|the process is stopped|try again)\b`)
