package watcher

import (
	"cmp"
	"container/heap"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// queue contains what waits to be offered, in this order: live files by due time, the files found by a scan (newest first),
// files that are gone.
type queue struct {
	settle, maxWait, refresh time.Duration

	live map[string]*live
	heap liveHeap
	gone []place
	cold []foundFile // newest last
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

func (f foundFile) path() string { return filepath.Join(f.dir.path, f.name) }

// live is the schedule of a file that changed lately. Its times are of this machine's clock, not of the file system's.
type live struct {
	place
	first    time.Time // the first change since the last offer
	last     time.Time // the last change
	unsynced bool      // it changed since the last offer
	offered  bool      // it was offered since it became live
	stamp    uint64    // at the last check, 0 before
	due      time.Time
	index    int // in the heap
}

// changed schedules the file at p, which changed between first and last.
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

// dueOf implements the schedule: quiet for settle, or max_wait after the first change since the last offer; then once
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

func (q *queue) fix(f *live) {
	f.due = q.dueOf(f)
	heap.Fix(&q.heap, f.index)
}

// markOffered reschedules f after an offer, and removes it if it has been quiet for refresh_idle.
func (q *queue) markOffered(f *live, now time.Time) {
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

// due returns the live file that is due first, nil if none is.
func (q *queue) due(now time.Time) *live {
	if len(q.heap) == 0 || q.heap[0].due.After(now) {
		return nil
	}
	return q.heap[0]
}

func (q *queue) addCold(f []foundFile) {
	q.cold = append(q.cold, f...)
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

func (q *queue) waiting() int { return len(q.live) + q.idle() }

func (q *queue) idle() int { return len(q.gone) + len(q.cold) }

func (q *queue) more(now time.Time) bool { return q.idle() > 0 || q.due(now) != nil }

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

// Push and Pop implement heap.Interface.
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
