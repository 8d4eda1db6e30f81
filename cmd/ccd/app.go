package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/account"
	"ccd/internal/mark"
)

// std is what a command reads from and writes to.
type std struct {
	in       io.Reader
	out, err io.Writer
}

// app is what every command is given: the streams, the environment and the global flags.
type app struct {
	std
	account.Env
	agent   bool // it serves an agent: only the sessions in its reach
	json    bool
	quiet   bool
	verbose bool
	noPager bool
	damaged bool // it was said that damage leaves something out of the answer
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, s std, env []string) int {
	a := &app{std: s, Env: account.Env{Vars: env}}
	if f, ok := s.err.(*os.File); ok && isTTY(f) {
		a.err = guarded{f}
	}
	root := a.root()
	root.SetArgs(args)
	c, err := root.ExecuteContextC(ctx)
	a.endPager()
	if errors.Is(err, errPagerQuit) {
		err = nil
	}
	if cause := context.Cause(ctx); cause != nil && (errors.Is(err, context.Canceled) || err == nil) {
		err = cause
	}
	if errors.Is(err, errStopped) {
		err = nil
	}
	if err == nil && a.damaged {
		err = errDamaged
	}
	report(a.talk(s.err, priorityError), err, c.Name() == "agent")
	return exitCode(err)
}

// root is the command table. The order within a group is the order of help.
func (a *app) root() *cobra.Command {
	root := a.rootCommand()
	root.AddCommand(
		a.runCommand(), a.statusCommand(), a.lsCommand(), a.showCommand(), a.compactCommand(), a.timelineCommand(), a.diffCommand(), a.statsCommand(),
		a.restoreCommand(), a.searchCommand(), a.pathCommand(),
		a.pinCommand(), a.tagCommand(), a.nameCommand(),
		a.hookCommand(), a.statuslineCommand(),
		a.agentCommand(),
		a.agentsCommand(),
		a.mcpCommand(),
		a.setupCommand(), a.demoCommand(), a.serviceCommand(installVerb()), a.uninstallCommand(), a.serviceCommand(startService()), a.serviceCommand(stopService()), a.serviceCommand(restartService()),
		a.configCommand(), a.completionCommand(),
		a.resumeCommand(),
		a.verifyCommand(), a.backupCommand(), a.scoreCommand(), a.doctorCommand(), a.versionCommand(), a.helpCommand(),
	)
	a.completeSessions(root)
	return root
}

// say tells people something on stderr, unless they asked for quiet.
func (a *app) say(format string, args ...any) {
	if !a.quiet {
		fmt.Fprint(a.err, mark.Visible(fmt.Sprintf(format+"\n", args...)))
	}
}

// printJSON writes v as one indented JSON value and a newline.
func (a *app) printJSON(v any) error {
	return a.shown(func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
		return nil
	})
}

// print writes text, with what could steer a terminal escaped where stdout is one.
func (a *app) print(text string) error {
	return a.shown(func(w io.Writer) error { return writeText(w, text) })
}

// draw writes text that may steer the terminal: what it shows of others was escaped before.
func (a *app) draw(text string) error { return writeText(a.out, text) }

func writeText(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// table writes rows as columns, each as wide as it needs.
func (a *app) table(rows [][]string) error {
	return a.shown(func(w io.Writer) error { return writeTable(w, rows) })
}

// shown gives write stdout, through a filter of what could steer a terminal where it is one.
func (a *app) shown(write func(io.Writer) error) error {
	if !isTTY(a.out) {
		return write(a.out)
	}
	v := &mark.VisibleWriter{W: a.out}
	return errors.Join(write(v), v.Close())
}

// guarded is the terminal that talk goes to: what could steer it is escaped, whoever writes. It is given whole characters.
type guarded struct{ file *os.File }

// Write implements io.Writer.
func (g guarded) Write(p []byte) (int, error) {
	if _, err := g.file.WriteString(mark.Visible(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// unguarded is for what steers the terminal itself, or hands it to a child.
func unguarded(w io.Writer) io.Writer {
	if g, ok := w.(guarded); ok {
		return g.file
	}
	return w
}

func writeTable(to io.Writer, rows [][]string) error {
	w := tabwriter.NewWriter(to, 0, 8, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(w, strings.TrimRight(strings.Join(r, "\t"), "\t"))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// terminal reports whether w is a terminal that takes control sequences: only there do colour and progress belong.
func terminal(w io.Writer) bool { return isTTY(w) && os.Getenv("TERM") != "dumb" }

// fileOf is the file that a stream is, also where it is guarded or behind a pager; nil where it is none.
func fileOf(stream any) *os.File {
	switch s := stream.(type) {
	case guarded:
		return s.file
	case *pager:
		return s.screen
	case *os.File:
		return s
	}
	return nil
}

// isTTY reports whether a stream is a terminal of any kind.
func isTTY(stream any) bool {
	f := fileOf(stream)
	if f == nil {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&fs.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// progress returns a function that shows how far a long command is, on a terminal and at most ten times a second, and
// one that wipes what it showed.
func (a *app) progress(what string) (show func(done, total int64), wipe func()) {
	if a.quiet || a.json || !terminal(a.err) {
		return func(int64, int64) {}, func() {}
	}
	var last time.Time
	show = func(done, total int64) {
		if now := time.Now(); now.Sub(last) >= 100*time.Millisecond && terminal(a.err) { // no pager has it now
			last = now
			percent := int(100 * done / max(total, 1))
			bar := strings.Repeat("#", min(max(percent, 0), 100)/5)
			fmt.Fprintf(unguarded(a.err), "\r%s [%-20s] %d%%\x1b[K", what, bar, percent)
		}
	}
	return show, func() {
		if !last.IsZero() && terminal(a.err) {
			fmt.Fprint(unguarded(a.err), "\r\x1b[K")
		}
	}
}
