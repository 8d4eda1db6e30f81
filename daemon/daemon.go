// Package daemon owns the loop and the order of its steps. Every transcript under the watched roots is offered, again
// and again, to one idempotent function, sync, which reads what is new, appends it to the archive, folds it into the
// compacted form and, when a trigger has fired, replaces the companion.
//
// Four invariants carry everything; each has a test of its name.
//
//  1. Originals are never written. Transcripts are opened read-only, always.
//  2. Archive before companion. No companion ever holds an ID that the archive cannot resolve: store, fsync, then
//     publish.
//  3. A companion is a pure function of the transcript's bytes of this generation, its path below its root, and the
//     options. Nothing is read from other files, other sessions, the clock or the archive's history.
//  4. Restore is exact. What comes out hashes to what went in, or the command fails and says so.
//
// Archived means all bytes: once a transcript has been at rest for Watch.RefreshIdle, the archive has every byte of it,
// whatever the last line looks like; Once takes all bytes at once. The length of each file is compared at each scan, the
// fingerprints of its head and of the bytes before the cursor at each append, and its whole content once in 7 days
// (recheck.go). A source that differs from what is stored becomes a new generation.
//
// It is level-triggered: file events only shorten the wait, the periodic scan is the truth. Crash recovery, lost
// events, retry, a changed rule and the first start are one mechanism, the next scan, and nothing is flushed at
// shutdown. The package knows nothing of flags, TOML or service managers.
package daemon

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"ccd/archive"
	"ccd/compactor"
	"ccd/compactor/sidecar"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// maxFolds bounds all folds kept in memory with their spans, in bytes; beyond it the longest unused are folded again from
// the archive when they are needed.
const maxFolds = 32 << 20

// slice is how much of one session is taken before the others get a turn, in bytes.
const slice = 32 << 20

// maxUnsaved is how many states are stored together at the most, while offers wait.
const maxUnsaved = 64

// Options is what a daemon needs to know.
type Options struct {
	Archive        *archive.Archive
	StateDir       string            // ccd's own directory; made with mode 0700 where missing
	Watch          watcher.Options   // roots and timing; Match and Known are the daemon's
	Compaction     compactor.Options // for every session but those with options of their own
	CompanionDir   string            // "": companions stand beside their transcripts
	KeepAfterPurge time.Duration     // how long a companion is kept whose transcript is gone; 0: for ever
	Log            *slog.Logger      // nil: discarded. Never holds content of transcripts
	Version        string            // of the program, for status
	Config         string            // path of the file that says all this, "" for none, for status
	Held           *Held             // nil: Run and Once take run.lock themselves
	Reload         *Reload           // what brought these options, for status; nil: a start

	// Ready is called once Run watches, Scanned after each scan: an error of it ends Run with that error. Alive is
	// called by the goroutine of New and Run alone, whenever work got on (a file, a segment, a text, a directory), and
	// every AliveEvery at the latest while there is nothing to do; 0: not then. Each may be nil.
	Ready      func()
	Scanned    func(watcher.Health) error
	Alive      func()
	AliveEvery time.Duration

	// Summarize writes a summary of what it is given; nil: none is asked for, the compactor's own stand. It may take
	// its time, and runs beside the daemon, never twice at once. It fails with ErrUnavailable where no text is to
	// blame. Its errors hold nothing of the text.
	Summarize func(ctx context.Context, input string) (output []byte, err error)
}

// Daemon brings archive and companions up to date with the transcripts. It is not safe for concurrent use: one
// goroutine calls its methods. Several processes may each have one; the archive decides between them.
type Daemon struct {
	Options
	sessions    map[transcript.Key]*session
	owners      map[string]transcript.Key // by path: which session a file belongs to
	folds       folds
	unsaved     map[*session]bool // whose state is to be stored
	health      health
	scratch     []byte          // a buffer for reading transcripts
	tidied      map[string]bool // directories without leftovers of a crash
	earlierTold bool            // it was told that companions of earlier places stay
	vacated     bool            // what a daemon before could not remove was tried again
	common      string          // hash of Options.Compaction
	jobs        *jobs           // nil but in Run, and where summaries are written
}

// New returns a daemon that knows what the archive knows.
func New(ctx context.Context, o Options) (*Daemon, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &Daemon{Options: o, common: o.Compaction.Hash(), sessions: map[transcript.Key]*session{}, owners: map[string]transcript.Key{}, unsaved: map[*session]bool{}, tidied: map[string]bool{}}
	stored, err := o.Archive.Sessions(ctx)
	var damage *archive.DamageError
	if errors.As(err, &damage) {
		d.Log.Error("sessions damaged in the archive, the others go on; see ccd verify", "err", err)
	} else if err != nil {
		return nil, err
	}
	for _, a := range stored {
		d.alive()
		s := d.stored(a)
		d.sessions[s.Key] = s
		d.owners[s.Path] = s.Key
	}
	return d, nil
}

// Run watches until ctx ends, and returns its error. It fails with *RunningError where another daemon runs. For the
// archive's lock it waits as long as that takes.
func (d *Daemon) Run(ctx context.Context) error {
	release, err := d.begin()
	if err != nil {
		return err
	}
	defer release()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer d.startErrands(archive.Patiently(ctx, func(*archive.LockedError) {}))()
	ctx = archive.Patiently(ctx, d.waits)
	w := watcher.New(d.watch(ctx, end))
	if d.Ready != nil {
		d.Ready()
	}
	for offer := range w.Run(ctx) {
		d.takeSummaries()
		err := d.sync(ctx, offer)
		if errors.Is(err, errMore) || raced(err) {
			w.Again(offer.Path)
			err = nil
		}
		s := d.sessions[d.owners[offer.Path]]
		paused := err == nil && s != nil && s.failures > 0
		if err != nil || paused || s != nil && s.state.Companion != "" {
			w.Retry(offer.Path) // the next scan offers it even unchanged: its companion may be gone, its trouble mended
		}
		stale, failed := d.save(ctx, offer.More)
		for _, s := range stale {
			w.Again(s.Path)
		}
		if ctx.Err() == nil {
			d.note(offer, errors.Join(err, failed), paused)
		}
	}
	var fatal fatalError
	if errors.As(context.Cause(ctx), &fatal) {
		return fatal.error
	}
	return ctx.Err()
}

// fatalError is why Run ends of its own accord.
type fatalError struct{ error }

// errMore says that a session has more new bytes than one turn takes; what was taken is safe and folded.
var errMore = errors.New("more to come")

// sync brings the archive and the companion of one transcript up to date with its file. It is idempotent: run again
// after any failure, it ends in the same state.
func (d *Daemon) sync(ctx context.Context, o watcher.Offer) (err error) {
	s, err := d.session(o)
	if err != nil || s == nil {
		return err
	}
	if s.state.Companion != "" {
		d.tidy(filepath.Dir(s.state.Companion))
	}
	if s.look(); s.upToDate(d, o) {
		return nil
	}
	if s.missing && !s.state.Gone {
		return d.purge(ctx, s)
	}
	defer func() {
		switch {
		case err == nil:
			s.failures = 0
		case !errors.Is(err, errMore):
			d.forget(s, err) // state is a cache: after an error, fold again
		}
	}()
	if err := d.fold(ctx, s); err != nil {
		return err
	}
	if s.missing {
		return d.renew(ctx, s)
	}
	d.folds.use(s, maxFolds)
	taken := 0
	for seg, err := range watcher.Tail(ctx, s.Session, s.cursor, s.tail(d, o)) {
		if err != nil {
			return err
		}
		if !s.held && d.ours(s, seg) {
			d.skip(s)
			return nil
		}
		if err := d.Archive.Append(ctx, s.Session, seg); err != nil { // compare-and-swap on the tip
			return err
		}
		s.appended(seg)
		d.alive()
		if err := d.add(ctx, s, seg); err != nil {
			return err
		}
		if taken += len(seg.Data); taken >= slice && o.More {
			return errMore
		}
	}
	s.update(taken)
	switch {
	case s.held:
		return nil
	case s.due(d, o):
		made, err := d.publish(ctx, s)
		if err == nil {
			d.ask(s, made.Wanted)
		}
		return err
	}
	d.keep(s)
	return nil
}

// alive tells that work got on.
func (d *Daemon) alive() {
	if d.Alive != nil {
		d.Alive()
	}
}

// watch completes the watcher's options: which files are offered is the formats' matter, but never a companion. What
// Options.Scanned does not like is given to end.
func (d *Daemon) watch(ctx context.Context, end context.CancelCauseFunc) watcher.Options {
	o := d.Watch
	o.Log, o.Alive, o.AliveEvery = d.Log, d.Alive, d.AliveEvery
	o.Scanned = func(h watcher.Health) {
		d.scanned(h)
		d.vacateAll(ctx)
		if err := d.expire(ctx, time.Now()); err != nil && ctx.Err() == nil {
			d.Log.Warn("companion not removed", "err", err)
		}
		d.recheck(ctx, time.Now(), 0, func(o watcher.Offer, err error) { d.note(o, err, false) })
		if d.Scanned == nil {
			return
		}
		if err := d.Scanned(h); err != nil {
			end(fatalError{err})
		}
	}
	o.Match = func(r watcher.Root, path string) bool {
		if sidecar.Is(path) {
			return false
		}
		_, ok := registry.Find(r.Agent, r.Path, path)
		return ok
	}
	if d.jobs != nil {
		o.Asked = d.jobs.asked
	}
	for _, s := range d.sessions {
		if !s.state.Gone || d.outdated(s) {
			o.Known = append(o.Known, s.Path)
		}
	}
	return o
}

// atRest is how long a file found by a scan of `run --once` counts as unchanged.
const atRest = 100 * 365 * 24 * time.Hour
