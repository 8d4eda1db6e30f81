package watcher

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// hintGap is how long a hint waits at most before Run looks at it: a file is never due sooner than Settle, and one
// wake-up for a burst is enough.
const hintGap = 100 * time.Millisecond

// loop is the state of one Run.
type loop struct {
	w     *Watcher
	o     *Options
	walk  *walk
	tree  *tree
	queue queue
	poll  poller

	source *stream // nil where there are no events
	hints  chan batch
	taken  time.Time // when hints were last taken

	waitedFor map[string]bool // directories watched only because a root below them is missing
	news      []found         // of the scan that goes on
	scanAt    time.Time
	scanned   time.Time // when the last whole scan began; zero before the first
	scanTook  time.Duration
	overflows int
}

func newLoop(w *Watcher) *loop {
	o := &w.o
	l := &loop{
		w: w, o: o, walk: newWalk(o), tree: newTree(o), waitedFor: map[string]bool{}, hints: make(chan batch),
		queue:  queue{settle: o.Settle, maxWait: o.MaxWait, refresh: o.RefreshIdle, live: map[string]*live{}},
		scanAt: time.Now(),
	}
	l.poll.tree = l.tree
	l.tree.watch, l.tree.report, l.tree.seen, l.tree.gone = l.watch, l.found, l.poll.seen, l.vanished
	return l
}

func (l *loop) start(ctx context.Context) {
	if l.o.Poll {
		l.pollAll("poll is set")
		return
	}
	source, err := l.w.open()
	if err != nil {
		l.pollAll(err.Error())
		return
	}
	l.source = source
	go drain(ctx, source, l.hints)
}

func (l *loop) stop() {
	if l.source != nil {
		l.source.close()
	}
}

// take merges what events and others told since, without waiting.
func (l *loop) take(ctx context.Context) {
	select {
	case b := <-l.hints:
		l.merge(ctx, b)
	case path := <-l.o.Asked:
		l.w.Again(path)
	default:
	}
}

// wait sleeps until something is due, or a hint comes.
func (l *loop) wait(ctx context.Context) {
	now := time.Now()
	until := l.scanAt
	if at, ok := l.poll.next(); ok && at.Before(until) {
		until = at
	}
	if len(l.queue.heap) > 0 && l.queue.heap[0].due.Before(until) {
		until = l.queue.heap[0].due
	}
	if sign := now.Add(l.o.AliveEvery); l.o.AliveEvery > 0 && sign.Before(until) {
		until = sign
	}
	hints := l.hints
	if open := l.taken.Add(min(hintGap, l.o.Settle/4)); open.After(now) {
		hints = nil
		if open.Before(until) {
			until = open
		}
	}
	timer := time.NewTimer(until.Sub(now))
	defer timer.Stop()
	select {
	case b := <-hints:
		l.merge(ctx, b)
	case path := <-l.o.Asked:
		l.w.Again(path)
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (l *loop) merge(ctx context.Context, b batch) {
	l.taken = time.Now()
	if b.lost {
		l.overflows++
		if l.overflows&(l.overflows-1) == 0 { // the more often, the more seldom it is said
			l.o.Log.Warn("events were lost, scanning", "times", l.overflows)
		}
		l.scanAt = l.taken
		for _, d := range l.tree.dirs {
			d.watched = false // it may have been made anew; to watch it twice costs nothing
		}
	}
	if b.broken != nil && l.source != nil {
		l.source.close()
		l.source = nil
		l.pollAll(b.broken.Error())
		l.scanAt = l.taken
	}
	// What left goes first: a renamed directory leaves its old name and appears under the new one in one batch.
	for path, h := range b.hints {
		if h.left && l.tree.dirs[path] != nil {
			l.unwatch(path)
			l.scanSoon()
		}
	}
	for path, h := range b.hints {
		l.hint(ctx, path, h)
	}
}

func (l *loop) hint(ctx context.Context, path string, h hint) {
	root, ok := l.tree.rootOf(path)
	if !ok || path == l.o.Roots[root].Path {
		if h.made || h.left {
			l.rootMayHaveCome(path)
		}
		return
	}
	if badName(filepath.Base(path)) || l.walk.ignored(root, path) {
		return
	}
	if l.tree.find(path) != nil || l.walk.accepts(root, path) {
		l.queue.changed(place{path, root}, h.first, h.last)
		return
	}
	if !h.made {
		return
	}
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		l.scanTree(ctx, root, path, true)
	}
}

func (l *loop) rootMayHaveCome(path string) {
	for _, r := range l.o.Roots {
		if within(r.Path, path) {
			l.scanAt = time.Now()
		}
	}
}

// scanSoon has the next scan come within Settle: something went that only a scan can make out.
func (l *loop) scanSoon() {
	if soon := time.Now().Add(l.o.Settle); soon.Before(l.scanAt) {
		l.scanAt = soon
	}
}

// watch has events of d sent from now on. It is called before d is listed.
func (l *loop) watch(d *dir) {
	root := &l.tree.roots[d.root]
	if l.source == nil || root.polled != "" || d.watched {
		return
	}
	err := l.source.add(d.path)
	switch {
	case err == nil:
		d.watched = true
	case exhausted(err):
		l.pollRoot(d.root, "no further watches: "+cause(err).Error())
	}
	// Another error is of this directory alone (it went, or may not be read): the scan looks after it.
}

func (l *loop) unwatch(top string) {
	for p, d := range l.tree.dirs {
		if d.watched && within(p, top) {
			d.watched = false
			if l.source != nil {
				l.source.remove(p) // an error: the watch went with the directory
			}
		}
	}
}

func (l *loop) pollAll(why string) {
	for i := range l.tree.roots {
		l.pollRoot(i, why)
	}
}

func (l *loop) pollRoot(i int, why string) {
	if l.tree.roots[i].polled == "" {
		l.tree.roots[i].polled = why
		l.o.Log.Info("polling", "root", l.o.Roots[i].Path, "why", why)
	}
}

// found puts what a scan found new or changed into the queue.
func (l *loop) found(d *dir, name string, info fs.FileInfo, unknown bool) {
	now, mtime := time.Now(), info.ModTime()
	if unknown && now.Sub(mtime) >= l.o.RefreshIdle {
		l.news = append(l.news, found{d, name, mtime})
		return
	}
	// When a known file changed is known only to lie between two looks; its own time is believed where it does.
	at := mtime
	if at.After(now) || !unknown && at.Before(l.scanned) {
		at = now
	}
	l.queue.changed(place{filepath.Join(d.path, name), d.root}, at, at)
}

func (l *loop) vanished(root int, path string) {
	if f := l.queue.live[path]; f != nil {
		f.offered = true // it was known: when its turn comes, it is offered as gone
		return
	}
	l.queue.gone = append(l.queue.gone, place{path, root})
}
