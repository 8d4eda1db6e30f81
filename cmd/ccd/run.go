package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/daemon"
	"ccd/packaging"
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
what is written where. Then it follows every transcript until SIGINT (exit 130) or SIGTERM (exit 0); a
second signal ends it at once. Nothing is lost by ending it in any way. Only one runs at a time.

Transcripts are only ever read. What is written: the archive and a few small files in ccd's own state
directory, and one companion (*.ccd.md) beside each transcript whose trigger has fired.`,
		examples: []example{
			{"ccd run", "watch until it is interrupted"},
			{"ccd run --once", "bring everything up to date and exit; exit 1 if any session failed"},
			{"ccd run --dry-run", "say what there is and what would be written; write nothing"},
		},
		json: `with --dry-run, one object: roots [{agent, path, present, sessions, bytes}], sessions, bytes, new_bytes,
archive_bytes (about), companions (where), archive, errors.
With --once, one object: files, sessions, bytes, companions, failed [{path, error, time}], took_ns`,
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
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(memoryLimit)
	d, l, err := a.daemonFor(ctx, f.dryRun)
	if err != nil {
		return err
	}
	if err := a.sayPlan(ctx, d, l, f); err != nil || f.dryRun {
		return err
	}
	if f.once {
		return told(a.runOnce(ctx, d))
	}
	err = packaging.Run(ctx, d.Run)
	if errors.Is(err, context.Canceled) && !errors.Is(context.Cause(ctx), errInterrupted) {
		return errStopped
	}
	return told(err)
}

// told adds where to look when another daemon has the state directory.
func told(err error) error {
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
	out := planOutput{plan, l.archivePath}
	if a.json {
		return a.printJSON(out)
	}
	return a.print(out.text())
}

type planOutput struct {
	daemon.Plan
	ArchivePath string `json:"archive"`
}

func (p planOutput) text() string {
	var b strings.Builder
	for _, r := range p.Roots {
		what := fmt.Sprintf("%d files, %s", r.Sessions, humanize.IBytes(uint64(r.Bytes)))
		if !r.Present {
			what = "not there yet"
		}
		fmt.Fprintf(&b, "watching   %s (%s): %s\n", r.Path, r.Agent, what)
	}
	fmt.Fprintf(&b, "archive    %s: needs about %s for %s that are new to it\n",
		p.ArchivePath, humanize.IBytes(uint64(p.Archive)), humanize.IBytes(uint64(max(0, p.New))))
	fmt.Fprintf(&b, "companions %s (*.ccd.md); transcripts are only ever read\n", p.Companion)
	for _, e := range p.Errors {
		fmt.Fprintf(&b, "problem    %s\n", e)
	}
	if p.Sessions == 0 {
		b.WriteString("There is nothing yet: no agent has left a transcript there. `ccd demo` shows it all in 20 seconds.\n")
	}
	return b.String()
}

func (a *app) runOnce(ctx context.Context, d *daemon.Daemon) error {
	show, wipe := a.progress("bringing up to date:")
	report, err := d.Once(ctx, func(p daemon.Progress) { show(p.Bytes, p.AllBytes) })
	wipe()
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(report)
	} else {
		for _, f := range report.Failed {
			fmt.Fprintf(a.err, "failed: %s\n", strings.TrimPrefix(f.Path+": "+f.Error, ": "))
		}
		a.say("up to date: %d sessions of %d files, %s, %d companions, %d failed, in %s", report.Sessions, report.Files,
			humanize.IBytes(uint64(report.Bytes)), report.Companions, len(report.Failed), report.Took.Round(10*time.Millisecond))
	}
	if err == nil && len(report.Failed) > 0 {
		return errSaid
	}
	return err
}
