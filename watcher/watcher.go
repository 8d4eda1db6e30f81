// Package watcher knows which transcripts exist, when one of them has settled, and what is new in it.
//
// Its invariant: the periodic scan is the truth, file events are hints that only shorten the wait. Whatever becomes
// of events (lost, late, never sent), every change of a file is offered at the latest one scan later. It opens files
// for reading only, follows no symlink below a root, and reads nothing but regular files. It does not know what a
// line means, nor what becomes of an offer.
package watcher

import (
	"context"
	"crypto/sha256"
	"iter"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Root is a directory whose transcripts are watched. Path is absolute; it may be a symlink, and need not exist yet.
type Root struct{ Agent, Path string }

// Options tell what is watched and when it is offered. A duration that is not above 0 means its default.
type Options struct {
	Roots        []Root
	Ignore       []string      // globs (path.Match) on the path below the root, with slashes, or on the base name; of directories too
	Settle       time.Duration // a changed file is offered when it has been quiet for so long (2 s)
	MaxWait      time.Duration // or so long after its first change that was not offered (15 s)
	RefreshIdle  time.Duration // and once more when it has been quiet for so long (30 s)
	ScanInterval time.Duration // between two scans (60 s)
	Poll         bool          // use no file events at all

	// Match tells whether the file at path is offered at all, from its name. Nothing else ever causes an offer.
	Match func(r Root, path string) bool
	// Known are paths that were offered in an earlier life: those that are gone are offered once as Gone.
	Known []string
	Log   *slog.Logger // nil: no log
	// Asked brings paths that are offered once more as by Again, from other goroutines; may be nil.
	Asked <-chan string
	// Scanned is called after each scan by the goroutine that ranges over Run; may be nil.
	Scanned func(Health)
	// Alive is called by the goroutine that ranges over Run (or calls Scan), whenever a scan got on, and every
	// AliveEvery at the latest while nothing is offered; 0: nobody wakes up for it. May be nil.
	Alive      func()
	AliveEvery time.Duration

	openDir func(dir string, flags int) (directory, error) // tests put errors here
}

// Offer names a file that changed, or may have.
type Offer struct {
	Path  string
	Root  Root
	Quiet time.Duration // how long the file has not changed, at least Options.Settle; 0 while it never rests
	Gone  bool          // it is not there any more
	Live  bool          // it changed lately; false for what only a scan found
	More  bool          // another offer is waiting
}

// Watcher offers files. Make it with New.
type Watcher struct {
	o      Options
	open   func() (*stream, error) // opens the source of events; tests put their own here
	again  []string
	retry  []string
	health atomic.Pointer[Health]
}

// New returns a watcher that has not looked at anything yet.
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
	or(&o.MaxWait, 15*time.Second)
	or(&o.RefreshIdle, 30*time.Second)
	or(&o.ScanInterval, time.Minute)
	if o.openDir == nil {
		o.openDir = openDirectory
	}
	if o.Alive == nil {
		o.Alive = func() {}
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

// Run offers files until ctx ends: first those that changed lately, the one that is due longest first, then what the
// scan found, newest first. Every file is offered at least once. The consumer may take as long as it likes: what
// happens meanwhile is kept as a set of paths.
func (w *Watcher) Run(ctx context.Context) iter.Seq[Offer] {
	return func(yield func(Offer) bool) {
		ctx, cancel := context.WithCancel(ctx)
		l := newLoop(w)
		l.start(ctx)
		defer l.stop()
		defer cancel()
		for ctx.Err() == nil {
			l.take(ctx)
			l.scanWhenDue(ctx)
			l.pollWhenDue(ctx)
			if o, ok := l.next(ctx); ok {
				if !yield(o) {
					return
				}
			} else if ctx.Err() == nil {
				l.wait(ctx)
				l.o.Alive()
			}
		}
	}
}

// Again has path offered once more, after the live files that are due by then: a long catch-up gives way by this.
// It is for the body of the loop over Run, as is Retry.
func (w *Watcher) Again(path string) { w.again = append(w.again, path) }

// Retry has path offered once more by the next scan, although it has not changed: for what could not be done now.
func (w *Watcher) Retry(path string) { w.retry = append(w.retry, path) }

// Health tells how the watching goes, as of the last scan. It may be called at any time from anywhere.
func (w *Watcher) Health() Health { return *w.health.Load() }

// TailOptions tell how Tail treats the end of a file.
type TailOptions struct {
	// Rest: the file is at rest. A last line without a line end is taken too if it is valid JSON; an attachment is
	// taken up to its end. A compressed file always is, and is always taken up to its end.
	Rest bool
	// Torn: with Rest, a last line without a line end is taken as it is.
	Torn bool
	// Alive, where not nil, is called whenever some bytes were read.
	Alive func()
	// Scratch, where not nil, is where Tail finds a buffer to use and leaves it for the next call (at most 4 MB).
	Scratch *[]byte
}

// Tail yields what is new in the file of s behind from, in segments of at most 4 MB of whole lines (8 MB where one
// line is longer than 4 MB; a line over 8 MB travels in pieces). Where the file is not the one that from was taken
// of (shorter, or other bytes at its head or before the cursor), the segments begin a new generation at 0; a rewrite
// in place that keeps the length, the head and the bytes before the cursor is seen only by Sum. A file at rest with nothing
// new yields nothing. A cursor counts the bytes of the transcript: packing a file (Session.Packed) or unpacking it
// makes nothing new. A packed one is read to its end, for its checksum, before any of it is yielded.
//
// An error ends it; what was yielded before stays valid, and the next call goes on from the last End. It wraps
// fs.ErrNotExist where the file is gone, and ErrIrregular where it is not a regular file. A file that shrinks
// while it is read ends without an error: the next call sees a new generation.
func Tail(ctx context.Context, s transcript.Session, from transcript.Cursor, o TailOptions) iter.Seq2[transcript.Segment, error] {
	return func(yield func(transcript.Segment, error) bool) {
		if o.Alive == nil {
			o.Alive = func() {}
		}
		t := tailer{s: s, o: o}
		defer t.close()
		err := t.run(func() error {
			if err := t.position(ctx, from); err != nil {
				return err
			}
			return t.segments(ctx, yield)
		})
		if err != nil {
			yield(transcript.Segment{}, err)
		}
	}
}

// Sum returns the SHA-256 of the first n bytes of the transcript of s, and how many of them there are. Of a compressed
// file it counts the bytes of the transcript. The errors are those of Tail.
func Sum(ctx context.Context, s transcript.Session, n int64, o TailOptions) (sum mark.Hash, bytes int64, err error) {
	if o.Alive == nil {
		o.Alive = func() {}
	}
	t := tailer{s: s, o: o, sum: sha256.New()}
	defer t.close()
	err = t.run(func() error { return t.skip(ctx, n) })
	return mark.Hash(t.sum.Sum(nil)), t.taken.offset, err
}
