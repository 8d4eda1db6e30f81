package watcher

import (
	"cmp"
	"container/heap"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// queue is what waits to be offered, in order: live files by when they are due, files that are gone, then by turns
// what was asked for again and what only a scan found (newest first).
type queue struct {
	settle, maxWait, refresh time.Duration

	live  map[string]*live
	heap  liveHeap
	gone  []place
	again []string
	cold  []found // newest last
	turn  bool    // of cold, where both it and again wait
}

// place is a path and the root that it lies in.
type place struct {
	path string
	root int
}

// found is a file that a scan found. The directory's path is shared: there may be very many of them.
type found struct {
	dir   *dir
	name  string
	mtime time.Time
}

func (f found) path() string { return filepath.Join(f.dir.path, f.name) }

// live is a file that changed lately: its schedule. The times are of this machine's clock, not of the file system's.
type live struct {
	place
	first    time.Time // the first change since the last offer
	last     time.Time // the last change
	unsynced bool      // it changed since the last offer
	offered  bool      // it was offered since it is live
	stamp    uint64    // as last looked at, 0 before
	due      time.Time
	index    int // in the heap
}

// changed tells that the file at p changed between first and last, and puts it into the schedule.
func (q *queue) changed(p place, first, last time.Time) {
	f := q.live[p.path]
	if f == nil {
		f = &live{place: p, first: first, last: last, unsynced: true}
		f.due = q.dueOf(f)
		q.live[p.path] = f
		heap.Push(&q.heap, f)
		return
	}
	if !f.unsynced {
		f.unsynced, f.first = true, first
	}
	if last.After(f.last) {
		f.last = last
	}
	q.fix(f)
}

// dueOf is the whole rule: quiet for settle, or max_wait after the first change that was not offered; then once more
// refresh_idle after the last change.
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

func (q *queue) fix(f *live) {
	f.due = q.dueOf(f)
	heap.Fix(&q.heap, f.index)
}

// synced notes that f is offered now. Where it has been quiet for refresh_idle already, nothing is left to do for it.
func (q *queue) synced(f *live, now time.Time) {
	f.unsynced, f.offered = false, true
	if now.Sub(f.last) >= q.refresh {
		q.remove(f)
		return
	}
	q.fix(f)
}

func (q *queue) remove(f *live) {
	heap.Remove(&q.heap, f.index)
	delete(q.live, f.path)
}

// due returns the live file that is due longest, nil where none is.
func (q *queue) due(now time.Time) *live {
	if len(q.heap) == 0 || q.heap[0].due.After(now) {
		return nil
	}
	return q.heap[0]
}

func (q *queue) found(f []found) {
	q.cold = append(q.cold, f...)
	slices.SortFunc(q.cold, func(a, b found) int {
		return cmp.Or(a.mtime.Compare(b.mtime), strings.Compare(b.dir.path, a.dir.path), strings.Compare(b.name, a.name))
	})
}

// popIdle takes the next of what waits behind the live files. ok is false where nothing does.
func (q *queue) popIdle() (path string, cold, ok bool) {
	takeCold := len(q.cold) > 0 && (q.turn || len(q.again) == 0)
	switch {
	case takeCold:
		f := q.cold[len(q.cold)-1]
		q.cold = q.cold[:len(q.cold)-1]
		if len(q.cold) == 0 {
			q.cold = nil // it may have been long
		}
		q.turn = false
		return f.path(), true, true
	case len(q.again) > 0:
		path, q.again = q.again[0], q.again[1:]
		q.turn = true
		return path, false, true
	}
	return "", false, false
}

func (q *queue) waiting() int { return len(q.live) + len(q.gone) + len(q.again) + len(q.cold) }

// more reports whether another offer is due.
func (q *queue) more(now time.Time) bool {
	return len(q.gone)+len(q.again)+len(q.cold) > 0 || q.due(now) != nil
}

type liveHeap []*live

func (h liveHeap) Len() int { return len(h) }
func (h liveHeap) Less(i, j int) bool {
	if h[i].due.Equal(h[j].due) {
		return h[i].path < h[j].path
	}
	return h[i].due.Before(h[j].due)
}

func (h liveHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push and Pop are container/heap's.
func (h *liveHeap) Push(x any) {
	f := x.(*live)
	f.index = len(*h)
	*h = append(*h, f)
}

func (h *liveHeap) Pop() any {
	old := *h
	f := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return f
}
