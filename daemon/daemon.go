// Package daemon contains the main loop. For every transcript below the watched roots it calls one idempotent function,
// sync, again and again: it appends what is new to the archive and, if a companion is due, makes it from all records.
// docs/ARCHITECTURE.md has the picture. Four invariants, each with a test of its name:
//
//  1. Originals are never written. Transcripts are opened read-only, always.
//  2. Archive before companion. A companion has only IDs that the archive resolves: store, fsync, then publish.
//  3. A companion is a pure function of the transcript's bytes of this generation and those before it, its path below its
//     root, the options and, with a summarizer, the summaries that the archive keeps.
//  4. Restore is exact. What comes out hashes to what went in, or the command fails and says so.
//
// File events only shorten the wait, the periodic scan finds every change. Nothing is flushed at shutdown.
package daemon

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"math"
	"time"

	"ccd/archive"
	"ccd/compactor"
	"ccd/compactor/sidecar"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// maxSlice is how many bytes of one session are read before other sessions get a turn.
const maxSlice = 32 << 20

// maxUnsaved is how many changed states are collected before they are stored, while more offers wait.
const maxUnsaved = 64

// Options configure a Daemon.
type Options struct {
	Archive        *archive.Archive
	Workers        int               // goroutines that sync a backlog; 0: one for each processor, at most 2
	StateDir       string            // ccd's own directory, created with mode 0700 if missing
	Watch          watcher.Options   // roots and timing; the daemon sets Match and Known
	Agents         registry.Table    // the formats of the watched transcripts
	Compaction     compactor.Options // for every session without options of its own
	CompanionDir   string            // "": each companion is written beside its transcript
	KeepAfterPurge time.Duration     // how long a companion is kept after its transcript is gone; 0: forever
	Log            *slog.Logger      // nil: discard. Log lines contain no transcript content
	Version        string            // of the program, shown by status
	Config         string            // path of the configuration file, "" for none, shown by status
	Lock           *RunLock          // nil: Run and Once take run.lock themselves
	Reload         *Reload           // the reload that set these options, shown by status; nil after a start

	// Ready is called when Run has started to watch, Scanned after each scan. If Scanned returns an error, Run ends
	// with it. Heartbeat is called by the goroutine of New and Run whenever work progressed (a file, a segment, a text,
	// a directory), and at least every HeartbeatEvery while there is nothing to do (0: not while idle). Each may be
	// nil.
	Ready          func()
	Scanned        func(watcher.Health) error
	Heartbeat      func()
	HeartbeatEvery time.Duration

	// Published is called for each companion that was written, with the state that was stored. CaughtUp is called once,
	// when Run has archived all that the first scan found: the report counts what there is. Both may be nil.
	Published func(transcript.Session, State)
	CaughtUp  func(Report)

	// Summarize writes a summary of input. If it is nil, companions contain only the compactor's own summaries. It may
	// be slow: it runs in a goroutine of its own, one call at a time. It returns ErrUnavailable if the command itself
	// cannot run. Its errors contain nothing of the input.
	Summarize func(ctx context.Context, input string) (output []byte, err error)

	// Notify shows a notice when the pressure of a live session rises to NoticeAt. If it is nil, there are no notices. It
	// may be slow: it runs in a goroutine of its own, one call at a time.
	Notify   func(ctx context.Context, n Notice) error
	NoticeAt float64

	// BackupEvery is how old the newest backup in BackupDir may be before Run makes another, in a goroutine of its own;
	// 0: Run makes none. Then it keeps BackupKeep of them.
	BackupEvery time.Duration
	BackupDir   string // must exist, unless it is directly in StateDir
	BackupKeep  int
}

// Daemon brings the archive and the companions up to date with the transcripts. It is not safe for concurrent use.
// Several processes may each have one: the archive detects conflicting writes.
type Daemon struct {
	Options
	sessions map[transcript.Key]*session
	owners   map[string]transcript.Key // by path
	kept     tracked                   // trackers
	unsaved  map[*session]bool         // states to be stored
	waiting  int                       // bytes of segments to be appended with them
	batch    bool                      // save follows a sync

	onMain     func(func(d *Daemon)) // in a worker: calls a function in the goroutine of the daemon d that started it; else nil
	catchUp    *catchUp              // nil if the daemon is not catching up
	lastGrowth time.Time             // when a live session last had new bytes

	locked        func(*archive.LockedError)       // called while the archive's lock is waited for
	failed        func(o watcher.Offer, err error) // reports a session that failed outside its sync
	health        health
	scratch       []byte          // buffer for reading transcripts
	cleanedDirs   map[string]bool // cleanTemporary was called for these
	warnedEarlier bool            // the warning about companions in earlier places was logged
	cleanedUp     bool            // cleanUp was called
	optionsHash   string          // hash of Options.Compaction
	again         chan string     // paths to be offered once more, from other goroutines of Run
	requests      requests
	asked         bool          // another process waits for this sync's companion
	jobs          *jobs         // nil outside Run, and if there is no summarizer
	notices       chan<- Notice // nil outside Run, and if there is no Notify
	backups       backups
	damaged       bool      // the archive has damage that was not repaired yet
	healed        time.Time // when healIfDamaged last ran
	rebuilt       bool      // the archive was rebuilt, and not all companions are published again
}

// New returns a daemon that has loaded the archived sessions.
func New(ctx context.Context, o Options) (*Daemon, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &Daemon{Options: o, optionsHash: o.Compaction.Hash(), cleanedDirs: map[string]bool{}}
	d.failed = d.report
	if err := d.load(ctx); err != nil {
		return nil, err
	}
	return d, nil
}

// load loads the archived sessions.
func (d *Daemon) load(ctx context.Context) error {
	stored, err := d.Archive.Sessions(ctx)
	if d.damaged = errors.As(err, new(*archive.DamageError)); d.damaged {
		d.Log.Error("some sessions are damaged in the archive; the next scan repairs them", "err", err)
	} else if err != nil {
		return err
	}
	d.sessions, d.owners, d.unsaved = map[transcript.Key]*session{}, map[string]transcript.Key{}, map[*session]bool{}
	for _, a := range stored {
		d.heartbeat()
		s := d.sessionOf(a)
		d.sessions[s.Key] = s
		d.owners[s.Path] = s.Key
	}
	return nil
}

// Run watches until ctx ends, and returns ctx's error. It fails with *RunningError if another daemon runs. It waits for
// the archive's lock without a time limit.
func (d *Daemon) Run(ctx context.Context) error {
	release, err := d.start()
	if err != nil {
		return err
	}
	defer release()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	d.again = make(chan string, 1)
	defer d.startSummaries(archive.WaitForLock(ctx, func(*archive.LockedError) {}))()
	defer d.startNotices(ctx)()
	defer d.waitForBackup()
	defer d.startRequests(ctx, d.again)()
	d.locked = d.archiveLocked
	ctx = archive.WaitForLock(ctx, d.locked)
	var w *watcher.Watcher
	synced := func(o watcher.Offer, err error) { d.synced(ctx, w, o, err) }
	var backlog []watcher.Offer
	syncBacklog := func() {
		d.syncEach(ctx, backlog, synced)
		backlog = nil
	}
	w = watcher.New(d.watcherOptions(ctx, end, func() {
		syncBacklog()
		d.caughtUp()
	}))
	if d.Ready != nil {
		d.Ready()
	}
	for offer := range w.Run(ctx) {
		d.takeSummaries()
		waiting := d.requests.take(offer.Path)
		if d.asked = len(waiting) > 0; d.asked || offer.Live || offer.Gone {
			d.syncEach(ctx, []watcher.Offer{offer}, d.answering(waiting, offer.Path, synced))
		} else {
			backlog = append(backlog, offer)
		}
		if d.asked = false; d.backlogFull(backlog) {
			syncBacklog()
		}
	}
	var fatal fatalError
	if errors.As(context.Cause(ctx), &fatal) {
		return fatal.error
	}
	return ctx.Err()
}

// synced has the watcher offer a file again if that is needed, and reports an error.
func (d *Daemon) synced(ctx context.Context, w *watcher.Watcher, o watcher.Offer, err error) {
	switch {
	case errors.Is(err, errLater):
		w.OfferLast(o.Path)
	case repeats(err):
		w.OfferAgain(o.Path)
	}
	if repeats(err) {
		err = nil
	}
	if d.retries(o.Path, err) {
		w.RetryAtScan(o.Path)
	}
	if ctx.Err() == nil {
		d.report(o, err)
	}
}

// retries reports whether the next scan offers a transcript again although it has not changed: an error may be gone by
// then, and a companion may have been deleted.
func (d *Daemon) retries(path string, err error) bool {
	s := d.sessions[d.owners[path]]
	return err != nil || s != nil && (s.failures > 0 || s.state.Companion != "")
}

// fatalError ends Run.
type fatalError struct{ error }

// errMore is returned if a session has more bytes than maxSlice: the others get a turn.
var errMore = errors.New("more to come")

// errLater is returned if a session is archived, and others have to be archived before its companion is made.
var errLater = errors.New("archived, not read yet")

// repeats reports whether a session has to be synced again, without having failed.
func repeats(err error) bool {
	return errors.Is(err, errMore) || errors.Is(err, errLater) || raced(err)
}

// sync brings the archive and the companion of one transcript up to date with its file. It is idempotent: repeated
// after a failure, it reaches the same state.
func (d *Daemon) sync(ctx context.Context, o watcher.Offer) (err error) {
	s := d.register(o)
	if s == nil {
		return nil
	}
	if s.statSource(); s.upToDate(d, o) {
		s.deferred = false
		return nil
	}
	if d.onMain != nil && s.affectsOthers(d) {
		return errMainOnly
	}
	defer func() { d.finishSync(s, err) }()
	if err := d.saveWaiting(ctx, s); err != nil {
		return err
	}
	if s.missing {
		return d.syncGone(ctx, s)
	}
	if err := d.takeNew(ctx, s, o); err != nil {
		return err
	}
	d.notify(ctx, s, o)
	switch {
	case s.byCommand || s.state.SkipReason != "":
		return nil
	case s.due(d, o):
		if err := d.saveWaiting(ctx, s); err != nil {
			return err
		}
		_, err := d.publish(ctx, s)
		return err
	}
	d.markUnsaved(s)
	return nil
}

// saveWaiting archives the session's waiting segment, with those of the others. If that fails, or another process has
// changed one of them, it fails with archive.ErrStale: the session has no tracker any more, and has to be synced again.
func (d *Daemon) saveWaiting(ctx context.Context, s *session) error {
	if s.waiting == nil {
		return nil
	}
	tracked := s.tracked
	stale, err := d.save(ctx, false)
	if err == nil && (len(stale) > 0 || tracked && !s.tracked) {
		err = archive.ErrStale
	}
	return err
}

// takeNew archives and reads the new bytes of the transcript, at most maxSlice of them if others wait. Of a deferred
// session it only archives them, and returns errLater.
func (d *Daemon) takeNew(ctx context.Context, s *session, o watcher.Offer) error {
	limit := int64(math.MaxInt64)
	if o.More {
		limit = maxSlice
	}
	if err := d.open(ctx, s, limit); err != nil {
		return err
	}
	taken, deferred := int64(0), s.deferred && !s.tracked && s.Class != transcript.Attachment
	for seg, err := range d.tail(ctx, s, o) {
		if err != nil {
			return err
		}
		if d.tooLong(seg) {
			return errMainOnly
		}
		if err := d.saveWaiting(ctx, s); err != nil {
			return err
		}
		if !deferred || seg.Start.Offset < maxPeek {
			if err := d.trackTo(ctx, s, seg.Start, limit); err != nil {
				return err
			}
		}
		if !s.byCommand && d.isSummarizer(s, seg) {
			d.skip(s)
			return nil
		}
		if err := d.archiveNew(ctx, s, seg, d.batch || o.More); err != nil {
			return err
		}
		s.appended(seg)
		d.heartbeat()
		if deferred {
			s.untrack()
			s.cursor = seg.End
		} else if err := d.add(ctx, s, seg); err != nil {
			return err
		}
		if taken += int64(len(seg.Data)); taken >= limit {
			return errMore
		}
	}
	if deferred {
		s.deferred = false
		s.updateState(taken)
		s.state.Options, d.unsaved[s] = "", true // so that it is not up to date before it is read
		return errLater
	}
	if err := d.trackTo(ctx, s, s.cursor, limit); err != nil {
		return err
	}
	d.kept.use(s, maxTracked)
	s.updateState(taken)
	if o.Live && taken > 0 {
		d.lastGrowth = time.Now()
	}
	if o.Live && s.state.Checked.IsZero() && s.state.At.Offset <= recheckBytes { // touched, and small enough to compare now
		return d.recheckSession(ctx, s, time.Now())
	}
	return nil
}

// archiveNew archives a segment, at once or with the save that follows if there is one.
func (d *Daemon) archiveNew(ctx context.Context, s *session, seg transcript.Segment, saveFollows bool) error {
	if saveFollows && d.collect(s, seg) {
		return nil
	}
	return d.Archive.Append(ctx, s.Session, seg) // fails with ErrTip if another process appended
}

// tail yields what is new in the transcript. It does not open one that has not changed since it was read to its end.
func (d *Daemon) tail(ctx context.Context, s *session, o watcher.Offer) iter.Seq2[transcript.Segment, error] {
	if s.tracked && !s.rewritten && s.sourceStat == s.state.Source && !s.tailMissing() {
		return func(func(transcript.Segment, error) bool) {}
	}
	return watcher.Tail(ctx, s.Session, s.cursor, s.tailOptions(d, o))
}

// heartbeat reports progress to the watchdog.
func (d *Daemon) heartbeat() {
	if d.Heartbeat != nil {
		d.Heartbeat()
	}
}

// watcherOptions completes the watcher's options: the agents' formats decide which files are offered, and a companion
// never is. An error of Options.Scanned is passed to end.
func (d *Daemon) watcherOptions(ctx context.Context, end context.CancelCauseFunc, idle func()) watcher.Options {
	o := d.Watch
	o.Log, o.Heartbeat, o.HeartbeatEvery = d.Log, d.Heartbeat, d.HeartbeatEvery
	o.Scanned = func(h watcher.Health) {
		if _, err := d.save(ctx, false); err != nil && ctx.Err() == nil {
			d.Log.Warn("cannot store session states", "err", err)
		}
		d.scanned(h)
		d.cleanUp(ctx)
		if err := d.expire(ctx, time.Now()); err != nil && ctx.Err() == nil {
			d.Log.Warn("cannot remove companion", "err", err)
		}
		d.recheck(ctx, time.Now(), 0, d.report)
		d.healIfDamaged(ctx)
		d.backUp(ctx)
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
		_, ok := d.Agents.Find(r.Agent, r.Path, path)
		return ok
	}
	o.Requests, o.Idle = d.again, idle
	for _, s := range d.sessions {
		if !s.state.Gone || d.outdated(s) {
			o.Known = append(o.Known, s.Path)
		}
	}
	return o
}

// atRest is the Quiet time of a file that a command syncs: it counts as unchanged.
const atRest = 100 * 365 * 24 * time.Hour
