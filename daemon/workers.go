package daemon

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"time"

	"ccd/archive"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// Workers sync a backlog. A worker is a Daemon with its own trackers, buffer and unsaved states. It shares the sessions of the
// main daemon, which started it, but changes only those that it was given: a session, its sub-agents and its attachments go
// to the same worker, and the main daemon registered all of them before. The main daemon waits meanwhile, so nothing is
// locked. Afterwards it syncs the sessions whose sync affects others (errMainOnly).

const (
	maxWorkers      = 2
	maxBacklog      = 64           // files that Run collects before they are synced
	maxBacklogBytes = 2 * maxSlice // of these files, to be read before live sessions get their turn again
)

// errMainOnly is returned by a worker for a session that only the main daemon may sync: the sync changes more than that
// session, or takes much memory.
var errMainOnly = errors.New("only the main daemon can sync it")

// longLine is the size above which a segment is one line, or a part of one. A line up to transcript.MaxLine is archived and
// decoded whole, which takes several times its size of memory. So only the main daemon syncs sessions with such lines, one
// at a time.
const longLine = 4 << 20

// tooLong reports whether a segment is too long for a worker.
func (d *Daemon) tooLong(seg transcript.Segment) bool {
	return d.onMain != nil && len(seg.Data) > longLine
}

// affectsOthers reports whether the sync of a session changes more than the session itself: the list of sessions, or files
// at the places of other companions.
func (s *session) affectsOthers(d *Daemon) bool {
	moves := s.state.Companion != "" && s.state.Companion != d.companion(s)
	return s.missing || s.state.Gone || moves || len(s.state.Earlier) > 0
}

// workers returns how many goroutines may sync a backlog: one while a live session grows, to leave a processor to the
// agent.
func (d *Daemon) workers() int {
	if time.Since(d.lastGrowth) < d.Watch.RefreshIdle {
		return 1
	}
	if d.Workers > 0 {
		return d.Workers
	}
	return min(maxWorkers, runtime.GOMAXPROCS(0))
}

// backlogFull reports whether Run has collected enough of a backlog to sync it.
func (d *Daemon) backlogFull(backlog []watcher.Offer) bool {
	var bytes int64
	for _, o := range backlog {
		bytes += min(o.Size, maxSlice)
	}
	return len(backlog) >= maxBacklog || bytes >= maxBacklogBytes || d.workers() == 1
}

// syncEach syncs the offered files and, if no more offers wait, stores what was collected of them. It calls done for each,
// and once more for each session that another process has changed meanwhile. If there are several, it only archives the cold
// ones, which have to be synced again (errLater).
func (d *Daemon) syncEach(ctx context.Context, offers []watcher.Offer, done func(watcher.Offer, error)) {
	if c := d.catchUp; c != nil {
		counted := done
		done = func(o watcher.Offer, err error) {
			c.count(o, err)
			counted(o, err)
		}
	}
	deferred, others := d.registerEach(offers, done)
	for _, offers := range [][]watcher.Offer{deferred, others} {
		if n := min(d.workers(), len(offers)); n > 1 {
			offers = d.runWorkers(ctx, n, offers, done)
		}
		d.syncInTurn(ctx, offers, done)
	}
}

// registerEach registers the offered files. It returns the offers that are only to be archived, and the others. Each of the
// two can be synced in any order.
func (d *Daemon) registerEach(offers []watcher.Offer, done func(watcher.Offer, error)) (deferred, others []watcher.Offer) {
	seen := map[*session]bool{}
	for _, o := range offers {
		s := d.register(o)
		switch {
		case s == nil:
			done(o, nil)
			continue
		case seen[s]: // its file was moved between two offers
			done(o, archive.ErrStale)
			continue
		case o.Cold && (o.More || len(offers) > 1):
			s.deferred = true
		case o.Live || d.asked:
			s.deferred = false
		}
		if seen[s] = true; s.deferred {
			deferred = append(deferred, o)
		} else {
			others = append(others, o)
		}
	}
	return deferred, others
}

// syncInTurn syncs files one after the other.
func (d *Daemon) syncInTurn(ctx context.Context, offers []watcher.Offer, done func(watcher.Offer, error)) {
	for i, o := range offers {
		if ctx.Err() != nil {
			return
		}
		d.batch = true // save follows
		err := d.sync(ctx, o)
		d.batch = false
		if !o.Live && !d.asked && !errors.Is(err, errMore) {
			d.dropTracker(o.Path)
		}
		done(o, err)
		d.saveAndReport(ctx, o.More || i < len(offers)-1, done)
	}
	if len(offers) == 0 {
		d.saveAndReport(ctx, false, done)
	}
}

// dropTracker drops the tracker of the session that is read from path.
func (d *Daemon) dropTracker(path string) {
	if s := d.sessions[d.owners[path]]; s != nil {
		s.untrack()
	}
}

// saveAndReport saves, and calls done for the sessions that have to be synced again.
func (d *Daemon) saveAndReport(ctx context.Context, more bool, done func(watcher.Offer, error)) {
	stale, err := d.save(ctx, more)
	for _, s := range stale {
		o := s.offer()
		o.More = true
		done(o, archive.ErrStale)
	}
	if err != nil && ctx.Err() == nil {
		d.Log.Warn("cannot store session states", "err", err)
	}
}

// runWorkers has n workers sync files, and waits for them. It returns the offers that only the main daemon can sync.
func (d *Daemon) runWorkers(ctx context.Context, n int, offers []watcher.Offer, done func(watcher.Offer, error)) (rest []watcher.Offer) {
	d.saveAndReport(ctx, false, done) // a worker does not have these segments and states
	families := d.byFamily(offers)
	todo := make(chan []watcher.Offer, len(families))
	for _, f := range families {
		todo <- f
	}
	close(todo)
	calls := make(chan func())
	synced := func(o watcher.Offer, err error) {
		if errors.Is(err, errMainOnly) {
			rest = append(rest, o)
			return
		}
		done(o, err)
	}
	var all []*Daemon
	for range n {
		w := d.worker(calls)
		all = append(all, w)
		ctx := ctx
		if d.locked != nil {
			ctx = archive.WaitForLock(ctx, func(l *archive.LockedError) { w.onMain(func(d *Daemon) { d.locked(l) }) })
		}
		go func() {
			defer func() { calls <- nil }()
			w.work(ctx, todo, synced)
		}()
	}
	for ended := 0; ended < n; {
		if call := <-calls; call != nil {
			call()
		} else {
			ended++
		}
	}
	for _, w := range all {
		d.damaged = d.damaged || w.damaged
		maps.Copy(d.cleanedDirs, w.cleanedDirs)
	}
	return rest
}

// byFamily returns the offers of each session with those of its sub-agents and attachments, in the order of the first.
func (d *Daemon) byFamily(offers []watcher.Offer) (families [][]watcher.Offer) {
	at := map[transcript.Key]int{}
	for _, o := range offers {
		s := d.sessions[d.owners[o.Path]]
		k := s.Key
		if s.Parent != "" {
			k.ID = s.Parent
		}
		i, ok := at[k]
		if !ok {
			i = len(families)
			at[k], families = i, append(families, nil)
		}
		families[i] = append(families[i], o)
	}
	return families
}

// worker returns a worker. It sends the functions that the goroutine of d has to call to calls.
func (d *Daemon) worker(calls chan<- func()) *Daemon {
	w := &Daemon{
		Options: d.Options, optionsHash: d.optionsHash, sessions: d.sessions, owners: d.owners,
		unsaved: map[*session]bool{}, cleanedDirs: maps.Clone(d.cleanedDirs), batch: true, again: d.again,
	}
	w.onMain = func(call func(*Daemon)) {
		called := make(chan struct{})
		calls <- func() {
			defer close(called)
			call(d)
		}
		<-called
	}
	w.Heartbeat = func() {
		select {
		case calls <- d.heartbeat:
		default: // d is busy with a call
		}
	}
	w.failed = func(o watcher.Offer, err error) { w.onMain(func(d *Daemon) { d.failed(o, err) }) }
	if d.Published != nil {
		w.Published = func(s transcript.Session, state State) { w.onMain(func(d *Daemon) { d.Published(s, state) }) }
	}
	return w
}

// work syncs the files of each family in order. If a request waits meanwhile, it returns the rest unsynced.
func (w *Daemon) work(ctx context.Context, todo <-chan []watcher.Offer, done func(watcher.Offer, error)) {
	onMain := func(o watcher.Offer, err error) { w.onMain(func(*Daemon) { done(o, err) }) }
	for family := range todo {
		for _, o := range family {
			err := error(errMore)
			if len(w.again) == 0 {
				err = w.sync(ctx, o)
			}
			if !errors.Is(err, errMore) {
				w.dropTracker(o.Path)
			}
			if ctx.Err() != nil {
				return
			}
			onMain(o, err)
			w.saveAndReport(ctx, true, onMain)
		}
	}
	w.saveAndReport(ctx, false, onMain)
}
