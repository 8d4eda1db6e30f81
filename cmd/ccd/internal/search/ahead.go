package search

import (
	"context"
	"iter"
	"slices"
	"sync"

	"ccd/archive"
	"ccd/internal/transcript"
)

// How far segments are read ahead: their number, and the size up to which one is copied for it, in bytes. With a larger
// one the reader waits until it has been looked through, so that memory stays bounded whatever the lines.
const (
	maxAhead  = 3
	maxCopied = 4 << 20
)

// ahead reads the generations of sources one after the other in a goroutine of its own: what it decodes and hashes next
// costs no time of the one that looks for matches.
type ahead struct {
	archive *archive.Archive
	streams chan *stream // in the order of reading
	free    chan []byte  // room for copies
}

// stream is one generation.
type stream struct {
	portions chan portion
	done     chan struct{} // the portion that was lent has been looked through
	left     chan struct{} // closed when no more of it is wanted
	panicked any           // what ended the reading, once portions is closed
}

// portion is a segment or an error.
type portion struct {
	seg  transcript.Segment
	err  error
	lent bool // its data is the reader's own
}

// readAhead begins to read. The function that it returns ends that, and waits until nothing is read any more.
func readAhead(ctx context.Context, a *archive.Archive, sources []Source) (r *ahead, end func()) {
	r = &ahead{archive: a, streams: make(chan *stream, maxAhead), free: make(chan []byte, maxAhead)}
	for range maxAhead {
		r.free <- nil
	}
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
			one := &stream{portions: make(chan portion, maxAhead), done: make(chan struct{}, 1), left: make(chan struct{})}
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
	defer func() { to.panicked = recover() }() // it is for the goroutine that asked
	segments := r.archive.Reader(s.Key, g.N)
	all := segments.Backward(ctx, g.Tip.Offset)
	if s.forth() {
		all = segments.Sound(ctx)
	}
	for seg, err := range all {
		if !r.send(ctx, to, portion{seg: seg, err: err}) {
			return
		}
	}
}

// send hands a portion over. It returns false where no more is wanted.
func (r *ahead) send(ctx context.Context, to *stream, p portion) bool {
	if p.lent = len(p.seg.Data) > maxCopied; !p.lent && p.seg.Data != nil {
		select {
		case room := <-r.free:
			p.seg.Data = append(room[:0], p.seg.Data...)
		case <-to.left:
			return false
		case <-ctx.Done():
			return false
		}
	}
	select {
	case to.portions <- p:
	case <-to.left:
		if !p.lent {
			r.giveBack(to, p)
		}
		return false
	case <-ctx.Done():
		return false
	}
	if !p.lent {
		return true
	}
	select {
	case <-to.done:
		return true
	case <-to.left:
		return false
	case <-ctx.Done():
		return false
	}
}

// giveBack lets go of a portion that was looked through.
func (r *ahead) giveBack(to *stream, p portion) {
	switch {
	case p.lent:
		to.done <- struct{}{}
	case p.seg.Data != nil:
		r.free <- p.seg.Data
	}
}

// next gives the segments of the next generation, each valid until the one behind it. It must be called once for each
// generation of the sources, in their order; what it returns is to be ranged over once.
func (r *ahead) next(ctx context.Context) iter.Seq2[transcript.Segment, error] {
	return func(yield func(transcript.Segment, error) bool) {
		one, ok := <-r.streams
		if !ok {
			yield(transcript.Segment{}, ctx.Err())
			return
		}
		defer func() {
			close(one.left)
			for p := range one.portions {
				r.giveBack(one, p)
			}
		}()
		for p := range one.portions {
			more := yield(p.seg, p.err)
			r.giveBack(one, p)
			if !more {
				return
			}
		}
		if one.panicked != nil {
			panic(one.panicked)
		}
		if ctx.Err() != nil { // then the reader may have stopped anywhere
			yield(transcript.Segment{}, ctx.Err())
		}
	}
}
