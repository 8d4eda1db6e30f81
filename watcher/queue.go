package watcher

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// queue contains what waits to be offered, in this order: live files by due time, the files found by a scan (newest first).
type queue struct {
	settle, maxWait, refresh time.Duration

	live  map[string]*live
	ready []*live     // those that were due when they were last looked at, in order
	next  time.Time   // none of the others is due before
	cold  []foundFile // newest last
}

// place is a path and its root.
type place struct {
	path string
	root int
}

// foundFile is a file found by a scan. It shares the directory's path, because there may be very many of them.
type foundFile struct {
	dir   *dir
	name  string
	mtime time.Time
	size  int64
}

// live is the schedule of a file that changed lately. Its times are of this machine's clock, not of the file system's.
type live struct {
	place
	first    time.Time // the first change since the last offer; if none came, when it will have settled
	last     time.Time // the last change
	unsynced bool      // it changed since the last offer that found it settled
	stamp    uint64    // at the last check, 0 before
	due      time.Time
}

// changed schedules the file at p, which changed between first and last.
func (q *queue) changed(p place, first, last time.Time) {
	f := q.live[p.path]
	if f == nil {
		f = &live{place: p, first: first, last: last, unsynced: true}
		q.live[p.path] = f
	}
	if !f.unsynced || first.Before(f.first) {
		f.unsynced, f.first = true, first
	}
	if last.After(f.last) {
		f.last = last
	}
	q.schedule(f)
}

// dueOf implements the schedule: max_wait after the first change since the last offer, and quiet for settle; then once
// more refresh_idle after the last change.
func (q *queue) dueOf(f *live) time.Time {
	if !f.unsynced {
		return f.last.Add(q.refresh)
	}
	due := f.last.Add(q.settle)
	if latest := f.first.Add(q.maxWait); latest.Before(due) {
		return latest
	}
	return due
}

func (q *queue) schedule(f *live) {
	if f.due = q.dueOf(f); f.due.Before(q.next) {
		q.next = f.due
	}
}

// markOffered reschedules f after an offer, and removes it if it has been quiet for refresh_idle.
func (q *queue) markOffered(f *live, now time.Time) {
	f.first = f.last.Add(q.settle)
	f.unsynced = now.Before(f.first)
	if now.Sub(f.last) >= q.refresh {
		delete(q.live, f.path)
		return
	}
	q.schedule(f)
}

// due returns the live file that is due first, nil if none is.
func (q *queue) due(now time.Time) *live {
	if len(q.ready) == 0 && !now.Before(q.next) {
		q.look(now)
	}
	for len(q.ready) > 0 {
		if f := q.ready[0]; q.live[f.path] == f && !f.due.After(now) {
			return f
		}
		q.ready = q.ready[1:]
	}
	return nil
}

// look finds the live files that are due, and when the next one is.
func (q *queue) look(now time.Time) {
	q.next = now.Add(q.maxWait + q.refresh)
	for _, f := range q.live {
		switch {
		case !f.due.After(now):
			q.ready = append(q.ready, f)
		case f.due.Before(q.next):
			q.next = f.due
		}
	}
	slices.SortFunc(q.ready, func(a, b *live) int { return cmp.Or(a.due.Compare(b.due), strings.Compare(a.path, b.path)) })
}

func (q *queue) sortCold() {
	slices.SortFunc(q.cold, func(a, b foundFile) int {
		return cmp.Or(a.mtime.Compare(b.mtime), strings.Compare(b.dir.path, a.dir.path), strings.Compare(b.name, a.name))
	})
}

// popCold takes the next file that a scan found. ok is false if there is none.
func (q *queue) popCold() (f foundFile, ok bool) {
	n := len(q.cold)
	if n == 0 {
		return f, false
	}
	f = q.cold[n-1]
	if q.cold = q.cold[:n-1]; n == 1 {
		q.cold = nil // release the memory
	}
	return f, true
}
