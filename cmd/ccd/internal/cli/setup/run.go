package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/table"
	"ccd/daemon"
	"ccd/internal/agent/registry"
	"ccd/internal/summarizer"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// The daemon collects garbage early, to keep its heap small.
const (
	gcPercent   = 100
	memoryLimit = 72 << 20 // bytes, without the mapped archive
)

type runFlags struct{ once, dryRun bool }

func (a *app) runCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "run", GroupID: cli.Setup, Short: "run the daemon in the foreground: watch, archive, compact",
		Long: `Prints what it watches and what it will write, then follows every transcript
until SIGINT (exit 130) or SIGTERM (exit 0). It writes the archive, a few
small files in its state directory, and a companion (*.ccd.md) beside the
transcript of each session that grows long or is compacted. It never writes
transcripts. You can stop it at any time without losing data.

With --json: with --dry-run, one object: roots [{agent, path, present, files,
sessions, bytes}], files, sessions (without attachments), bytes,
archived_sessions, new_bytes, archive_bytes (estimated), companions (where),
archive, summarizer (the command that writes summaries, "" for none), errors.
With --once, one object: files (found now), sessions and attachments (in the
archive), bytes, companions, deferred (older sessions, which get theirs when
they grow or are asked for), summaries (written by the summarizer's command),
lacking (companions that wait for summaries), failed [{path, error, time}],
skipped (paths named like a transcript that are not regular files), took_ns`,
		Example: `  ccd run             watch until interrupted
  ccd run --once      archive everything and exit; exits 1 if a session failed
  ccd run --dry-run   show what would be written; write nothing`,
	}
	var f runFlags
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error {
		if a.JSON && !f.once && !f.dryRun {
			return cli.Usage(c, errors.New("--json needs --once or --dry-run"))
		}
		return a.runDaemon(c.Context(), f)
	}
	c.Flags().BoolVar(&f.once, "once", false, "archive everything, update companions, and exit")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would be done and exit")
	return c
}

func (a *app) runDaemon(ctx context.Context, f runFlags) error {
	if a.OnBehalf() {
		return words.Hint(errors.New("run daemon: ccd does not run inside a summarizer's command"), "unset %s", summarizer.Variable)
	}
	if a.Process {
		debug.SetGCPercent(gcPercent)
		debug.SetMemoryLimit(memoryLimit)
	}
	defer a.endInTime(ctx, !f.once && !f.dryRun)()
	if !f.once && !f.dryRun {
		if a.Getenv("NOTIFY_SOCKET") != "" {
			// After a panic, Go exits 2 like a usage error, for which the unit is not restarted. With "crash", a panic
			// and the watchdog's abort end the process by a signal.
			debug.SetTraceback("crash")
		}
		return a.serve(ctx)
	}
	d, l, err := a.DaemonFor(ctx, f.dryRun)
	if err != nil {
		return err
	}
	if !f.dryRun {
		if d.Lock, err = daemon.LockRun(l.StateDir); err != nil {
			return withStatusHint(err)
		}
		defer d.Lock.Release()
	}
	if err := a.sayPlan(ctx, d, l, f); err != nil || f.dryRun {
		return err
	}
	return withStatusHint(a.runOnce(ctx, d))
}

// companionPrinter returns a function that prints a line for each written companion, or nil if stderr is no terminal.
func (a *app) companionPrinter() func(transcript.Session, daemon.State) {
	if a.Quiet || !cli.IsTTY(a.Err) {
		return nil
	}
	return func(of transcript.Session, kept daemon.State) {
		s := status.Of(&reader.Entry{Session: archive.Session{Session: of}, Kept: kept})
		did, next := "companion updated", "ccd show"
		if s.Trigger == "boundary" {
			did, next = "compacted by the agent; what it dropped", "ccd diff"
		}
		a.Say("%s  %q, %s: %s: %s %s", time.Now().Format("15:04"), table.Cut(s.Called(), 60), s.Directory(), did, next, words.Argument(of.ID))
	}
}

const goRun = "go run ./cmd/ccd"

// typed returns what a person types to run this program: "ccd" if that finds it.
func (a *app) typed() string {
	exe, err := os.Executable()
	if err != nil || disk.FromGoRun(exe) {
		return goRun
	}
	if found, err := exec.LookPath("ccd"); err == nil && disk.Real(found) == disk.Real(exe) {
		return "ccd"
	}
	return words.Shell(exe)
}

// grace limits how long ccd waits for its work after a signal. Work that hangs in a dead file system cannot be
// interrupted. Exiting is safe, because nothing is flushed at shutdown.
const grace = 4 * time.Second

// endInTime exits the process when grace has passed since ctx ended, unless the returned function was called.
func (a *app) endInTime(ctx context.Context, serving bool) (ended func()) {
	done := make(chan struct{})
	context.AfterFunc(ctx, func() {
		select {
		case <-done:
		case <-time.After(grace):
			fmt.Fprintf(a.Err, "ccd: not finished %s after the signal; exiting anyway, without losing data\n", grace)
			if serving && errors.Is(context.Cause(ctx), cli.ErrTerminated) {
				os.Exit(words.ExitDone)
			}
			os.Exit(words.ExitInterrupted)
		}
	})
	return func() { close(done) }
}

// withStatusHint adds a hint if another daemon has the state directory.
func withStatusHint(err error) error {
	var running *daemon.RunningError
	if errors.As(err, &running) {
		return words.Hint(err, "ccd status")
	}
	return err
}

// sayPlan prints what will be done, in full with --dry-run.
func (a *app) sayPlan(ctx context.Context, d *daemon.Daemon, l *reader.Library, f runFlags) error {
	if (a.JSON || a.Quiet) && !f.dryRun {
		return nil
	}
	plan, err := d.Plan(ctx)
	if err != nil {
		return err
	}
	if f.once && !f.dryRun {
		plan.Errors = nil // reported at the end of the pass
	}
	out := planOutput{Plan: plan, ArchivePath: l.ArchivePath, agents: l.Agents, typed: a.typed()}
	if s := l.Config.Summarizer; len(s.Command) > 0 {
		out.Summaries = fmt.Sprintf("%s, at most %s for each", strings.Join(s.Command, " "), s.Timeout)
	}
	switch {
	case a.JSON:
		return a.PrintJSON(out)
	case f.dryRun:
		return a.Print(out.found() + out.brief())
	}
	return a.PrintWrapped(out.brief())
}

type planOutput struct {
	daemon.Plan
	ArchivePath string `json:"archive"`
	Summaries   string `json:"summarizer"`

	agents registry.Table
	typed  string
}

// found says what is in each watched directory.
func (p planOutput) found() (text string) {
	for _, r := range p.Roots {
		if r.Present {
			text += fmt.Sprintf("%s (%s): %s, %s, %s\n", r.Path, r.Agent, words.Count(r.Sessions, "session"), words.Count(r.Files, "file"), humanize.IBytes(uint64(r.Bytes)))
		}
	}
	return text
}

// brief says what ccd does here, in three or four lines, and what is wrong.
func (p planOutput) brief() string {
	var found []string
	for _, r := range p.Roots {
		if title := p.agents.Title(r.Agent); r.Sessions > 0 && !slices.Contains(found, title) {
			found = append(found, title)
		}
	}
	line := "Your agents have no session yet."
	if len(found) > 0 {
		line = fmt.Sprintf("Archiving the sessions of %s: %s, %s.", strings.Join(found, ", "), words.Count(p.Files, "file"), humanize.IBytes(uint64(p.Bytes)))
	}
	where := p.Companion
	if filepath.IsAbs(where) {
		where = "in " + where
	}
	line += fmt.Sprintf("\nTranscripts are only read. A long session gets a companion (*.ccd.md), %s.\nArchive: %s, %s\n", where, p.ArchivePath, p.need())
	if p.Summaries != "" {
		line += "Summaries by a command: " + p.Summaries + "\n"
	}
	return line + p.problems()
}

// need says how much the archive will grow.
func (p planOutput) need() string {
	switch {
	case p.New == 0 && p.Known == 0:
		return "nothing to archive yet"
	case p.New == 0:
		return "up to date"
	}
	return fmt.Sprintf("will grow by about %s (%s to archive)", humanize.IBytes(uint64(p.Archive)), humanize.IBytes(uint64(p.New)))
}

func (p planOutput) problems() string {
	var b strings.Builder
	for _, e := range p.Errors {
		if skipped, ok := strings.CutPrefix(e, "skip "); ok {
			fmt.Fprintf(&b, "skipped    %s\n", skipped)
		} else {
			fmt.Fprintf(&b, "problem    %s\n", e)
		}
	}
	switch {
	case p.Files == 0 && p.Known == 0:
		fmt.Fprintf(&b, "No transcripts found. Try `%s demo`.\n", p.typed)
	case p.Files == 0:
		fmt.Fprintf(&b, "No transcripts found; the archive has %s.\n", words.Count(p.Known, "session"))
	}
	return b.String()
}

// pass updates everything once and shows progress on a terminal.
func (a *app) pass(ctx context.Context, d *daemon.Daemon) (daemon.Report, error) {
	show, wipe := a.ByteProgress("reading transcripts:")
	defer wipe()
	return d.Once(ctx, show)
}

func (a *app) runOnce(ctx context.Context, d *daemon.Daemon) error {
	report, err := a.pass(ctx, d)
	if err != nil {
		return err
	}
	if a.JSON {
		err = a.PrintJSON(report)
	} else {
		a.sayFailed(report.Failed)
		for _, s := range report.Skipped {
			a.Say("skipped: %s", strings.TrimPrefix(s, "skip "))
		}
		a.Say("%s", onceLine(report))
		a.sayOwn(ctx)
	}
	if err == nil && len(report.Failed) > 0 {
		return cli.ErrSaid
	}
	return err
}

// toArchive looks for what is not archived yet.
func (a *app) toArchive(ctx context.Context) (daemon.Plan, error) {
	d, _, err := a.DaemonFor(ctx, true)
	if err != nil {
		return daemon.Plan{}, err
	}
	return d.Plan(ctx)
}

// archiveAll does what `ccd run --once` does, for setup.
func (a *app) archiveAll(ctx context.Context) (did string, failed int, err error) {
	d, l, err := a.DaemonFor(ctx, false)
	if err == nil {
		d.Lock, err = daemon.LockRun(l.StateDir)
	}
	if err != nil {
		return "", 0, err
	}
	defer d.Lock.Release()
	report, err := a.pass(ctx, d)
	if err != nil {
		return "", 0, err
	}
	a.sayFailed(report.Failed)
	return onceLine(report), len(report.Failed), nil
}

// sayFailed lists the files that failed. Those that failed for the same reason are one line.
func (a *app) sayFailed(all []daemon.Failure) {
	for _, line := range status.FailedLines(all, false) {
		fmt.Fprintf(a.Err, "failed: %s\n", line)
	}
}

// onceLine says what there is after a pass: "17 sessions archived, 7 companions".
func onceLine(r daemon.Report) string {
	line := words.Count(r.Sessions, "session") + " archived"
	for _, one := range []struct {
		n    int
		noun string
		then string
	}{
		{r.Attachments, "attachment", ""},
		{r.Companions, "companion", ""},
		{r.Summaries, "text", " summarized"},
		{r.Lacking, "companion", " waiting for summaries"},
		{len(r.Failed), "file", " failed"},
	} {
		if one.n > 0 {
			line += ", " + words.Count(one.n, one.noun) + one.then
		}
	}
	if r.Deferred > 0 {
		line += "; " + status.DeferredLine(r.Deferred)
	}
	return line
}
