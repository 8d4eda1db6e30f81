package search

import (
	"bytes"
	"context"
	"iter"
	"runtime"
	"slices"
	"sync"

	"ccd/archive"
	"ccd/internal/transcript"
)

// maxAhead is how many segments are read in advance.
const maxAhead = 3

// ahead reads the generations of sources, as many at a time as there are processors, so that looking up, decompressing and
// matching run in parallel.
type ahead struct {
	archive *archive.Archive
	streams chan *stream // in the order of reading
}

// stream is one generation.
type stream struct {
	portions chan portion
	left     chan struct{} // closed when the consumer needs no more of it
	panicked any           // the reader's panic, if any; valid once portions is closed
}

// portion is a segment or an error.
type portion struct {
	seg transcript.Segment
	err error
}

// readAhead starts reading. end stops the reader and waits for it.
func readAhead(ctx context.Context, a *archive.Archive, sources []Source) (r *ahead, end func()) {
	r = &ahead{archive: a, streams: make(chan *stream, runtime.GOMAXPROCS(0))}
	ctx, cancel := context.WithCancel(ctx)
	var readers sync.WaitGroup
	readers.Go(func() {
		defer close(r.streams)
		r.read(ctx, &readers, sources)
	})
	return r, func() {
		cancel()
		readers.Wait()
	}
}

func (r *ahead) read(ctx context.Context, readers *sync.WaitGroup, sources []Source) {
	for _, s := range sources {
		for _, g := range slices.Backward(s.Generations) {
			one := &stream{portions: make(chan portion, maxAhead), left: make(chan struct{})}
			select {
			case r.streams <- one:
			case <-ctx.Done():
				return
			}
			readers.Go(func() { r.generation(ctx, s.Key, g.N, one) })
		}
	}
}

func (r *ahead) generation(ctx context.Context, k transcript.Key, n int, to *stream) {
	defer close(to.portions)
	defer func() { to.panicked = recover() }() // the consumer panics with it again
	for seg, err := range r.archive.Reader(k, n).SegmentsPastDamage(ctx) {
		seg.Data = bytes.Clone(seg.Data) // the reader reuses its buffer
		select {
		case to.portions <- portion{seg, err}:
		case <-to.left:
			return
		case <-ctx.Done():
			return
		}
	}
}

// next returns the segments of the next generation. It must be called once for each generation of the sources, in order, and
// its result can be ranged over once.
func (r *ahead) next(ctx context.Context) iter.Seq2[transcript.Segment, error] {
	return func(yield func(transcript.Segment, error) bool) {
		one, ok := <-r.streams
		if !ok {
			yield(transcript.Segment{}, ctx.Err())
			return
		}
		defer close(one.left)
		for p := range one.portions {
			if !yield(p.seg, p.err) {
				return
			}
		}
		if one.panicked != nil {
			panic(one.panicked)
		}
		if ctx.Err() != nil { // the reader may have stopped anywhere
			yield(transcript.Segment{}, ctx.Err())
		}
	}
}
