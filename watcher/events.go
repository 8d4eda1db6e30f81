package watcher

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
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

// maxEvents is how many events wait in memory. The kernel keeps some more, then says that events were lost.
const maxEvents = 1 << 12

func openEvents() (*stream, error) {
	if runtime.GOOS != "linux" {
		return nil, errNoEvents
	}
	n, err := fsnotify.NewBufferedWatcher(maxEvents)
	if err != nil {
		return nil, err
	}
	return &stream{n.Events, n.Errors, n.Add, n.Remove, n.Close}, nil
}

var errSourceClosed = errors.New("event source closed")

// errNoEvents is why nothing is watched where that is never tried: with kqueue, fsnotify keeps every watched directory and every file in
// it open, which are thousands here; on Windows, it takes no directory while events wait.
var errNoEvents = errors.New("this system's events do not suit many files")

// What begins why a root is polled that should be watched: the kernel has no more watches, or no more instances, to give, or there are no
// more events.
const (
	watchLimit   = "watch limit reached: "
	eventsFailed = "file events failed: "
)

// takeEvents handles the events that wait.
func (l *loop) takeEvents(ctx context.Context) {
	for range maxEvents {
		select {
		case ev, ok := <-l.events():
			l.event(ctx, ev, ok)
		case err := <-l.errors():
			l.failed(err)
		default:
			return
		}
	}
}

func (l *loop) events() <-chan fsnotify.Event {
	if l.source == nil {
		return nil
	}
	return l.source.events
}

func (l *loop) errors() <-chan error {
	if l.source == nil {
		return nil
	}
	return l.source.errors
}

// event handles an event. ok is false if there are no more.
func (l *loop) event(ctx context.Context, ev fsnotify.Event, ok bool) {
	const wanted = fsnotify.Create | fsnotify.Write | fsnotify.Remove | fsnotify.Rename
	switch {
	case !ok:
		l.failed(errSourceClosed)
		return
	case ev.Op&wanted == 0: // mode and time changes do not affect content
		return
	}
	path, created, removed := ev.Name, ev.Has(fsnotify.Create), ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename)
	if removed && l.tree.dirs[path] != nil {
		l.unwatch(path)
		l.scanSoon()
	}
	root, below := l.tree.rootOf(path)
	switch {
	case !below, path == l.o.Roots[root].Path:
		if created || removed {
			l.scanIfAboveRoot(path)
		}
	case badName(filepath.Base(path)), l.tree.ignored(root, path):
	case l.tree.knows(path), l.tree.accepts(root, path):
		now := time.Now()
		l.queue.changed(place{path, root}, now, now)
	case created:
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			l.scanTree(ctx, root, path)
		}
	}
}

// failed handles an error of the source. If events were lost, a scan finds what they would have told. Any other error ends the source.
func (l *loop) failed(err error) {
	if l.scanAt = time.Now(); !errors.Is(err, fsnotify.ErrEventOverflow) {
		if err == nil {
			err = errSourceClosed
		}
		l.source.close()
		l.source = nil
		l.pollAll(eventsFailed + err.Error())
		return
	}
	l.overflows++
	if l.overflows&(l.overflows-1) == 0 { // log it less and less often
		l.o.Log.Warn("events lost; scanning", "times", l.overflows)
	}
	for _, d := range l.tree.dirs {
		d.watched = false // it may have been recreated; watching it twice is harmless
	}
}
