package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/packaging"
	"ccd/watcher"
)

// server is the process of `ccd run`. It runs one daemon at a time; a reload replaces the daemon under the same
// run.lock.
type server struct {
	*app
	held         *daemon.RunLock
	pulse        *packaging.Pulse
	notifyFailed bool            // a failed notification was logged
	absent       map[string]bool // roots that did not exist when the process started
	hangup       chan os.Signal
	file         *logFile        // nil if the log goes to stderr
	current      *reader.Library // the configuration in effect
}

// serve runs the daemon until ctx ends.
func (a *app) serve(ctx context.Context) error {
	s := &server{app: a, pulse: packaging.NewPulse(), hangup: make(chan os.Signal, 1)}
	if !signal.Ignored(syscall.SIGHUP) { // SIGHUP is ignored under nohup
		signal.Notify(s.hangup, syscall.SIGHUP)
		defer signal.Stop(s.hangup)
	}
	defer notifyStopping(ctx)()
	err := s.run(ctx)
	if errors.Is(err, context.Canceled) && !errors.Is(context.Cause(ctx), errInterrupted) {
		return errStopped
	}
	return withStatusHint(err)
}

// notifyStopping tells the service manager when ctx ends. The returned function waits for that, so that the process does
// not exit first.
func notifyStopping(ctx context.Context) (wait func()) {
	sent := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(sent)
		_ = packaging.Notify("STOPPING=1") // if the manager is gone, nobody waits for it
	})
	return func() {
		if !stop() {
			<-sent
		}
	}
}

func (s *server) run(ctx context.Context) error {
	l, err := s.locate(false)
	if err != nil {
		return err
	}
	if s.held, err = daemon.LockRun(l.StateDir); err != nil {
		return err
	}
	defer s.held.Release()
	s.absent = absentRoots(l.Roots)
	d, err := s.daemon(ctx, l, nil)
	if err != nil {
		return err
	}
	if s.terminal(s.err) && !s.quiet {
		d.Published, d.CaughtUp = nil, func(r daemon.Report) { // from then on, each companion is an event
			d.Published = s.companionPrinter()
			s.say("%s. See them in another terminal: %s ls\nWatching until Ctrl-C.", onceLine(r), s.typed())
		}
	}
	if err := s.sayPlan(ctx, d, l, runFlags{}); err != nil {
		return err
	}
	return packaging.Run(ctx, func(ctx context.Context) error { return s.runAll(ctx, d) })
}

// daemon makes a daemon of l and, if that succeeds, makes l the configuration in effect.
func (s *server) daemon(ctx context.Context, l *reader.Library, r *daemon.Reload) (*daemon.Daemon, error) {
	log, err := s.openLog(l)
	if err != nil {
		return nil, err
	}
	beat := func() { s.tell(log, s.pulse.Beat()) }
	if s.current != nil || s.Getenv("NOTIFY_SOCKET") != "" { // a service waits, because it would only be restarted; a person gets the error
		ctx = archive.WaitForLock(ctx, func(*archive.LockedError) { beat() })
	}
	o := s.daemonOptions(l, log)
	o.Lock, o.Reload = s.held, r
	o.Published = s.companionPrinter()
	o.Ready = func() { s.tell(log, s.pulse.Ready()) }
	o.Heartbeat = beat
	o.HeartbeatEvery = s.pulse.Every()
	o.Scanned = func(h watcher.Health) error { return errors.Join(s.checkRoots(l, h), s.checkArchive(l)) }
	d, err := daemon.New(ctx, o)
	if err == nil {
		s.current = l
	}
	return d, err
}

// tell logs the first failed notification of the service manager.
func (s *server) tell(log *slog.Logger, err error) {
	if err != nil && !s.notifyFailed {
		log.Warn("service manager not notified", "err", err)
		s.notifyFailed = true
	}
}

// openLog returns the log of a configuration. A log file that is already open stays open.
func (s *server) openLog(l *reader.Library) (*slog.Logger, error) {
	if s.file != nil && s.file.path != l.Config.Log.File {
		s.file.close()
		s.file = nil
	}
	if l.Config.Log.File == "" {
		return s.logger(l.Config)
	}
	level, err := s.logLevel(l.Config)
	if err != nil {
		return nil, err
	}
	if s.file == nil {
		s.file = openLogFile(l.Config.Log.File, s.err)
	}
	return slog.New(logHandler(s.file, &slog.HandlerOptions{Level: level}, l.Config.Log.Format)), nil
}

// runAll runs daemons until ctx ends or one fails. A daemon passes no folds and no open files to the next, which reads
// everything from disk.
func (s *server) runAll(ctx context.Context, d *daemon.Daemon) error {
	for {
		next, err := s.runOne(ctx, d)
		log, last := d.Log, d.Reload
		d = nil // so that its sessions can be freed before the next daemon loads them
		switch {
		case errors.Is(err, errArchiveReplaced):
			log.Error("the archive was removed or replaced: reading everything again", "archive", s.current.ArchivePath)
			d, err = s.daemon(ctx, s.current, last)
		case next != nil:
			d, err = s.replace(ctx, log, next)
		}
		if d == nil {
			return err
		}
	}
}

// runOne runs d until ctx ends, d fails or a reload brings a valid configuration.
func (s *server) runOne(ctx context.Context, d *daemon.Daemon) (next *reader.Library, err error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	taken := make(chan *reader.Library, 1)
	go s.listen(ctx, d, func(l *reader.Library, cause error) {
		if l != nil {
			taken <- l
		}
		end(cause)
	})
	err = d.Run(ctx)
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errReload):
		return <-taken, nil
	case errors.Is(cause, errInterrupted):
		return nil, cause
	}
	return nil, err
}

// errReload ends a daemon that another replaces.
var errReload = errors.New("configuration reloaded")

// listen waits for SIGHUP. It runs beside the daemon, which may be busy for a long time. It logs a bad configuration
// and passes a good one to end. If the terminal is gone, it ends the process.
func (s *server) listen(ctx context.Context, d *daemon.Daemon, end func(*reader.Library, error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.hangup:
		}
		if s.terminalGone() {
			end(nil, errInterrupted)
			return
		}
		err := packaging.Notify("RELOADING=1")
		l, wrong := s.check(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case wrong == nil:
			end(l, errReload)
			return
		}
		d.Log.Error("configuration rejected; the previous one stays in use", "err", wrong)
		d.ReloadRefused(daemon.Reload{Time: time.Now().UTC(), Error: wrong.Error()})
		if err = errors.Join(err, packaging.Notify("READY=1")); err != nil {
			d.Log.Warn("service manager not notified", "err", err)
		}
	}
}

func (s *server) terminalGone() bool {
	for _, stream := range []any{s.in, s.out, s.err} {
		if f, ok := stream.(*os.File); ok && hungUp(f) {
			return true
		}
	}
	return false
}

// check reads the configuration as a start does and tests whether its archive can be read. It changes nothing.
func (s *server) check(ctx context.Context) (*reader.Library, error) {
	l, err := s.locate(false)
	if err != nil {
		return nil, err
	}
	if _, err := s.logLevel(l.Config); err != nil {
		return nil, err
	}
	_, err = l.Archive.ID(ctx)
	return l, err
}

// replace makes the daemon of the new configuration. If that fails, it makes one of the current configuration.
func (s *server) replace(ctx context.Context, log *slog.Logger, next *reader.Library) (*daemon.Daemon, error) {
	r := &daemon.Reload{Time: time.Now().UTC()}
	d, err := s.daemon(ctx, next, r)
	if err == nil {
		d.Log.Info("configuration reloaded", "file", next.Config.Path())
		if r.Note = s.drift(next); r.Note != "" {
			d.Log.Warn(r.Note)
		}
		return d, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	log.Error("configuration rejected; the previous one stays in use", "err", err)
	r.Error = err.Error()
	return s.daemon(ctx, s.current, r)
}

// drift names the settings in which l differs from the installed service, or returns "". The service's sandbox lists
// the directories that ccd may write to, and a running process cannot leave it.
func (s *server) drift(l *reader.Library) string {
	if s.Getenv("NOTIFY_SOCKET") == "" {
		return ""
	}
	service, err := l.Place.Installed(s.talkOut())
	if err != nil || service.Account() == "" {
		return "" // the manager's unit is not from `ccd service install`
	}
	changed, err := service.Drift()
	if err != nil {
		return err.Error()
	}
	if len(changed) == 0 {
		return ""
	}
	return "changed directories need `ccd service install` again: " + strings.Join(changed, ", ")
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
func (s *server) checkRoots(l *reader.Library, h watcher.Health) error {
	if s.Getenv("NOTIFY_SOCKET") == "" || l.Config.Companion.Dir != "" {
		return nil
	}
	for _, r := range h.Roots {
		if r.Present && s.absent[r.Path] && errors.Is(disk.Writable(r.Path), syscall.EROFS) {
			return &lateRootError{r.Path}
		}
	}
	return nil
}

// errArchiveReplaced says that the archive's file is not the one that the daemon opened.
var errArchiveReplaced = errors.New("the archive was moved")

// checkArchive fails with errArchiveReplaced if the archive's file was removed or replaced: what the daemon knows as archived is then
// lost.
func (s *server) checkArchive(l *reader.Library) error {
	if l.Archive.FileReplaced() {
		return errArchiveReplaced
	}
	return nil
}

// lateRootError reports a root that the service's sandbox does not include.
type lateRootError struct{ root string }

// Error includes the root and what ccd does now.
func (e *lateRootError) Error() string {
	return "watch " + e.root + ": it appeared after the start, and the service's sandbox cannot write there; ccd exits so that the service manager restarts it"
}
