package daemon

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"runtime"
	"time"

	"ccd/archive"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// A backlog is synced by two workers. A worker is a Daemon with its own folds, buffer and unsaved states, which shares
// the sessions of the daemon that it works for. It changes only sessions that it was given: a session and its sub-agents
// and attachments go to the same worker, and the daemon registered all of them before. The daemon waits meanwhile, so
// nothing is locked. What concerns more than one session is left to it (errAlone).

const (
	maxWorkers      = 2
	maxBacklog      = 64           // files that Run collects before they are synced
	maxBacklogBytes = 2 * maxSlice // of these files, to be read before live sessions get their turn again
)

// errAlone is returned by a worker for a session whose sync changes more than that session, or takes much memory.
var errAlone = errors.New("not a worker's")

// longLine is the size from which a segment is one line, or a part of one. A line is archived and decoded whole, up to
// transcript.MaxLine, and takes several times its size meanwhile: workers leave sessions with such lines to the daemon,
// which takes one at a time.
const longLine = 4 << 20

// leaves reports whether a worker leaves a session with this segment to the daemon.
func (d *Daemon) leaves(seg transcript.Segment) bool {
	return d.front != nil && len(seg.Data) > longLine
}

// shares reports whether the sync of a session changes more than the session itself: the list of sessions, or what is at
// the places of other companions.
func (s *session) shares(d *Daemon) bool {
	moves := s.state.Companion != "" && s.state.Companion != d.companion(s)
	return s.missing || s.state.Gone || moves || len(s.state.Earlier) > 0
}

// workers returns how many goroutines may sync a backlog: one while a live session grows, so that the agent has the other
// processor.
func (d *Daemon) workers() int {
	if time.Since(d.grew) < d.Watch.RefreshIdle {
		return 1
	}
	if d.Workers > 0 {
		return d.Workers
	}
	return min(maxWorkers, runtime.GOMAXPROCS(0))
}

// enough reports whether Run has collected enough of a backlog.
func (d *Daemon) enough(backlog []watcher.Offer) bool {
	var bytes int64
	for _, o := range backlog {
		bytes += min(o.Size, maxSlice)
	}
	return len(backlog) >= maxBacklog || bytes >= maxBacklogBytes || d.workers() == 1
}

// syncEach syncs the offered files and stores what was collected of them, once no more offers wait. It calls done for each,
// and once more for each session that another process has changed meanwhile. Cold files are only archived if there are
// others: they have to be synced again (errLater).
func (d *Daemon) syncEach(ctx context.Context, offers []watcher.Offer, done func(watcher.Offer, error)) {
	if c := d.catchUp; c != nil {
		counted := done
		done = func(o watcher.Offer, err error) {
			c.count(o, err)
			counted(o, err)
		}
	}
	first, then := d.registerEach(offers, done)
	for _, offers := range [][]watcher.Offer{first, then} {
		if n := min(d.workers(), len(offers)); n > 1 {
			offers = d.share(ctx, n, offers, done)
		}
		d.syncInTurn(ctx, offers, done)
	}
}

// registerEach registers the offered files, and returns the offers that can be synced in any order: first those that are
// only to be archived, then the others.
func (d *Daemon) registerEach(offers []watcher.Offer, done func(watcher.Offer, error)) (first, then []watcher.Offer) {
	seen := map[*session]bool{}
	for _, o := range offers {
		s, err := d.register(o)
		switch {
		case err != nil || s == nil:
			done(o, err)
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
			first = append(first, o)
		} else {
			then = append(then, o)
		}
	}
	return first, then
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
			d.dropFold(o.Path)
		}
		done(o, err)
		d.saveEachStale(ctx, o.More || i < len(offers)-1, done)
	}
	if len(offers) == 0 {
		d.saveEachStale(ctx, false, done)
	}
}

// dropFold drops the fold of the session that is read from path.
func (d *Daemon) dropFold(path string) {
	if s := d.sessions[d.owners[path]]; s != nil {
		s.unfold()
	}
}

// saveEachStale saves, and calls done for the sessions that have to be synced again.
func (d *Daemon) saveEachStale(ctx context.Context, more bool, done func(watcher.Offer, error)) {
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

// share has n workers sync files, and waits for them. It returns the offers that the daemon has to sync alone.
func (d *Daemon) share(ctx context.Context, n int, offers []watcher.Offer, done func(watcher.Offer, error)) (alone []watcher.Offer) {
	d.saveEachStale(ctx, false, done) // a worker does not have what waits here
	families := d.byFamily(offers)
	todo := make(chan []watcher.Offer, len(families))
	for _, f := range families {
		todo <- f
	}
	close(todo)
	calls := make(chan func())
	synced := func(o watcher.Offer, err error) {
		if errors.Is(err, errAlone) {
			alone = append(alone, o)
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
			ctx = archive.WaitForLock(ctx, func(l *archive.LockedError) { w.front(func(d *Daemon) { d.locked(l) }) })
		}
		go func() {
			defer func() { calls <- nil }()
			w.work(ctx, todo, func() bool { return len(d.again) > 0 }, synced)
		}()
	}
	for ended := 0; ended < n; {
		if call := <-calls; call != nil {
			call()
		} else {
			ended++
		}
	}
	var refill []transcript.Key
	for _, w := range all {
		d.damaged = d.damaged || w.damaged
		maps.Copy(d.cleanedDirs, w.cleanedDirs)
		refill = append(refill, w.left...)
	}
	if len(refill) > 0 {
		stale, err := d.refill(ctx, refill...)
		for _, s := range stale {
			done(s.offer(), cmp.Or(err, archive.ErrStale))
		}
	}
	return alone
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

// worker returns a worker. It passes what the goroutine of d has to call to calls.
func (d *Daemon) worker(calls chan<- func()) *Daemon {
	w := &Daemon{
		Options: d.Options, optionsHash: d.optionsHash, sessions: d.sessions, owners: d.owners,
		unsaved: map[*session]bool{}, cleanedDirs: maps.Clone(d.cleanedDirs), batch: true,
	}
	w.front = func(call func(*Daemon)) {
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
	w.failed = func(o watcher.Offer, err error) { w.front(func(d *Daemon) { d.failed(o, err) }) }
	if d.Published != nil {
		w.Published = func(s transcript.Session, state State) { w.front(func(d *Daemon) { d.Published(s, state) }) }
	}
	return w
}

// work syncs the files of each family in order, until interrupted returns true.
func (w *Daemon) work(ctx context.Context, todo <-chan []watcher.Offer, interrupted func() bool, done func(watcher.Offer, error)) {
	inFront := func(o watcher.Offer, err error) { w.front(func(*Daemon) { done(o, err) }) }
	for family := range todo {
		for _, o := range family {
			err := error(errMore)
			if !interrupted() {
				err = w.sync(ctx, o)
			}
			if !errors.Is(err, errMore) {
				w.dropFold(o.Path)
			}
			if ctx.Err() != nil {
				return
			}
			inFront(o, err)
			w.saveEachStale(ctx, true, inFront)
		}
	}
	w.saveEachStale(ctx, false, inFront)
}
