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
	cacheSize   = 8 << 20 // decoded blocks that a Reader keeps
	fetchSize   = 4 << 20 // raw bytes that one locked read fetches at most, except for its first block
	segmentSize = 2 << 20 // minimum size of a segment; with one more block it stays below 4 MB
	pieceSize   = 8 << 20 // size from which a line is split
)

// Reader reads one generation of a session. Each block that is not cached costs one short locked read; nothing is
// locked between calls and yields. It is not safe for concurrent use.
type Reader struct {
	a       *Archive
	key     transcript.Key
	n       int    // the requested generation, 0: the current one
	stream  stream // of its track; block offsets are relative to it
	layout  layout // as last read
	cache   []cached
	size    int   // bytes in cache
	decoded int64 // bytes so far, for tests

	fetched []stored // blocks that were fetched ahead
	arena   []byte   // their stored bytes
	scratch []byte   // for the raw bytes of the next block
	whole   bool     // segments checks the hash of the generation at the end, not of each block's bytes
	only    []word   // of Only

	before map[int]*Reader // of other files of its story, by life
	of     *transcript.Session
	head   []byte
}

// cached is a block with its raw bytes.
type cached struct {
	block
	raw []byte
}

// stored is a fetched block: its bytes are arena[from:to].
type stored struct {
	block
	from, to int
	skipped  *Skipped // nil if it was fetched
}

// Reader returns a reader of a generation; 0 means the current one at the first read.
func (a *Archive) Reader(k transcript.Key, generation int) *Reader {
	return &Reader{a: a, key: k, n: generation}
}

// Of gives the reader a session that is perhaps not archived yet, and its first line.
func (r *Reader) Of(s transcript.Session, head []byte) *Reader {
	r.of, r.head = &s, head
	return r
}

// life returns the reader of another file of the generation's story.
func (r *Reader) life(ctx context.Context, back int) (*Reader, error) {
	if one := r.before[back]; one != nil {
		return one, nil
	}
	if r.before == nil {
		r.before = map[int]*Reader{}
	}
	if r.n == 0 {
		if _, err := r.generation(ctx); err != nil {
			return nil, err
		}
	}
	if back <= mostEarlier {
		if r.n <= back {
			return nil, fmt.Errorf("read generation %d of session %s %s: %w", r.n-back, r.key.Agent, r.key.ID, ErrNotFound)
		}
		r.before[back] = r.a.Reader(r.key, r.n-back)
		return r.before[back], nil
	}
	if r.of == nil {
		s, err := r.a.find(ctx, r.key)
		if err == nil {
			r.head, err = r.a.head(ctx, s)
		}
		if err != nil {
			return nil, err
		}
		r.of = &s.Session
	}
	all, err := r.a.parts(ctx, *r.of, r.head, mostParts)
	at := mostEarlier + len(all) - 1 - back
	if err == nil && (at < 0 || at >= len(all)) {
		err = fmt.Errorf("read what session %s %s continues: %w", r.key.Agent, r.key.ID, ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	r.before[back] = r.a.Reader(all[at].of.Key, all[at].of.Tip().Generation)
	return r.before[back], nil
}

// Span returns the bytes of a span, which may be one of another file of the story (Span.Earlier). It fails with ErrNotFound if the
// span is not before the tip. It allocates span.Len bytes.
func (r *Reader) Span(ctx context.Context, span transcript.Span) ([]byte, error) {
	if back, at := span.Life(); back > 0 {
		other, err := r.life(ctx, back)
		if err != nil {
			return nil, err
		}
		return other.Span(ctx, at)
	}
	if err := r.check(ctx, span); err != nil {
		return nil, err
	}
	out := make([]byte, 0, span.Len)
	for p, err := range r.portions(ctx, span.Off, span.End()) {
		if err != nil {
			return nil, err
		}
		out = append(out, p.data...)
	}
	return out, nil
}

// check fails if span is outside the generation.
func (r *Reader) check(ctx context.Context, span transcript.Span) error {
	if span.Off >= 0 && span.Len >= 0 && span.End() >= span.Off && span.End() <= r.layout.size() {
		return nil
	}
	g, err := r.generation(ctx)
	if err != nil {
		return err
	}
	if span.Off < 0 || span.Len < 0 || span.End() < span.Off || span.End() > g.Offset {
		return fmt.Errorf("read bytes %d to %d of generation %d of session %s %s: %w", span.Off, span.End(),
			r.n, r.key.Agent, r.key.ID, ErrNotFound)
	}
	return nil
}

// generation reads the generation's record and layout.
func (r *Reader) generation(ctx context.Context) (g generationRecord, err error) {
	return r.findGeneration(ctx, nil)
}

// findGeneration is generation with a callback that fetches blocks in the same transaction. If fetching fails because
// of damage, the record is read without it.
func (r *Reader) findGeneration(ctx context.Context, ahead func(tx *bolt.Tx, tip int64)) (g generationRecord, err error) {
	err = r.a.view(ctx, func(tx *bolt.Tx) (err error) {
		if g, err = r.load(tx); err == nil && ahead != nil && g.Offset > 0 {
			ahead(tx, g.Offset)
		}
		return err
	})
	if ahead != nil && errors.As(err, new(*DamageError)) {
		r.fetched = nil
		return r.findGeneration(ctx, nil)
	}
	if err = r.a.explainMissing(ctx, err); errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("read generation %d of session %s %s: %w", r.n, r.key.Agent, r.key.ID, err)
	}
	return g, err
}

// load reads the generation's record and layout.
func (r *Reader) load(tx *bolt.Tx) (g generationRecord, err error) {
	s, ok, err := getSession(tx, r.key)
	if err == nil && !ok {
		return g, ErrNotFound
	}
	if err == nil {
		if r.n == 0 {
			r.n = s.Generation
		}
		if r.n < 1 || r.n > s.Generation {
			return g, ErrNotFound
		}
		g, err = mustGeneration(tx, newStream(s.Num, r.n))
	}
	if err == nil {
		r.layout, _, err = getLayout(tx, s.Num, r.n, g)
	}
	if err != nil {
		return g, r.damage(0, err)
	}
	if track := newStream(s.Num, g.Track); track != r.stream {
		r.stream, r.cache, r.size, r.fetched = track, nil, 0, nil
	}
	return g, nil
}

// portion is a stretch of a generation's bytes in one block. Its data is valid until the next portion, and nil if
// damaged.
type portion struct {
	off, end int64
	data     []byte
	block    block // the block that was read; its offset is in the track
}

// portions yields the bytes from off to end, which must be before the tip. A damaged stretch is yielded with its
// DamageError, and the iteration continues after it; any other error ends it.
func (r *Reader) portions(ctx context.Context, off, end int64) iter.Seq2[portion, error] {
	return func(yield func(portion, error) bool) {
		for off < end {
			p, err := r.portion(ctx, off, end)
			if err != nil {
				if !errors.As(err, new(*DamageError)) {
					yield(portion{}, err)
					return
				}
				p = portion{off: off, end: min(end, r.damageEnd(ctx, off))}
			}
			if off = p.end; !yield(p, err) {
				return
			}
		}
	}
}

// portion reads the bytes from off to end that one block contains.
func (r *Reader) portion(ctx context.Context, off, end int64) (portion, error) {
	e := r.layout.find(off)
	end = min(end, e.end())
	at := e.At + off - e.Off
	b, err := r.block(ctx, at, func(tx *bolt.Tx) error { return r.fetch(tx, off, end) })
	if err != nil {
		return portion{}, r.damageAt(off, err)
	}
	data := b.raw[at-b.Off : min(b.Len, at-b.Off+end-off)]
	return portion{off, off + int64(len(data)), data, b.block}, nil
}

// block returns the checked block that contains the byte at an offset of the track: from the cache, from the fetched
// blocks, or by fetching.
func (r *Reader) block(ctx context.Context, at int64, ahead func(tx *bolt.Tx) error) (cached, error) {
	if b, ok := r.cached(at); ok {
		return b, nil
	}
	if len(r.fetched) == 0 || at < r.fetched[0].Off || at >= r.fetched[0].end() {
		err := r.a.view(ctx, ahead)
		if err != nil && (len(r.fetched) == 0 || !errors.As(err, new(*DamageError))) {
			return cached{}, err // otherwise the blocks before the damage are good
		}
	}
	b := r.fetched[0]
	r.fetched = r.fetched[1:]
	if b.skipped != nil {
		return cached{}, b.skipped
	}
	once := r.whole && len(r.layout) == 1 // each block is read once
	switch {
	case once && int64(cap(r.scratch)) < b.Len:
		r.scratch = make([]byte, 0, max(b.Len, min(maxFrame, 2*int64(cap(r.scratch)))))
	case !once && b.Len < int64(cap(r.scratch)/2):
		r.scratch = nil // do not keep a large buffer for a small block
	}
	raw, err := r.a.unpack(b.block, r.arena[b.from:b.to], r.scratch, r.whole)
	if err != nil {
		return cached{}, &DamageError{Err: err}
	}
	got := cached{b.block, raw}
	r.decoded += b.Len
	if !once {
		r.scratch = r.keep(got)
	}
	return got, nil
}

// fetch reads the stored blocks from off to end, but at most fetchSize bytes, and not beyond the extent.
func (r *Reader) fetch(tx *bolt.Tx, off, end int64) error {
	r.fetched, r.arena = nil, r.arena[:0]
	e := r.layout.find(off)
	from := e.At + off - e.Off
	end = from + min(end-off, e.end()-off, fetchSize)
	for at := from; at < end; {
		b, err := r.fetchBlock(tx, at)
		if err != nil {
			return err
		}
		at = b.end()
	}
	return nil
}

// fetchBlock reads the stored block that contains the byte at an offset of the track, and appends it to fetched.
func (r *Reader) fetchBlock(tx *bolt.Tx, at int64) (block, error) {
	b, err := findBlock(tx, r.stream, at)
	var value []byte
	if err == nil {
		value, err = b.value(tx)
	}
	if err != nil {
		return b, &DamageError{Err: err}
	}
	from := len(r.arena)
	r.arena = append(r.arena, value...)
	r.fetched = append(r.fetched, stored{block: b, from: from, to: len(r.arena)})
	return b, nil
}

// eachBlock calls fn with the blocks of a span of the generation, and with the part of the span that is in each.
func (r *Reader) eachBlock(tx *bolt.Tx, span transcript.Span, fn func(b block, part transcript.Span) error) error {
	for off := span.Off; off < span.End(); {
		e := r.layout.find(off)
		at := e.At + off - e.Off
		b, err := findBlock(tx, r.stream, at)
		if err != nil {
			return r.damage(off, err)
		}
		part := transcript.Span{Off: off, Len: min(b.end()-at, e.end()-off, span.End()-off)}
		if err := fn(b, part); err != nil {
			return err
		}
		off = part.End()
	}
	return nil
}

// damageEnd returns where intact bytes may begin after a damaged one at off: at the next block or the next extent.
func (r *Reader) damageEnd(ctx context.Context, off int64) int64 {
	r.fetched = nil
	e := r.layout.find(off)
	next := e.end()
	_ = r.a.view(ctx, func(tx *bolt.Tx) error { // if it cannot be read, skip the whole extent
		at := e.At + off - e.Off
		k, _ := tx.Bucket(bucketManifest).Cursor().Seek(manifestKey(r.stream, at+1))
		if bytes.HasPrefix(k, r.stream[:]) && len(k) == len(r.stream)+8 {
			next = min(next, off+manifestOffset(k)-at)
		}
		return nil
	})
	return next
}

func (r *Reader) cached(off int64) (cached, bool) {
	for i, b := range r.cache {
		if off >= b.Off && off < b.end() {
			copy(r.cache[1:i+1], r.cache[:i]) // most recently used first
			r.cache[0] = b
			return b, true
		}
	}
	return cached{}, false
}

// keep caches b and returns the buffer of an evicted block, if any.
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

// damageAt adds the place to an error that means damage, and returns any other error as it is.
func (r *Reader) damageAt(off int64, err error) error {
	var d *DamageError
	if errors.As(err, &d) {
		return r.damage(off, d.Err)
	}
	return err
}

// Segments yields the whole generation, as it is when the iteration begins, in segments of at most 4 MB except for
// longer lines (see transcript.Segment). The last one, which is empty for an empty generation, has Rest set, and its
// End is the stored tip; the other cursors have no fingerprints. The last one is yielded only after the hash of the
// generation was checked. An error ends the iteration.
func (r *Reader) Segments(ctx context.Context) iter.Seq2[transcript.Segment, error] {
	return r.segments(ctx, false)
}

// SegmentsPastDamage is like Segments, but continues after damage: it yields a damaged stretch as a segment without
// data, with its DamageError. The segment before it has Rest set. The hash of the generation is not checked. Any other
// error ends the iteration.
func (r *Reader) SegmentsPastDamage(ctx context.Context) iter.Seq2[transcript.Segment, error] {
	return r.segments(ctx, true)
}

func (r *Reader) segments(ctx context.Context, pastDamage bool) iter.Seq2[transcript.Segment, error] {
	return func(yield func(transcript.Segment, error) bool) {
		g, err := r.findGeneration(ctx, func(tx *bolt.Tx, tip int64) {
			_ = r.fetch(tx, 0, tip) // damage is reported when it is reached
		})
		if err != nil {
			yield(transcript.Segment{}, err)
			return
		}
		if !pastDamage {
			r.whole, r.cache, r.size = true, nil, 0
			defer func() { r.whole, r.cache, r.size, r.scratch = false, nil, 0, nil }()
		}
		at := func(off int64) transcript.Cursor { return transcript.Cursor{Generation: r.n, Offset: off} }
		c, sum := collector{start: at(0)}, sha256.New()
		for p, err := range r.portions(ctx, 0, g.Offset) {
			if pastDamage && errors.As(err, new(*DamageError)) {
				if !yield(c.rest(at(p.off)), nil) || !yield(transcript.Segment{Start: at(p.off), End: at(p.end)}, err) {
					return
				}
				c = collector{start: at(p.end)}
				continue
			}
			if err != nil {
				yield(transcript.Segment{}, err)
				return
			}
			sum.Write(p.data)
			if seg, ok := c.add(p.data, p.end == g.Offset); ok && !yield(seg, nil) {
				return
			}
		}
		if err := g.matches(sum); err != nil && !pastDamage {
			yield(transcript.Segment{}, r.damage(g.Offset, err))
			return
		}
		yield(c.rest(g.cursor(r.n)), nil)
	}
}

// collector joins portions of bytes into segments of whole lines.
type collector struct {
	start   transcript.Cursor // of the next segment
	buf     []byte
	yielded int // bytes of buf that were yielded
}

// add appends bytes and returns the next segment, if it is complete. The last bytes are left to rest. A frame of whole
// lines is a segment, without a copy.
func (c *collector) add(data []byte, last bool) (transcript.Segment, bool) {
	c.shift()
	if len(c.buf) == 0 && !last && len(data) >= minFrame && data[len(data)-1] == '\n' {
		seg := transcript.Segment{Start: c.start, Data: data[:len(data):len(data)], End: c.start}
		seg.End.Offset += int64(len(data))
		c.start = seg.End
		return seg, true
	}
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
	c.start, c.yielded = seg.End, n
	return seg, true
}

func (c *collector) shift() {
	c.buf = c.buf[:copy(c.buf, c.buf[c.yielded:])]
	c.yielded = 0
}

// rest returns the last segment.
func (c *collector) rest(tip transcript.Cursor) transcript.Segment {
	c.shift()
	return transcript.Segment{Start: c.start, Data: c.buf, End: tip, Rest: true}
}
