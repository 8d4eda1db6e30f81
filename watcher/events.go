package watcher

import (
	"context"
	"errors"
	"time"

	"github.com/fsnotify/fsnotify"
)

// stream is a source of file events: fsnotify, or what a test puts there.
type stream struct {
	events <-chan fsnotify.Event
	errors <-chan error
	add    func(dir string) error
	remove func(dir string) error
	close  func() error
}

func openNotify() (*stream, error) {
	n, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return &stream{n.Events, n.Errors, n.Add, n.Remove, n.Close}, nil
}

// maxHints bounds the set of hints; more paths than that at once are as good as an overflow.
const maxHints = 1 << 15

var errSourceClosed = errors.New("the source of events has closed")

// hint is what events told of one path.
type hint struct {
	first, last time.Time
	made        bool // created, or renamed to this name
	left        bool // removed, or renamed from this name
}

// batch is what events told since the last batch was taken.
type batch struct {
	hints  map[string]hint
	lost   bool  // events were lost
	broken error // the source is of no use any more
}

func (b *batch) empty() bool { return len(b.hints) == 0 && !b.lost && b.broken == nil }

func (b *batch) note(ev fsnotify.Event, now time.Time) {
	const wanted = fsnotify.Create | fsnotify.Write | fsnotify.Remove | fsnotify.Rename
	if ev.Op&wanted == 0 {
		return // a change of mode or times is none of the content
	}
	h, ok := b.hints[ev.Name]
	if !ok {
		h.first = now
		if len(b.hints) >= maxHints {
			b.hints, b.lost = nil, true
		}
	}
	h.last = now
	h.made = h.made || ev.Op.Has(fsnotify.Create)
	h.left = h.left || ev.Op.Has(fsnotify.Remove) || ev.Op.Has(fsnotify.Rename)
	if b.hints == nil {
		b.hints = map[string]hint{}
	}
	b.hints[ev.Name] = h
}

func (b *batch) trouble(err error) {
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		b.lost = true
		return
	}
	b.broken = err
}

// drain takes events as fast as they come, so that the kernel's queue stays short however long the consumer of offers
// is busy, and hands them on as one set. It is the one goroutine besides Run's own, and ends with ctx.
func drain(ctx context.Context, s *stream, out chan<- batch) {
	var b batch
	events, errs := s.events, s.errors
	for {
		var to chan<- batch
		if !b.empty() {
			to = out
		}
		select {
		case ev, ok := <-events:
			if ok {
				b.note(ev, time.Now())
			} else {
				events, b.broken = nil, errSourceClosed
			}
		case err, ok := <-errs:
			if ok {
				b.trouble(err)
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
