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
	words   []string     // that each line with a match contains, as Only takes them
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
func readAhead(ctx context.Context, a *archive.Archive, words []string, sources []Source) (r *ahead, end func()) {
	r = &ahead{archive: a, words: words, streams: make(chan *stream, runtime.GOMAXPROCS(0))}
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

// batch is how many generations are looked up at a time.
const batch = 64

// lookedUp is a generation to read.
type lookedUp struct {
	Source
	archive.Generation
	nothing bool // no line can have a match
}

func (r *ahead) read(ctx context.Context, readers *sync.WaitGroup, sources []Source) {
	var all []lookedUp
	for _, s := range sources {
		for _, g := range slices.Backward(s.Generations) {
			all = append(all, lookedUp{Source: s, Generation: g})
		}
	}
	for some := range slices.Chunk(all, batch) {
		r.lookUp(ctx, some)
		for _, g := range some {
			one := &stream{portions: make(chan portion, maxAhead), left: make(chan struct{})}
			select {
			case r.streams <- one:
			case <-ctx.Done():
				return
			}
			readers.Go(func() { r.generation(ctx, g, one) })
		}
	}
}

// lookUp finds the generations without a match. In one whose text need not be in one line, a word is in none.
func (r *ahead) lookUp(ctx context.Context, some []lookedUp) {
	if len(r.words) == 0 {
		return
	}
	defer func() { _ = recover() }() // the read panics again, where the consumer learns of it
	var readers []*archive.Reader
	var of []int
	for i, g := range some {
		ask := [][]string{r.words}
		if g.forth() {
			ask = slices.Collect(slices.Chunk(r.words, 1))
		}
		for _, words := range ask {
			readers, of = append(readers, r.reader(g, words...)), append(of, i)
		}
	}
	left, _ := r.archive.LeftOut(ctx, readers) // the end of ctx is noticed later
	for i, out := range left {
		some[of[i]].nothing = some[of[i]].nothing || out
	}
}

func (r *ahead) reader(g lookedUp, words ...string) *archive.Reader {
	one := r.archive.Reader(g.Key, g.N)
	one.Only(words...)
	return one
}

func (r *ahead) generation(ctx context.Context, g lookedUp, to *stream) {
	defer close(to.portions)
	defer func() { to.panicked = recover() }() // the consumer panics with it again
	for seg, err := range r.segments(ctx, g) {
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

func (r *ahead) segments(ctx context.Context, g lookedUp) iter.Seq2[transcript.Segment, error] {
	switch {
	case g.nothing:
		return func(yield func(transcript.Segment, error) bool) {
			yield(transcript.Segment{End: g.Generation.Tip}, &archive.Skipped{})
		}
	case g.forth():
		return r.reader(g).SegmentsPastDamage(ctx)
	}
	return r.reader(g, r.words...).Backward(ctx, g.Generation.Tip.Offset)
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
