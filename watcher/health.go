package watcher

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"ccd/internal/mark"
)

// Health is the state of watching after the last scan.
type Health struct {
	Roots      []RootHealth
	Linked     int               // files with several hard links
	Unreadable map[string]string // directory, file of another user, or name with control characters -> cause; at most 100
	Overflows  int               // times that events were lost; a scan followed each time
	LastScan   time.Time
	Waiting    int   // files waiting to be offered
	Cold       int64 // bytes of those that only the scan found
}

// RootHealth is the state of one root.
type RootHealth struct {
	Root
	Present bool   `json:"present"`
	Polled  bool   `json:"polled"` // recent files are checked periodically, because events do not work
	Why     string `json:"why"`    // why it is polled or absent
}

// Limited reports whether it is polled for another reason than that its file system has no events, or that it is to be polled.
func (r RootHealth) Limited() bool {
	return r.Polled && (strings.HasPrefix(r.Why, watchLimit) || strings.HasPrefix(r.Why, eventsFailed))
}

const maxUnreadable = 100

func (l *loop) publish() {
	h := &Health{
		Linked: l.tree.linked, Unreadable: map[string]string{}, Overflows: l.overflows, LastScan: l.scanned, Waiting: len(l.queue.live) + len(l.queue.cold),
	}
	for i, r := range l.tree.roots {
		h.Roots = append(h.Roots, RootHealth{Root: l.o.Roots[i], Present: r.present(), Polled: r.polled != "", Why: cmp.Or(r.missing, r.polled)})
	}
	for _, dir := range slices.Sorted(maps.Keys(l.tree.unreadable)) {
		if len(h.Unreadable) == maxUnreadable {
			break
		}
		h.Unreadable[mark.Name(dir)] = l.tree.unreadable[dir]
	}
	for _, f := range l.queue.cold {
		h.Cold += f.size
	}
	l.w.health.Store(h)
}
