package watcher

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// hintGap is how long a hint waits at most before Run processes it: no file is due sooner than Settle, so one wake-up
// is enough for a burst.
const hintGap = 100 * time.Millisecond

// loop is the state of one Run.
type loop struct {
	w     *Watcher
	o     *Options
	tree  *tree
	queue queue

	source   *stream // nil if there are no events
	hints    chan batch
	mergedAt time.Time // when hints were last taken

	pollAt    time.Time
	scanAt    time.Time
	scanned   time.Time // when the last full scan began; zero before the first
	scanTook  time.Duration
	overflows int
}

func newLoop(w *Watcher) *loop {
	o := &w.o
	l := &loop{
		w: w, o: o, tree: newTree(o), hints: make(chan batch),
		queue:  queue{settle: o.Settle, maxWait: o.MaxWait, refresh: o.RefreshIdle, live: map[string]*live{}},
		scanAt: time.Now(),
	}
	l.tree.onDir, l.tree.onFile = l.watch, l.enqueueFound
	return l
}

func (l *loop) start(ctx context.Context) {
	if l.o.Poll {
		l.pollAll("poll is set")
		return
	}
	source, err := l.w.open()
	if err != nil {
		why := err.Error()
		if !errors.Is(err, errNoEvents) {
			why = watchLimit + why
		}
		l.pollAll(why)
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

// wait sleeps until something is due, or an event comes.
func (l *loop) wait(ctx context.Context) {
	now := time.Now()
	until := l.scanAt
	if l.polls() && l.pollAt.Before(until) {
		until = l.pollAt
	}
	if l.queue.next.Before(until) {
		until = l.queue.next
	}
	if sign := now.Add(l.o.HeartbeatEvery); l.o.HeartbeatEvery > 0 && sign.Before(until) {
		until = sign
	}
	hints := l.hints
	if open := l.mergedAt.Add(min(hintGap, l.o.Settle/4)); open.After(now) {
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
	case <-l.o.Wake:
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (l *loop) merge(ctx context.Context, b batch) {
	l.mergedAt = time.Now()
	if b.lost {
		l.overflows++
		if l.overflows&(l.overflows-1) == 0 { // log it less and less often
			l.o.Log.Warn("events lost; scanning", "times", l.overflows)
		}
		l.scanAt = l.mergedAt
		for _, d := range l.tree.dirs {
			d.watched = false // it may have been recreated; watching it twice is harmless
		}
	}
	if b.broken != nil && l.source != nil {
		l.source.close()
		l.source = nil
		l.pollAll(eventsFailed + b.broken.Error())
		l.scanAt = l.mergedAt
	}
	// Process removals first: a renamed directory appears under both names in one batch.
	for path, h := range b.hints {
		if h.removed && l.tree.dirs[path] != nil {
			l.unwatch(path)
			l.scanSoon()
		}
	}
	for path, h := range b.hints {
		l.handleHint(ctx, path, h)
	}
}

func (l *loop) handleHint(ctx context.Context, path string, h hint) {
	root, ok := l.tree.rootOf(path)
	if !ok || path == l.o.Roots[root].Path {
		if h.created || h.removed {
			l.scanIfAboveRoot(path)
		}
		return
	}
	if badName(filepath.Base(path)) || l.tree.ignored(root, path) {
		return
	}
	if l.tree.knows(path) || l.tree.accepts(root, path) {
		l.queue.changed(place{path, root}, h.first, h.last)
		return
	}
	if !h.created {
		return
	}
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		l.scanTree(ctx, root, path, true)
	}
}

func (l *loop) scanIfAboveRoot(path string) {
	for _, r := range l.o.Roots {
		if within(r.Path, path) {
			l.scanAt = time.Now()
		}
	}
}

// scanSoon schedules the next scan within Settle: only a scan can find out what was removed.
func (l *loop) scanSoon() {
	if soon := time.Now().Add(l.o.Settle); soon.Before(l.scanAt) {
		l.scanAt = soon
	}
}

// watch starts events for d. It is called before d is listed.
func (l *loop) watch(d *dir) {
	root := &l.tree.roots[d.root]
	if l.source == nil || root.polled != "" || d.watched {
		return
	}
	err := l.source.add(d.path)
	switch {
	case err == nil:
		d.watched = true
	case watchLimitReached(err):
		l.pollRoot(d.root, watchLimit+cause(err).Error())
	}
	// Other errors affect only this directory (it was deleted, or is not readable): the scan handles them.
}

// watchLimitReached reports whether err means that the system allows no further watches; on Windows any may.
func watchLimitReached(err error) bool {
	return runtime.GOOS == "windows" || slices.ContainsFunc([]error{syscall.ENOSPC, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM}, func(limit error) bool { return errors.Is(err, limit) })
}

func (l *loop) unwatch(top string) {
	for p, d := range l.tree.dirs {
		if d.watched && within(p, top) {
			d.watched = false
			if l.source != nil {
				l.source.remove(p) // fails if the watch ended with the directory
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

// enqueueFound queues a file that a scan found new or changed.
func (l *loop) enqueueFound(d *dir, name string, info fs.FileInfo, unknown bool) {
	now, mtime := time.Now(), info.ModTime()
	if unknown && now.Sub(mtime) >= l.o.RefreshIdle {
		l.queue.cold = append(l.queue.cold, foundFile{d, name, mtime, info.Size()})
		return
	}
	// A known file changed between two scans; use its modification time if it lies between them.
	at := mtime
	if at.After(now) || !unknown && at.Before(l.scanned) {
		at = now
	}
	l.queue.changed(place{filepath.Join(d.path, name), d.root}, at, at)
}
