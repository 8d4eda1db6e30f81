package watcher

import (
	"context"
	"errors"
	"runtime"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// stream is a source of file events: fsnotify, or a fake one in tests.
type stream struct {
	events <-chan fsnotify.Event
	errors <-chan error
	add    func(dir string) error
	remove func(dir string) error
	close  func() error
}

func openEvents() (*stream, error) {
	if runtime.GOOS != "linux" && runtime.GOOS != "windows" {
		return nil, errNoEvents
	}
	n, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return &stream{n.Events, n.Errors, n.Add, n.Remove, n.Close}, nil
}

// maxHints limits the paths in a batch. More are treated as an overflow.
const maxHints = 1 << 15

var errSourceClosed = errors.New("event source closed")

// errNoEvents is why nothing is watched where that is never tried: with kqueue, fsnotify keeps every watched directory and every file in
// it open, which are thousands here. Recent files and directories are polled instead.
var errNoEvents = errors.New("kqueue would keep every file open")

// What begins why a root is polled that should be watched: the kernel has no more watches, or no more instances, to give, or there are no
// more events.
const (
	watchLimit   = "watch limit reached: "
	eventsFailed = "file events failed: "
)

// hint sums up the events of one path.
type hint struct {
	first, last time.Time
	created     bool // created, or renamed to this name
	removed     bool // removed, or renamed from this name
}

// batch sums up the events since the previous batch.
type batch struct {
	hints  map[string]hint
	lost   bool  // events were lost
	broken error // the source has failed
}

func (b *batch) add(ev fsnotify.Event, now time.Time) {
	const wanted = fsnotify.Create | fsnotify.Write | fsnotify.Remove | fsnotify.Rename
	if ev.Op&wanted == 0 {
		return // mode and time changes do not affect content
	}
	h, ok := b.hints[ev.Name]
	if !ok {
		h.first = now
		if len(b.hints) >= maxHints {
			b.hints, b.lost = nil, true
		}
	}
	h.last = now
	h.created = h.created || ev.Op.Has(fsnotify.Create)
	h.removed = h.removed || ev.Op.Has(fsnotify.Remove) || ev.Op.Has(fsnotify.Rename)
	if b.hints == nil {
		b.hints = map[string]hint{}
	}
	b.hints[ev.Name] = h
}

func (b *batch) setError(err error) {
	// a directory that was renamed and removed at once: its watch is gone, and fsnotify could not end it
	ended := errors.Is(err, syscall.EINVAL)
	if ended || errors.Is(err, fsnotify.ErrEventOverflow) {
		b.lost = true
		return
	}
	b.broken = err
}

// drain reads events as fast as they come, so that the kernel's queue does not overflow while the consumer is busy, and
// passes them on in batches. It runs in the only goroutine besides Run's own, and ends with ctx.
func drain(ctx context.Context, s *stream, out chan<- batch) {
	var b batch
	events, errs := s.events, s.errors
	for {
		var to chan<- batch
		if len(b.hints) > 0 || b.lost || b.broken != nil {
			to = out
		}
		select {
		case ev, ok := <-events:
			if ok {
				b.add(ev, time.Now())
			} else {
				events, b.broken = nil, errSourceClosed
			}
		case err, ok := <-errs:
			if ok {
				b.setError(err)
			} else {
				errs = nil
			}
		case to <- b:
			b = batch{}
		case <-ctx.Done():
			return
		}
	}
}
