// Package daemon contains the main loop. For every transcript below the watched roots it calls one idempotent function,
// sync, again and again: it has what is new archived and, if a companion is due, has it made from all records.
//
// The way of a byte: the watcher offers its file (Run). sync compares the file's size, time and inode with those of the last time,
// and queues the session. A job of the pool (pool.go) reads what is after the session's cursor with watcher.Tail, which compares
// the fingerprints of the bytes before it, and stores it (archiveNew): segments of many sessions in one transaction (batch.go,
// archive.Save). The job ends when that is on disk. Only then its session is queued again (take, afterArchiving), and another job
// (derive) reads the records back from the archive. publish (publish.go) makes the
// companion, stores where its originals are (archive.Publish), and renames it into place when that is on disk too. `ccd restore` needs no daemon: it reads the archive.
//
// Two things are not archived: what was forgotten (archive.Forget), and sessions of the summarizer's own command.
//
// docs/ARCHITECTURE.md has the picture. Four invariants, each with a test of its name:
//
//  1. Originals are never written. Transcripts are opened read-only, always.
//  2. Archive before companion. A companion has only IDs that the archive resolves: store, fsync, then publish.
//  3. A companion is a pure function of the transcript's bytes of this generation and those before it in its story, its path
//     below its root, the options and, with a summarizer, the summaries that the archive keeps.
//  4. Restore is exact. What comes out hashes to what went in, or the command fails and says so.
//
// File events only shorten the wait, the periodic scan finds every change of a file. Nothing is flushed at shutdown.
package daemon

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"time"

	"ccd/archive"
	"ccd/compactor"
	"ccd/compactor/companion"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// Options configure a Daemon.
type Options struct {
	Archive        *archive.Archive
	StateDir       string            // ccd's own directory, created with mode 0700 if missing
	Watch          watcher.Options   // roots and timing; the daemon sets Match
	Agents         registry.Table    // the formats of the watched transcripts
	Compaction     compactor.Options // for every session without options of its own
	CompanionDir   string            // "": each companion is written beside its transcript
	KeepAfterPurge time.Duration     // how long a companion is kept after its transcript is gone; 0: forever
	Log            *slog.Logger      // nil: discard. Log lines contain no transcript content
	Version        string            // of the program, shown by status
	Config         string            // path of the configuration file, "" for none, shown by status
	Lock           *RunLock          // held by who calls Run or Once

	// Ready is called when Run has started to watch, Scanned after each scan. If Scanned returns an error, Run ends
	// with it. Heartbeat is called whenever work progressed (a file, a segment, a text, a directory), never twice at
	// once, and at least every HeartbeatEvery while there is nothing to do (0: not while idle). Each may be nil.
	Ready          func()
	Scanned        func(watcher.Health) error
	Heartbeat      func()
	HeartbeatEvery time.Duration

	// Published is called for each companion that was written, with the state that was stored. CaughtUp is called once,
	// when Run has archived all that the first scan found: the report counts what there is. Progress is called until then with
	// the bytes done and the total (see Progress). Each may be nil.
	Published func(transcript.Session, State)
	CaughtUp  func(Report)
	Progress  func(done, all int64)

	// Summarize writes a summary of input. If it is nil, companions contain only the compactor's own summaries. It may
	// be slow: it runs in a goroutine of its own, one call at a time. It returns ErrUnavailable if the command itself
	// cannot run. Its errors contain nothing of the input.
	Summarize func(ctx context.Context, input string) (output []byte, err error)
}

// Daemon brings the archive and the companions up to date with the transcripts. It is not safe for concurrent use; the pool's jobs
// work on copies of sessions. A command may have one while another process runs one: the archive detects conflicting writes.
type Daemon struct {
	Options
	sessions map[transcript.Key]*session
	owners   map[string]transcript.Key // by path
	pool     pool
	kept     []*session // whose readings are kept, the last one of them used last
	found    []*session // that wait for choose
	more     bool       // more offers wait

	result      func(o watcher.Offer, err error) // takes the result of each offer
	health      health
	catchUp     *catchUp  // nil, which counts nothing, if the daemon is not catching up
	lastGrowth  time.Time // when a live session last had new bytes
	optionsHash string    // hash of Options.Compaction
	asking      bool      // the summarizer is asked
	askAgain    time.Time // not before
	summaries   int       // that it wrote
	damaged     bool      // the archive has damage that was not repaired yet
	healed      time.Time // when healIfDamaged last ran
}

// New returns a daemon that has loaded the archived sessions. It fails if the archive cannot be read; damage is repaired later.
func New(ctx context.Context, o Options) (*Daemon, error) {
	d := unloaded(o)
	if err := d.load(ctx); err != nil {
		return nil, err
	}
	return d, nil
}

// NewAt is New for work on the transcript at a path only: if that is archived under its own ID, it loads no other session, of which
// there may be thousands. It fails as New does.
func NewAt(ctx context.Context, o Options, path string) (*Daemon, error) {
	for _, r := range o.Watch.Roots {
		found, ok := o.Agents.Find(r.Agent, r.Path, path)
		if !ok || found.Parent != "" || found.Thread != "" {
			continue
		}
		if one, err := o.Archive.Session(ctx, found.Key); err == nil && one.Path == path && one.StateDamage == nil {
			d := unloaded(o)
			d.add(one)
			return d, nil
		}
	}
	return New(ctx, o)
}

func unloaded(o Options) *Daemon {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	slots := min(maxSlots, runtime.GOMAXPROCS(0))
	d := &Daemon{Options: o, optionsHash: o.Compaction.Hash(), pool: pool{slots: slots, ended: make(chan *job, slots+2)}}
	d.health.failing = map[string]Failure{}
	d.result = func(o watcher.Offer, err error) {
		if err != nil {
			d.Log.Error("cannot update session", "path", o.Path, "err", err)
		}
	}
	d.sessions, d.owners = map[transcript.Key]*session{}, map[string]transcript.Key{}
	return d
}

// load loads the archived sessions.
func (d *Daemon) load(ctx context.Context) error {
	stored, lacking, err := d.Archive.Acknowledged(ctx)
	if err == nil && len(lacking) > 0 {
		err = lacking[0]
	}
	if d.damaged = errors.As(err, new(*archive.DamageError)); d.damaged {
		d.Log.Error("some sessions are damaged in the archive; the next scan repairs them", "err", err)
	} else if err != nil {
		return err
	}
	d.sessions, d.owners = map[transcript.Key]*session{}, map[string]transcript.Key{}
	for _, a := range stored {
		d.heartbeat()
		d.add(a)
	}
	return nil
}

func (d *Daemon) add(a archive.Session) {
	s := d.sessionOf(a)
	var lost *archive.DamageError // a transcript is that of the last generation
	d.damaged = d.damaged || errors.As(a.Lost, &lost) && lost.Generation == len(a.Generations) && exists(a.Path)
	d.sessions[s.Key] = s
	d.owners[s.Path] = s.Key
}

// Run watches until ctx ends or Options.Scanned fails, and returns that error. It waits for the archive's lock without a time limit.
func (d *Daemon) Run(ctx context.Context) error {
	d.start(ctx)
	outer := ctx
	ctx, end := context.WithCancelCause(ctx)
	defer d.abandon()
	defer end(nil)
	wake := make(chan struct{}, 1)
	d.pool.wake = wake
	d.result = d.report
	ctx = archive.WaitForLock(ctx, d.archiveLocked)
	w := watcher.New(d.watcherOptions(ctx, end, wake))
	if d.Ready != nil {
		d.Ready()
	}
	for offer := range w.Run(ctx) {
		d.more = offer.More
		d.takeEnded(ctx)
		d.sync(ctx, offer)
		d.startJobs(ctx)
	}
	if outer.Err() != nil {
		return outer.Err()
	}
	return context.Cause(ctx)
}

// sync brings the archive and the companion of one transcript up to date with its file. It is idempotent: repeated after a
// failure, it reaches the same state. New bytes are archived first (archiveNew), then their records are read and the companion
// is made if it is due (derive). Both are the pool's work, so that no session waits for another one. done ends the sync.
func (d *Daemon) sync(ctx context.Context, o watcher.Offer) {
	s := d.register(ctx, o)
	if s == nil {
		d.result(o, nil)
		return
	}
	if s.busy {
		s.newer = &o
		return
	}
	d.unqueue(s)
	s.offer = o
	s.found = !o.Live && (s.found || o.Cold && s.state.Source.IsZero() && !exists(d.companion(s)))
	s.statSource()
	if d.lacksBeginning(s) {
		s.read, s.state.Read, s.state.Covers = nil, Place{}, Place{}
	}
	switch {
	case s.paused():
		d.done(ctx, s, nil)
	case s.isArchived(d):
		d.afterArchiving(ctx, s)
	case s.missing:
		if err := d.markGone(ctx, s); err != nil || d.sessions[s.Key] == nil {
			d.done(ctx, s, err)
			return
		}
		d.afterArchiving(ctx, s)
	default:
		if o.Live && s.sourceStat.Size > s.state.At.Offset {
			d.lastGrowth = time.Now()
		}
		d.queue(s, archiving)
	}
}

// afterArchiving continues with a session all of whose bytes are archived.
func (d *Daemon) afterArchiving(ctx context.Context, s *session) {
	if s.upToDate(d) {
		d.done(ctx, s, nil)
		return
	}
	d.queue(s, deriving)
}

// archiveNew archives what is new in the transcript, with the other segments of b. If that fails the session is loaded again
// (fail, done), so a cursor that went ahead of the archive goes back.
func (d *Daemon) archiveNew(ctx context.Context, s *session, b *batch) error {
	if s.stale {
		if err := d.reload(ctx, s); err != nil {
			return err
		}
	}
	taken := int64(0)
	for seg, err := range d.tail(ctx, s) {
		if err != nil {
			return err
		}
		if d.isSummarizer(s, seg) {
			d.Log.Info("skipping session of the summarizer's own command", "session", s.ID)
			s.state.SkipReason, s.state.Source = skippedSummarizer, s.sourceStat
			b.note(s)
			return nil
		}
		if err := d.append(ctx, s, seg, b); err != nil {
			return err
		}
		d.heartbeat()
		if s.isRead() {
			d.follow(s, seg)
		}
		s.advance(d, seg)
		taken += int64(len(seg.Data))
	}
	s.state.Deferred = s.state.Deferred && taken == 0
	s.updateState(taken)
	if r := s.read; taken > 0 && r != nil && r.at == s.state.At {
		s.setStatus(r.tracker)
		s.state.Options = r.options
	}
	b.note(s)
	if s.compareNow() {
		if same, err := d.recheckSession(ctx, s, time.Now()); err != nil || same {
			return err
		}
		return d.archiveNew(ctx, s, b)
	}
	return nil
}

// derive makes what depends on the archived bytes: the state that lists show, and the companion if it is due.
func (d *Daemon) derive(ctx context.Context, s *session) error {
	var err error
	if s.stale {
		err = d.reload(ctx, s)
	}
	if err == nil {
		_, err = d.readArchived(ctx, s, s.dueNow(d) && s.isStory())
	}
	if err == nil && s.dueNow(d) {
		_, err = d.publish(ctx, s)
	}
	if s.state.Gone && errors.As(err, new(*archive.DamageError)) { // nothing more can be read
		s.state.Covers, err = s.state.At, nil
	}
	if err == nil {
		s.state.Read, s.state.Options = s.state.At, d.hash(s)
	}
	return err
}

// done ends a sync with its result. If another process has changed the session meanwhile, it starts the sync again; races counts
// these restarts.
func (d *Daemon) done(ctx context.Context, s *session, err error) {
	if s.races++; raced(err) && s.races <= maxRetries && ctx.Err() == nil {
		if s.stale = true; s.missing || d.yields(ctx, s) {
			d.sync(ctx, s.offer)
		} else {
			d.queue(s, archiving)
		}
		return
	}
	d.keep(s)
	d.catchUp.count(&s.offer)
	if err == nil && s.found && s.due(d) {
		d.found = append(d.found, s)
		return
	}
	s.found = s.found && err != nil
	switch s.races = 0; {
	case err != nil:
		d.fail(s, err)
	case !s.paused():
		s.failures = 0
	}
	if ctx.Err() == nil {
		d.result(s.offer, err)
	}
}

// maxFound is how many of the sessions that a scan finds for the first time get their companions at once.
const maxFound = 20

// choose has the companions made of the newest sessions that were found and archived and are due, and leaves those of the others for
// when they grow or somebody asks for them.
func (d *Daemon) choose(ctx context.Context) {
	all := d.found
	d.found = nil
	slices.SortStableFunc(all, func(a, b *session) int { return cmp.Compare(b.sourceStat.ModTime, a.sourceStat.ModTime) })
	n, later := 0, batch{}
	for _, s := range all {
		if !s.found || d.sessions[s.Key] != s {
			continue
		}
		s.found = false
		if n++; n <= maxFound {
			d.queue(s, deriving)
			continue
		}
		s.state.Deferred = true
		later.note(s)
	}
	deferred := later.sessions
	failed := d.commit(ctx, &later)
	for _, s := range deferred {
		d.done(ctx, s, failed[s])
	}
}

// save stores the states of a batch, and syncs those again that were not stored.
func (d *Daemon) save(ctx context.Context, b *batch) {
	for s, err := range d.commit(ctx, b) {
		d.done(ctx, s, err)
	}
}

// bring brings the offered files up to date. Unlike sync it returns when that is done.
func (d *Daemon) bring(ctx context.Context, offers ...watcher.Offer) {
	d.more = true
	for _, o := range offers {
		d.sync(ctx, o)
	}
	d.more = false
	d.finishJobs(ctx)
}

// heartbeat reports progress to the watchdog.
func (d *Daemon) heartbeat() {
	if d.Heartbeat != nil {
		d.pool.beat.Lock()
		defer d.pool.beat.Unlock()
		d.Heartbeat()
	}
}

// watcherOptions completes the watcher's options: the agents' formats decide which files are offered, and a companion
// never is. An error of Options.Scanned is passed to end.
func (d *Daemon) watcherOptions(ctx context.Context, end context.CancelCauseFunc, wake <-chan struct{}) watcher.Options {
	o := d.Watch
	o.Log, o.HeartbeatEvery = d.Log, d.HeartbeatEvery
	o.Heartbeat = func() {
		if d.pool.running == 0 { // else the jobs show that they progress
			d.heartbeat()
		}
	}
	o.Scanned = func(h watcher.Health) {
		d.scanned(h)
		d.atScan(ctx, time.Now())
		for _, o := range d.unscanned() {
			d.sync(ctx, o)
		}
		if d.Scanned == nil {
			return
		}
		if err := d.Scanned(h); err != nil {
			end(err)
		}
	}
	o.Match = func(r watcher.Root, path string) bool {
		if companion.Is(path) {
			return false
		}
		_, ok := d.Agents.Find(r.Agent, r.Path, path)
		return ok
	}
	o.Wake = wake
	o.Idle = func() {
		d.more = false
		d.takeEnded(ctx)
		d.startJobs(ctx)
		d.startAsking(ctx)
		d.caughtUp()
	}
	return o
}

// atScan does after each scan, and in a pass, what no file event tells of.
func (d *Daemon) atScan(ctx context.Context, now time.Time) {
	d.expire(ctx, now)
	d.recheck(ctx, now)
	d.healIfDamaged(ctx)
}

// unscanned offers what a scan does not: a file that is gone, also since before the start, one whose last sync failed, and one
// whose companion was changed or deleted.
func (d *Daemon) unscanned() (all []watcher.Offer) {
	for _, s := range d.sessions {
		if s.busy || s.in != nil {
			continue
		}
		o := d.asOffer(s)
		gone := s.missing && (s.state.Gone && s.due(d) || !s.state.Gone && exists(s.Root))
		if gone || s.failures > 0 || s.state.Companion != "" && !s.state.Gone && !d.asWritten(s) {
			all = append(all, o)
		}
	}
	return all
}
