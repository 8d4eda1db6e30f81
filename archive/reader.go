package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/transcript"
)

const (
	cacheSize   = 8 << 20 // bytes of decoded blocks that a Reader keeps
	fetchSize   = 4 << 20 // raw bytes that one locked read fetches at most, but for its first block
	segmentSize = 2 << 20 // bytes from which a segment is given out; with one block more it stays below 4 MB
	pieceSize   = 8 << 20 // bytes from which a line is given out in pieces
)

// Reader reads one generation of a session. Each block that it does not hold costs one short locked read; nothing is
// locked between calls and yields. It is not safe for concurrent use.
type Reader struct {
	a      *Archive
	key    transcript.Key
	n      int // the generation asked for, 0: the current one
	stream stream
	tip    int64 // of the stream when last seen
	cache  []cached
	size   int // bytes in cache

	ahead   []stored // blocks that were fetched with the one asked for
	arena   []byte   // their bytes as stored
	scratch []byte   // room for the raw bytes of the next block
}

// cached is a block with its raw bytes.
type cached struct {
	block
	raw []byte
}

// stored is a block as it was read: its bytes are arena[from:to].
type stored struct {
	block
	from, to int
}

// Reader returns a reader of a generation; 0 means the one that is current at the first read.
func (a *Archive) Reader(k transcript.Key, generation int) *Reader {
	return &Reader{a: a, key: k, n: generation}
}

// Span returns the bytes of a span, which must lie before the tip (else ErrNotFound). It takes span.Len bytes.
func (r *Reader) Span(ctx context.Context, span transcript.Span) ([]byte, error) {
	if err := r.check(ctx, span); err != nil {
		return nil, err
	}
	out := make([]byte, 0, span.Len)
	for data, err := range r.bytes(ctx, span, true) {
		if err != nil {
			return nil, err
		}
		out = append(out, data...)
	}
	return out, nil
}

// check fails where span is not within the generation.
func (r *Reader) check(ctx context.Context, span transcript.Span) error {
	if span.Off >= 0 && span.Len >= 0 && span.End() >= span.Off && span.End() <= r.tip {
		return nil
	}
	g, err := r.generation(ctx)
	if err != nil {
		return err
	}
	if span.Off < 0 || span.Len < 0 || span.End() < span.Off || span.End() > g.Offset {
		return fmt.Errorf("read bytes %d to %d of generation %d of session %s %s: %w", span.Off, span.End(),
			r.stream.generation(), r.key.Agent, r.key.ID, ErrNotFound)
	}
	return nil
}

// generation looks the generation up, and makes it this reader's stream.
func (r *Reader) generation(ctx context.Context) (g generationRecord, err error) {
	return r.lookup(ctx, nil)
}

// lookup is generation that reads ahead in the same transaction, once the stream and its tip are known. Pages that cannot
// be read ahead do not keep it from telling the rest.
func (r *Reader) lookup(ctx context.Context, ahead func(tx *bolt.Tx, tip int64)) (g generationRecord, err error) {
	err = r.a.view(ctx, func(tx *bolt.Tx) error {
		s, ok, err := getSession(tx, r.key)
		if err == nil && !ok {
			return ErrNotFound
		}
		if err == nil {
			if r.n == 0 {
				r.n = s.Generation
			}
			r.stream = newStream(s.Num, r.n)
			g, ok, err = getGeneration(tx, r.stream)
		}
		if err != nil {
			return r.damage(0, err)
		}
		if !ok {
			return ErrNotFound
		}
		if ahead != nil {
			ahead(tx, g.Offset)
		}
		return nil
	})
	if ahead != nil && errors.As(err, new(*DamageError)) {
		r.ahead = nil
		return r.lookup(ctx, nil)
	}
	if err = r.a.absent(ctx, err); errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("read generation %d of session %s %s: %w", r.n, r.key.Agent, r.key.ID, err)
	}
	r.tip = g.Offset
	return g, err
}

// bytes yields the bytes of a checked span, in portions that are valid until the next.
func (r *Reader) bytes(ctx context.Context, span transcript.Span, keep bool) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		at := span.Off
		for b, err := range r.blocks(ctx, at, span.End(), keep) {
			if err != nil {
				yield(nil, err)
				return
			}
			data := b.raw[at-b.Off : min(span.End(), b.end())-b.Off]
			at = b.end()
			if !yield(data, nil) {
				return
			}
		}
	}
}

// blocks yields the checked blocks that hold the bytes from off to end, in order; each is valid until the next.
// With keep they go through the cache. A block may begin before the end of the last one, where a frame has taken the
// place of tail pieces meanwhile.
func (r *Reader) blocks(ctx context.Context, off, end int64, keep bool) iter.Seq2[cached, error] {
	return func(yield func(cached, error) bool) {
		r.ahead = r.ahead[:0]
		for off < end {
			b, ok := r.cached(off)
			if !ok {
				var err error
				if b, err = r.load(ctx, off, end, keep); err != nil {
					yield(cached{}, err)
					return
				}
			}
			off = b.end()
			if !yield(b, nil) {
				return
			}
		}
	}
}

// load returns the block at off, from what was read ahead or from the file.
func (r *Reader) load(ctx context.Context, off, end int64, keep bool) (cached, error) {
	if len(r.ahead) == 0 || off < r.ahead[0].Off || off >= r.ahead[0].end() {
		if err := r.fetch(ctx, off, end); err != nil {
			return cached{}, err
		}
	}
	b := r.ahead[0]
	r.ahead = r.ahead[1:]
	if keep && b.Len < int64(cap(r.scratch)/2) {
		r.scratch = nil // a small block must not keep a large buffer
	}
	raw, err := r.a.unpack(b.block, r.arena[b.from:b.to], r.scratch)
	if err != nil {
		return cached{}, r.damage(b.Off, err)
	}
	got := cached{b.block, raw}
	r.scratch = raw
	if keep {
		r.scratch = r.keep(got)
	}
	return got, nil
}

// fetch reads the stored blocks from off on, up to end or fetchSize, in one transaction.
func (r *Reader) fetch(ctx context.Context, off, end int64) error {
	if r.stream == (stream{}) {
		if _, err := r.generation(ctx); err != nil {
			return err
		}
	}
	err := r.a.view(ctx, func(tx *bolt.Tx) error { return r.gather(tx, off, end) })
	var damaged *DamageError
	if errors.As(err, &damaged) && len(r.ahead) > 0 {
		return nil // what stands before the damage is good; the damage is met again when its turn comes
	}
	return err
}

// gather is fetch within a transaction.
func (r *Reader) gather(tx *bolt.Tx, off, end int64) error {
	r.ahead, r.arena = nil, r.arena[:0]
	for at := off; at < end && (at == off || at-off < fetchSize); {
		b, err := r.take(tx, at)
		if err != nil {
			return err
		}
		at = b.end()
	}
	return nil
}

// take reads the stored block that holds the byte at off, behind those that were read ahead.
func (r *Reader) take(tx *bolt.Tx, off int64) (block, error) {
	b, err := findBlock(tx, r.stream, off)
	var arena []byte
	if err == nil {
		r.arena = slices.Grow(r.arena, int(min(b.Len, maxFrame)/3)) // about what it takes: text packs well
		arena, err = getChunks(b.bucket(tx), b.ID, r.arena)
	}
	if err != nil {
		return b, r.damage(off, err)
	}
	r.ahead = append(r.ahead, stored{b, len(r.arena), len(arena)})
	r.arena = arena
	return b, nil
}

func (r *Reader) cached(off int64) (cached, bool) {
	for i, b := range r.cache {
		if off >= b.Off && off < b.end() {
			copy(r.cache[1:i+1], r.cache[:i]) // the last used stands first
			r.cache[0] = b
			return b, true
		}
	}
	return cached{}, false
}

// keep puts b into the cache and returns the buffer of what had to go for it, if anything had.
func (r *Reader) keep(b cached) (free []byte) {
	r.cache = slices.Insert(r.cache, 0, b)
	r.size += cap(b.raw)
	for r.size > cacheSize && len(r.cache) > 1 {
		last := len(r.cache) - 1
		free = r.cache[last].raw
		r.size -= cap(free)
		r.cache = r.cache[:last]
	}
	return free
}

func (r *Reader) damage(off int64, err error) error {
	return r.a.damageIn(r.key, transcript.Cursor{Generation: r.n, Offset: off}, err)
}

// Segments yields the whole generation, as it is when the iteration begins, in segments as transcript.Segment
// describes them, of at most 4 MB but for longer lines. The last one, which is empty for an empty generation, has Rest
// set, and its End is the stored tip; the other cursors carry no fingerprints. The last one comes only after the hash
// of the whole has been found right. An error ends the iteration.
func (r *Reader) Segments(ctx context.Context) iter.Seq2[transcript.Segment, error] {
	return func(yield func(transcript.Segment, error) bool) {
		g, err := r.generation(ctx)
		if err != nil {
			yield(transcript.Segment{}, err)
			return
		}
		c := collector{start: transcript.Cursor{Generation: r.n}}
		sum := sha256.New()
		at := int64(0)
		for data, err := range r.bytes(ctx, transcript.Span{Len: g.Offset}, false) {
			if err != nil {
				yield(transcript.Segment{}, err)
				return
			}
			sum.Write(data)
			at += int64(len(data))
			if seg, ok := c.add(data, at == g.Offset); ok && !yield(seg, nil) {
				return
			}
		}
		if err := g.matches(sum); err != nil {
			yield(transcript.Segment{}, r.damage(g.Offset, err))
			return
		}
		yield(c.rest(g.cursor(r.n)), nil)
	}
}

// collector turns portions of bytes into segments of whole lines.
type collector struct {
	start transcript.Cursor // of the next segment
	buf   []byte
	given int // bytes of buf that were given out
}

// add takes the next bytes and returns the next segment, if they make one. The last bytes of all make none.
func (c *collector) add(data []byte, last bool) (transcript.Segment, bool) {
	c.shift()
	c.buf = append(c.buf, data...)
	if last || len(c.buf) < segmentSize {
		return transcript.Segment{}, false
	}
	n := bytes.LastIndexByte(c.buf, '\n') + 1
	if n == 0 && len(c.buf) < pieceSize {
		return transcript.Segment{}, false
	}
	if n == 0 {
		n = len(c.buf)
	}
	seg := transcript.Segment{Start: c.start, Data: c.buf[:n], End: c.start}
	seg.End.Offset += int64(n)
	c.start, c.given = seg.End, n
	return seg, true
}

func (c *collector) shift() {
	c.buf = c.buf[:copy(c.buf, c.buf[c.given:])]
	c.given = 0
}

// rest returns the last segment.
func (c *collector) rest(tip transcript.Cursor) transcript.Segment {
	c.shift()
	return transcript.Segment{Start: c.start, Data: c.buf, End: tip, Rest: true}
}
