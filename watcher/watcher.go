// Package watcher finds transcripts, notices when one of them has settled, and reads what is new in it.
//
// Its invariant: the periodic scan finds every change, file events only shorten the wait. Even if events are lost, late or
// never sent, every change of a file is offered by the next scan. Of a file that is gone only events tell: who knows which files there
// were looks after each scan. The package opens files for reading only, follows no
// symlink below a root, and reads only regular files. It does not know what a line means, nor what the caller does with
// an offer.
package watcher

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"ccd/internal/transcript"
)

// Root is a directory whose transcripts are watched. Path is absolute. It may be a symlink, and need not exist yet.
type Root struct {
	Agent string `json:"agent"`
	Path  string `json:"path"`
}

// Options configure what is watched and when it is offered. A duration of 0 or less means its default.
type Options struct {
	Roots        []Root
	Ignore       []string      // globs (path.Match) on the path below the root, with slashes, or on the base name; also of directories
	Settle       time.Duration // a changed file is offered when it has been quiet for this long (2 s), see Offer.Quiet
	MaxWait      time.Duration // or this long after its first change since the last offer, if that is sooner (1 s)
	RefreshIdle  time.Duration // and again when it has been quiet for this long (30 s)
	ScanInterval time.Duration // between two scans (60 s)
	Poll         bool          // do not use file events

	// Match reports whether the file at path is offered at all, judging by its name.
	Match func(r Root, path string) bool
	Log   *slog.Logger    // nil: discard
	Wake  <-chan struct{} // has Run call Idle; nil: nothing does
	// Scanned is called after each scan by the goroutine that ranges over Run, Idle each time that there is nothing to
	// offer. They may be nil.
	Scanned func(Health)
	Idle    func()
	// Heartbeat is called by the goroutine that ranges over Run (or calls Scan) whenever a scan progressed, and at
	// least every HeartbeatEvery while nothing is offered (0: not while idle). It may be nil.
	Heartbeat      func()
	HeartbeatEvery time.Duration
}

// Offer is a file that changed, or may have changed.
type Offer struct {
	Path  string
	Root  Root
	Quiet time.Duration // how long the file has not changed, if at least Options.Settle; else 0
	Gone  bool          // the file does not exist any more
	Live  bool          // it changed lately
	Cold  bool          // only a scan found it, and it is offered for the first time
	Size  int64         // bytes, 0 if it is gone
	More  bool          // another offer is waiting
}

// Watcher offers files. Use New to make one.
type Watcher struct {
	o      Options
	open   func() (*stream, error) // opens the source of events; replaced in tests
	health atomic.Pointer[Health]
}

// New returns a watcher that has not scanned anything yet.
func New(o Options) *Watcher {
	w := &Watcher{o: o.complete(), open: openEvents}
	w.health.Store(&Health{})
	return w
}

func (o Options) complete() Options {
	or := func(d *time.Duration, def time.Duration) {
		if *d <= 0 {
			*d = def
		}
	}
	or(&o.Settle, 2*time.Second)
	or(&o.MaxWait, time.Second)
	or(&o.RefreshIdle, 30*time.Second)
	or(&o.ScanInterval, time.Minute)
	if o.Heartbeat == nil {
		o.Heartbeat = func() {}
	}
	if o.Idle == nil {
		o.Idle = func() {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	roots := make([]Root, 0, len(o.Roots))
	for _, r := range o.Roots {
		r.Path = filepath.Clean(r.Path)
		roots = append(roots, r)
	}
	o.Roots = roots
	return o
}

// Run offers files until ctx ends: first those that changed lately, in the order in which they are due, then those that
// the scan found, newest first. Every file is offered at least once. The consumer may be slow: changes made meanwhile are
// collected as a set of paths.
func (w *Watcher) Run(ctx context.Context) iter.Seq[Offer] {
	return func(yield func(Offer) bool) {
		ctx, cancel := context.WithCancel(ctx)
		l := newLoop(w)
		l.start(ctx)
		defer l.stop()
		defer cancel()
		for ctx.Err() == nil {
			select {
			case b := <-l.hints:
				l.merge(ctx, b)
			default:
			}
			l.scanWhenDue(ctx)
			l.pollWhenDue(ctx)
			if o, ok := l.next(ctx); ok {
				if !yield(o) {
					return
				}
				continue
			}
			if l.o.Idle(); ctx.Err() == nil {
				l.wait(ctx)
				l.o.Heartbeat()
			}
		}
	}
}

// Health returns the state of watching after the last scan. It is safe for concurrent use.
func (w *Watcher) Health() Health { return *w.health.Load() }

// TailOptions say how Tail reads the end of a file.
type TailOptions struct {
	// Rest: the file is at rest. A last line without a newline is read too if it is valid JSON, and an attachment is
	// read to its end. A compressed file is always read to its end.
	Rest bool
	// Torn: with Rest, a last line without a newline is read as it is.
	Torn bool
	// Heartbeat is called after each read. It may be nil.
	Heartbeat func()
}

// Tail yields the bytes of the file of s after from, in segments of at most 4 MB of whole lines (8 MB if a line is
// longer than 4 MB; a line over 8 MB is split). If the file is not the one of the cursor (it is shorter, or has other
// bytes at its head or before the cursor), the segments begin a new generation at 0. A rewrite in place that keeps the
// length, the head and the bytes before the cursor can only be detected with Sum. A file at rest without new bytes
// yields nothing. A cursor counts the bytes of the transcript: compressing or decompressing the file (Session.Packed)
// makes nothing new. A compressed file is read to its end, to check its checksum, before any of it is yielded.
//
// The bytes of a segment belong to the receiver. After an error the segments yielded before are still valid, and the next call continues
// from the last End. The error wraps fs.ErrNotExist if the file is gone, and ErrIrregular if it is not a regular file. If the file shrinks
// while it is read, Tail ends without an error and the next call sees a new generation.
func Tail(ctx context.Context, s transcript.Session, from transcript.Cursor, o TailOptions) iter.Seq2[transcript.Segment, error] {
	return func(yield func(transcript.Segment, error) bool) {
		if o.Heartbeat == nil {
			o.Heartbeat = func() {}
		}
		t := tailer{s: s, o: o}
		defer t.close()
		err := t.open()
		if err == nil {
			err = t.position(ctx, from)
		}
		if err == nil {
			err = t.segments(ctx, yield)
		}
		if err != nil {
			yield(transcript.Segment{}, fmt.Errorf("read transcript %s: %w", s.Path, cause(err)))
		}
	}
}
