package setup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"syscall"

	"ccd/archive"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/packaging"
	"ccd/watcher"
)

// server is the process of `ccd run`. It runs one daemon at a time, under one run.lock.
type server struct {
	*app
	held         *daemon.RunLock
	pulse        *packaging.Pulse
	notifyFailed bool            // a failed notification was logged
	absent       map[string]bool // roots that did not exist when the process started
	library      *reader.Library
	log          *slog.Logger
}

// serve runs the daemon until ctx ends.
func (a *app) serve(ctx context.Context) error {
	s := &server{app: a, pulse: packaging.NewPulse()}
	err := s.run(ctx)
	if errors.Is(err, cli.ErrInterrupted) && a.Terminal(a.Err) {
		if a.Say("\nStopped. The next start archives what is written until then."); a.typed() == goRun {
			return nil // `go run` would report the status as a failure
		}
	}
	if errors.Is(err, context.Canceled) && !errors.Is(context.Cause(ctx), cli.ErrInterrupted) {
		return cli.ErrStopped
	}
	return withStatusHint(err)
}

func (s *server) run(ctx context.Context) (err error) {
	if s.library, err = s.Locate(false); err != nil {
		return err
	}
	if s.log, err = s.openLog(); err != nil {
		return err
	}
	if s.held, err = daemon.LockRun(s.library.StateDir); err != nil {
		return err
	}
	defer s.held.Release()
	s.absent = absentRoots(s.library.Roots)
	d, err := s.daemon(ctx, s.Getenv("NOTIFY_SOCKET") != "") // a service waits, because it would only be restarted; a person gets the error
	if err != nil {
		return err
	}
	switch {
	case !s.Terminal(s.Err): // a redirected one says once that it works
		d.CaughtUp = func(r daemon.Report) { s.Say("caught up: %s", onceLine(r)) }
	case !s.Quiet:
		show, wipe := s.ByteProgress("reading transcripts:")
		d.Progress = show
		d.Published, d.CaughtUp = nil, func(r daemon.Report) { // from then on, each companion is an event
			wipe()
			d.Published = s.companionPrinter()
			s.Say("%s. See them in another terminal: %s ls", onceLine(r), s.typed())
			s.sayOwn(ctx)
			s.Say("Watching until Ctrl-C.")
		}
	}
	if err := s.sayPlan(ctx, d, s.library, runFlags{}); err != nil {
		return err
	}
	return packaging.Run(ctx, func(ctx context.Context) error { return s.runAll(ctx, d) })
}

// daemon makes a daemon. With wait, it waits for the archive's lock.
func (s *server) daemon(ctx context.Context, wait bool) (*daemon.Daemon, error) {
	beat := func() { s.tell(s.pulse.Beat()) }
	if wait {
		ctx = archive.WaitForLock(ctx, func(*archive.LockedError) { beat() })
	}
	o := s.DaemonOptions(s.library, s.log)
	o.Lock = s.held
	o.Published = s.companionPrinter()
	o.Ready = func() { s.tell(s.pulse.Ready()) }
	o.Heartbeat = beat
	o.HeartbeatEvery = s.pulse.Every()
	o.Scanned = func(h watcher.Health) error {
		if s.library.Archive.FileReplaced() {
			return errArchiveReplaced
		}
		return s.checkRoots(h)
	}
	return daemon.New(ctx, o)
}

// tell logs the first failed notification of the service manager.
func (s *server) tell(err error) {
	if err != nil && !s.notifyFailed {
		s.log.Warn("service manager not notified", "err", err)
		s.notifyFailed = true
	}
}

// openLog returns the log of the configuration.
func (s *server) openLog() (*slog.Logger, error) {
	to := s.Err
	if file := s.library.Config.Log.File; file != "" {
		to = openLogFile(file, s.Err)
	}
	return s.LogTo(to, s.library.Config)
}

// runAll runs d until ctx ends or it fails. If the archive was replaced, a new daemon reads everything from disk.
func (s *server) runAll(ctx context.Context, d *daemon.Daemon) error {
	for {
		err := d.Run(ctx)
		if ctx.Err() != nil || !errors.Is(err, errArchiveReplaced) {
			if errors.Is(context.Cause(ctx), cli.ErrInterrupted) {
				return cli.ErrInterrupted
			}
			return err
		}
		level := slog.LevelInfo // ccd archive forget replaces it, for one
		if !disk.Exists(s.library.ArchivePath) {
			level = slog.LevelError
		}
		s.log.Log(ctx, level, "the archive was removed or replaced: reading everything again", "archive", s.library.ArchivePath)
		d = nil // so that its sessions can be freed before the next daemon loads them
		if d, err = s.daemon(ctx, true); err != nil {
			return err
		}
	}
}

func absentRoots(roots []watcher.Root) map[string]bool {
	absent := map[string]bool{}
	for _, r := range roots {
		absent[r.Path] = !disk.Exists(r.Path)
	}
	return absent
}

// checkRoots fails if a root was created after the service's sandbox: in that sandbox it stays read-only, so ccd must
// restart. It ignores roots that existed at the start, so that ccd does not restart again if that did not help.
func (s *server) checkRoots(h watcher.Health) error {
	if s.Getenv("NOTIFY_SOCKET") == "" || s.library.Config.Companion.Dir != "" {
		return nil
	}
	for _, r := range h.Roots {
		if r.Present && s.absent[r.Path] && errors.Is(disk.Writable(r.Path), syscall.EROFS) {
			return fmt.Errorf("watch %s: it appeared after the start, and the service's sandbox cannot write there; ccd exits so that the service manager restarts it", r.Path)
		}
	}
	return nil
}

// errArchiveReplaced says that the archive's file was removed, or is not the one that the daemon opened: what that knows as archived is lost.
var errArchiveReplaced = errors.New("the archive was moved")
