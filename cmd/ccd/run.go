package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/daemon"
	"ccd/internal/summarizer"
)

// errStopped ends a daemon that was told to stop in an orderly way.
var errStopped = errors.New("stopped")

// The daemon's heap stays small: it collects at half of what lives instead of at the double, and harder near the limit.
const (
	gcPercent   = 50
	memoryLimit = 56 << 20 // bytes; what the file mapping of the archive takes does not count
)

type runFlags struct{ once, dryRun bool }

func (a *app) runCommand() *cobra.Command {
	p := page{
		use: "run", group: everyday, short: "watch, archive and compact: the daemon, in the foreground",
		forms: []string{"ccd run [--once] [--dry-run]"},
		long: `It says first what it watches, how many sessions and bytes there are, what the archive will need and
what is written where. Then it follows every transcript until SIGINT (exit 130) or SIGTERM (exit 0),
which end it within 5 seconds; a second one ends it at once. Nothing is lost by ending it in any way.
On SIGHUP it reads its configuration again and goes on with it; one that is in error changes nothing,
and the log and ` + "`ccd status`" + ` say what is wrong with it. Only one runs at a time.

Under systemd it says when it watches and that its work gets on (Type=notify, WatchdogSec=), and the
lines that it logs begin with a priority where stderr is the journal.

Transcripts are only ever read. What is written: the archive and a few small files in ccd's own state
directory, and one companion (*.ccd.md) beside each transcript whose trigger has fired.`,
		examples: []example{
			{"ccd run", "watch until it is interrupted"},
			{"ccd run --once", "bring everything up to date and exit; exit 1 if any session failed"},
			{"ccd run --dry-run", "say what there is and what would be written; write nothing"},
		},
		json: `with --dry-run, one object: roots [{agent, path, present, files, sessions, bytes}], files, sessions
(conversations among them), bytes, archived_sessions, new_bytes, archive_bytes (about), companions
(where), archive, summarizer (the command that writes summaries, "" for none), errors.
With --once, one object: files (found now), sessions and attachments (in the archive), bytes, companions,
summaries (written by the summarizer's command), lacking (companions that wait for some of them),
failed [{path, error, time}], skipped (what has a transcript's name and is no regular file), took_ns`,
	}
	var f runFlags
	c := p.command(cobra.NoArgs, func(c *cobra.Command, _ []string) error {
		if a.json && !f.once && !f.dryRun {
			return usage(c, errors.New("--json goes with --once or --dry-run"))
		}
		return a.runDaemon(c.Context(), f)
	})
	c.Flags().BoolVar(&f.once, "once", false, "bring everything up to date and exit")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be done and exit")
	return c
}

func (a *app) runDaemon(ctx context.Context, f runFlags) error {
	if a.onBehalf() {
		return hint(errors.New("run daemon: this is the environment of a summarizer's command, and nothing is followed on its behalf"), "unset %s", summarizer.Variable)
	}
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(memoryLimit)
	defer a.endInTime(ctx, !f.once && !f.dryRun)()
	if !f.once && !f.dryRun {
		if a.getenv("NOTIFY_SOCKET") != "" {
			// A panic, and the abort by which the watchdog ends a hang, would exit 2 like a wrong command line, and after
			// that the unit is not restarted. This way they end by the signal.
			debug.SetTraceback("crash")
		}
		return a.serve(ctx)
	}
	d, l, err := a.daemonFor(ctx, f.dryRun)
	if err != nil {
		return err
	}
	if _, running, err := daemon.ReadRun(l.stateDir); err == nil && !running && !f.dryRun { // else Once says so
		if err := a.upgrade(ctx, l, func() {}); err != nil {
			return err
		}
	}
	if err := a.sayPlan(ctx, d, l, f); err != nil || f.dryRun {
		return err
	}
	return withStatusHint(a.runOnce(ctx, d))
}

// grace is how long an end by signal may take. What still waits then, for a file system that does not answer, cannot be
// interrupted; nothing is lost by not waiting for it, since nothing is kept for the end.
const grace = 4 * time.Second

// endInTime ends the process when grace is over since ctx ended, unless the returned function was called before.
func (a *app) endInTime(ctx context.Context, serving bool) (ended func()) {
	done := make(chan struct{})
	context.AfterFunc(ctx, func() {
		select {
		case <-done:
		case <-time.After(grace):
			fmt.Fprintf(a.talk(a.err, priorityWarning), "ccd: still busy %s after the signal, ended all the same: nothing is lost\n", grace)
			if serving && errors.Is(context.Cause(ctx), errTerminated) {
				os.Exit(exitDone)
			}
			os.Exit(exitInterrupted)
		}
	})
	return func() { close(done) }
}

// withStatusHint adds where to look when another daemon has the state directory.
func withStatusHint(err error) error {
	var running *daemon.RunningError
	if errors.As(err, &running) {
		return hint(err, "ccd status")
	}
	return err
}

// sayPlan tells what is watched and what will be written.
func (a *app) sayPlan(ctx context.Context, d *daemon.Daemon, l *library, f runFlags) error {
	if a.json && !f.dryRun || a.quiet && !f.dryRun {
		return nil
	}
	plan, err := d.Plan(ctx)
	if err != nil {
		return err
	}
	if f.once && !f.dryRun {
		plan.Errors = nil // the end of the pass tells them
	}
	out := planOutput{Plan: plan, ArchivePath: l.archivePath}
	if len(l.config.Summarizer.Command) > 0 {
		out.Summaries = summariesLine(l.config)
	}
	if a.json {
		return a.printJSON(out)
	}
	if f.dryRun {
		return a.print(out.text())
	}
	err = a.shown(func(w io.Writer) error {
		_, err := io.WriteString(a.talk(w, priorityInfo), out.text())
		return err
	})
	if err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

type planOutput struct {
	daemon.Plan
	ArchivePath string `json:"archive"`
	Summaries   string `json:"summarizer"`
}

func (p planOutput) text() string {
	var b strings.Builder
	var all []rootOutput
	for _, r := range p.Roots {
		all = append(all, rootOutput{Agent: r.Agent, Path: r.Path, Present: r.Present})
		if !r.Present {
			continue
		}
		fmt.Fprintf(&b, "watching   %s (%s): %s, %s, %s\n", r.Path, r.Agent, count(r.Sessions, "session"), count(r.Files, "file"), humanize.IBytes(uint64(r.Bytes)))
	}
	if absent := notThere(all); absent != "" {
		fmt.Fprintf(&b, "waiting    for %s\n", absent)
	}
	need := "nothing is new to it"
	if p.New > 0 {
		need = fmt.Sprintf("needs about %s for %s that are new to it", humanize.IBytes(uint64(p.Archive)), humanize.IBytes(uint64(p.New)))
	}
	fmt.Fprintf(&b, "archive    %s: %s\n", p.ArchivePath, need)
	fmt.Fprintf(&b, "companions %s (*.ccd.md); transcripts are only ever read\n", p.Companion)
	if p.Summaries != "" {
		fmt.Fprintf(&b, "summaries  are written by a command: %s\n", p.Summaries)
	}
	for _, e := range p.Errors {
		if skipped, ok := strings.CutPrefix(e, "skip "); ok {
			fmt.Fprintf(&b, "skipped    %s\n", skipped)
		} else {
			fmt.Fprintf(&b, "problem    %s\n", e)
		}
	}
	switch {
	case p.Files == 0 && p.Known == 0:
		b.WriteString("There is nothing yet: no agent has left a transcript there. `ccd demo` shows it all in a few seconds.\n")
	case p.Files == 0:
		fmt.Fprintf(&b, "No transcripts are there now; the archive holds %s.\n", count(p.Known, "session"))
	}
	return b.String()
}

func (a *app) runOnce(ctx context.Context, d *daemon.Daemon) error {
	show, wipe := a.progress("bringing up to date:")
	report, err := d.Once(ctx, show)
	wipe()
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(report)
	} else {
		for _, f := range report.Failed {
			fmt.Fprintf(a.err, "failed: %s\n", failureLine(f))
		}
		for _, s := range report.Skipped {
			a.say("skipped: %s", strings.TrimPrefix(s, "skip "))
		}
		a.say("%s", onceLine(report))
	}
	if err == nil && len(report.Failed) > 0 {
		return errSaid
	}
	return err
}

// failureLine tells what failed, and its file where the error does not: that a directory cannot be read has none.
func failureLine(f daemon.Failure) string {
	if strings.Contains(f.Error, f.Path) {
		return f.Error
	}
	return f.Path + ": " + f.Error
}

// onceLine tells what one pass found and left.
func onceLine(r daemon.Report) string {
	line := "up to date: "
	if len(r.Failed) > 0 {
		line = "not everything is up to date: "
	}
	line += fmt.Sprintf("%s, %s, %s", count(r.Sessions, "session"), count(r.Files, "file"), humanize.IBytes(uint64(r.Bytes)))
	if r.Attachments > 0 {
		line += ", " + count(r.Attachments, "attachment")
	}
	if r.Summaries > 0 {
		line += fmt.Sprintf(", summaries written: %d", r.Summaries)
	}
	if r.Lacking > 0 {
		line += ", " + count(r.Lacking, "companion") + " without all of the summarizer's"
	}
	return line + fmt.Sprintf(", %s, %d failed, in %s", count(r.Companions, "companion"), len(r.Failed), r.Took.Round(10*time.Millisecond))
}
