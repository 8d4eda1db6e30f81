package search

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"sync"

	"ccd/archive"
	"ccd/internal/transcript"
)

// maxAhead is how many segments are read in advance.
const maxAhead = 3

// ahead reads the generations of sources one after the other in its own goroutine, so that decompressing and hashing run in
// parallel to matching.
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
	r = &ahead{archive: a, streams: make(chan *stream)}
	ctx, cancel := context.WithCancel(ctx)
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(r.streams)
		r.read(ctx, sources)
	})
	return r, func() {
		cancel()
		reader.Wait()
	}
}

func (r *ahead) read(ctx context.Context, sources []Source) {
	for _, s := range sources {
		for _, g := range slices.Backward(s.Generations) {
			one := &stream{portions: make(chan portion, maxAhead), left: make(chan struct{})}
			select {
			case r.streams <- one:
			case <-ctx.Done():
				return
			}
			r.generation(ctx, s, g, one)
		}
	}
}

func (r *ahead) generation(ctx context.Context, s Source, g archive.Generation, to *stream) {
	defer close(to.portions)
	defer func() { to.panicked = recover() }() // the consumer panics with it again
	segments := r.archive.Reader(s.Key, g.N)
	all := segments.Backward(ctx, g.Tip.Offset)
	if s.forth() {
		all = segments.SegmentsPastDamage(ctx)
	}
	for seg, err := range all {
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
