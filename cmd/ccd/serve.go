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

// server is the process of `ccd run`: one daemon after the other, each with the configuration that the last reload
// brought, all under one run.lock.
type server struct {
	*app
	held    *daemon.RunLock
	pulse   *packaging.Pulse
	notTold bool            // the service manager could not be told, and that was said
	absent  map[string]bool // roots that were not there when the process began
	hangup  chan os.Signal
	file    *logFile        // nil: the log goes to stderr
	holds   *reader.Library // the configuration in force
}

// serve runs the daemon until ctx ends.
func (a *app) serve(ctx context.Context) error {
	s := &server{app: a, pulse: packaging.NewPulse(), hangup: make(chan os.Signal, 1)}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signal.Notify(s.hangup, syscall.SIGHUP)
		defer signal.Stop(s.hangup)
	}
	defer tellStopping(ctx)()
	err := s.run(ctx)
	if errors.Is(err, context.Canceled) && !errors.Is(context.Cause(ctx), errInterrupted) {
		return errStopped
	}
	return withStatusHint(err)
}

// tellStopping tells the service manager when ctx ends. The returned function waits until that was sent, so that the
// process does not exit first.
func tellStopping(ctx context.Context) (wait func()) {
	sent := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(sent)
		_ = packaging.Notify("STOPPING=1") // a manager that is gone needs no telling
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
	if err := s.sayPlan(ctx, d, l, runFlags{}); err != nil {
		return err
	}
	if terminal(s.err) { // a daemon with nothing to do is silent for hours
		s.say("watching until Ctrl-C; `ccd status --watch` in another terminal shows progress")
	}
	return packaging.Run(ctx, func(ctx context.Context) error { return s.turns(ctx, d) })
}

// daemon makes a daemon of a configuration, which from then on is the one in force.
func (s *server) daemon(ctx context.Context, l *reader.Library, r *daemon.Reload) (*daemon.Daemon, error) {
	log, err := s.openLog(l)
	if err != nil {
		return nil, err
	}
	beat := func() { s.tell(log, s.pulse.Beat()) }
	if s.holds != nil || s.Getenv("NOTIFY_SOCKET") != "" { // a person who starts it is told; else it would only be started again
		ctx = archive.WaitForLock(ctx, func(*archive.LockedError) { beat() })
	}
	o := s.daemonOptions(l, log)
	o.Lock, o.Reload = s.held, r
	o.Published = s.companionTold()
	o.Ready = func() { s.tell(log, s.pulse.Ready()) }
	o.Heartbeat = beat
	o.HeartbeatEvery = s.pulse.Every()
	o.Scanned = func(h watcher.Health) error { return errors.Join(s.checkRoots(l, h), s.moved(l)) }
	d, err := daemon.New(ctx, o)
	if err == nil {
		s.holds = l
	}
	return d, err
}

// tell notes what came of telling the service manager something; that it cannot be told is said once.
func (s *server) tell(log *slog.Logger, err error) {
	if err != nil && !s.notTold {
		log.Warn("service manager not notified", "err", err)
		s.notTold = true
	}
}

// openLog returns the log of a configuration. A file that is open already stays so.
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
		s.file = openLogFile(l.Config.Log.File, s.talk(s.err, priorityError))
	}
	return slog.New(logHandler(s.file, &slog.HandlerOptions{Level: level}, l.Config.Log.Format)), nil
}

// turns runs one daemon after the other until ctx ends or one of them fails. No file, no lock and no fold is handed
// from one to the next: nothing is kept for the end, so the next one finds all that it needs on disk.
func (s *server) turns(ctx context.Context, d *daemon.Daemon) error {
	for {
		next, err := s.turn(ctx, d)
		log, last := d.Log, d.Reload
		d = nil // its sessions are not to stand in memory twice
		switch {
		case errors.Is(err, errMoved):
			log.Error("the archive was removed or replaced: reading everything again", "archive", s.holds.ArchivePath)
			d, err = s.daemon(ctx, s.holds, last)
		case next != nil:
			d, err = s.change(ctx, log, next)
		}
		if d == nil {
			return err
		}
	}
}

// turn runs d until ctx ends, until d fails, or until a reload brings a configuration that can take over.
func (s *server) turn(ctx context.Context, d *daemon.Daemon) (next *reader.Library, err error) {
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

// errReload ends a daemon whose place another one takes.
var errReload = errors.New("configuration reloaded")

// listen waits for SIGHUP, beside a daemon that may be busy for long. A configuration in error is told, and changes
// nothing; a good one is handed to end. The end of the terminal is the end of what runs in it.
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
		d.Log.Error("configuration refused; the previous one is in use", "err", wrong)
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

// check reads the configuration as a start does and looks whether its archive can be read, and changes nothing.
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

// change makes the daemon of the configuration that takes over. Where that fails after all, the one before holds on.
func (s *server) change(ctx context.Context, log *slog.Logger, next *reader.Library) (*daemon.Daemon, error) {
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
	log.Error("configuration refused; the previous one is in use", "err", err)
	r.Error = err.Error()
	return s.daemon(ctx, s.holds, r)
}

// drift tells where the service that this process is was installed for another configuration: its sandbox names the
// directories that may be written, and a process cannot leave it.
func (s *server) drift(l *reader.Library) string {
	if s.Getenv("NOTIFY_SOCKET") == "" {
		return ""
	}
	service, err := l.Place.Installed(s.talkOut())
	if err != nil || service.Account() == "" {
		return "" // it runs under a manager, but not as ccd install would have it
	}
	changed, err := service.Drift()
	if err != nil {
		return err.Error()
	}
	if len(changed) == 0 {
		return ""
	}
	return "changed roots or companion.dir need `ccd install` again: " + strings.Join(changed, ", ")
}

func absentRoots(roots []watcher.Root) map[string]bool {
	absent := map[string]bool{}
	for _, r := range roots {
		absent[r.Path] = !disk.Exists(r.Path)
	}
	return absent
}

// checkRoots fails where a root has come into being after the sandbox of the service was made: what is not there then is
// read-only in it for good, and only a new process gets a new one. A root that was there at the start is none of this,
// so that a start which does not help is the last.
func (s *server) checkRoots(l *reader.Library, h watcher.Health) error {
	if s.Getenv("NOTIFY_SOCKET") == "" || l.Config.Companion.Dir != "" {
		return nil
	}
	for _, r := range h.Roots {
		if r.Present && s.absent[r.Path] && errors.Is(disk.Writable(r.Path), syscall.EROFS) {
			return &comeError{r.Path}
		}
	}
	return nil
}

// errMoved tells that the archive's file is not the one any more that the daemon knows.
var errMoved = errors.New("the archive was moved")

// moved fails with errMoved where another file, or none, stands where the archive stood: what the daemon remembers to be
// archived is not, then.
func (s *server) moved(l *reader.Library) error {
	if l.Archive.FileReplaced() {
		return errMoved
	}
	return nil
}

// comeError tells of a root that the service's sandbox does not know.
type comeError struct{ root string }

// Error says what is to become of it.
func (e *comeError) Error() string {
	return "watch " + e.root + ": it appeared after the start, and the service's sandbox cannot write there; ccd exits so that the service manager restarts it"
}
