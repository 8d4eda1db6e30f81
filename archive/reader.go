package archive

import (
	"bytes"
	"cmp"
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
	cacheSize   = 8 << 20                // bytes of blocks that a Reader keeps, beside those of one read
	fetchLeast  = 256 << 10              // raw bytes that one locked read fetches, if there are so many: to open the file takes as long
	fetchSize   = 4 << 20                // the same, at most, except for its first block
	segmentSize = 2 << 20                // minimum size of a segment; with one more block it stays below 4 MB
	pieceSize   = transcript.MaxLine + 1 // size from which a line is split
)

// Reader reads one generation of a session. Each block that is not cached costs one short locked read; nothing is
// locked between calls and yields. It is not safe for concurrent use.
type Reader struct {
	a    *Archive
	key  transcript.Key
	n    int              // the requested generation, 0: the current one
	gen  generationRecord // as last read
	file string           // from which it was read
	kept []fetched        // blocks read ahead or used, the last one used first

	before map[int]*Reader // of other files of its story, by life
	of     *transcript.Session
	head   []byte
}

// fetched is a block with its raw bytes.
type fetched struct {
	block
	raw []byte
}

// Reader returns a reader of a generation; 0 means the current one at the first read.
func (a *Archive) Reader(k transcript.Key, generation int) *Reader {
	return &Reader{a: a, key: k, n: generation}
}

// Of gives the reader a session that is perhaps not archived yet, and how it begins.
func (r *Reader) Of(s transcript.Session, head []byte) *Reader {
	r.of, r.head = &s, head
	return r
}

// sibling returns the reader of another file of the generation's story.
func (r *Reader) sibling(ctx context.Context, back int) (*Reader, error) {
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
		s, err := r.a.find(ctx, r.key, 1)
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
	if back, at := span.Generation(); back > 0 {
		other, err := r.sibling(ctx, back)
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
	inside := func() bool {
		return span.Off >= 0 && span.Len >= 0 && span.End() >= span.Off && span.End() <= r.gen.Offset
	}
	if r.file != "" && inside() {
		return nil
	}
	if _, err := r.begin(ctx, span.Off, span.End()); err != nil {
		return err
	}
	if !inside() {
		return fmt.Errorf("read bytes %d to %d of generation %d of session %s %s: %w", span.Off, span.End(),
			r.n, r.key.Agent, r.key.ID, ErrNotFound)
	}
	return nil
}

// generation reads the generation's record.
func (r *Reader) generation(ctx context.Context) (generationRecord, error) { return r.begin(ctx, 0, 0) }

// begin reads the generation's record, and in the same transaction its blocks from off to end ahead.
func (r *Reader) begin(ctx context.Context, off, end int64) (generationRecord, error) {
	err := r.a.view(ctx, func(tx *bolt.Tx) error {
		err := r.load(tx)
		if err == nil && off < end {
			_ = r.fetch(tx, off, end) // damage is reported when it is reached
		}
		return err
	})
	if err = r.a.explainMissing(ctx, err); errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("read generation %d of session %s %s: %w", r.n, r.key.Agent, r.key.ID, err)
	}
	return r.gen, err
}

// load reads the generation's record.
func (r *Reader) load(tx *bolt.Tx) error {
	s, ok, err := getSession(tx, r.key)
	if err == nil && !ok {
		return ErrNotFound
	}
	if err == nil {
		r.n = cmp.Or(r.n, s.Generation)
		if r.n < 1 || r.n > s.Generation {
			return ErrNotFound
		}
		var g generationRecord
		if g, err = getGeneration(tx, generationOf{r.key, r.n}); err == nil {
			r.gen = g
		}
	}
	if err != nil {
		return r.damage(0, err)
	}
	if file := fileOf(tx); file != r.file { // IDs of blocks are those of one file
		r.file, r.kept = file, nil
	}
	return nil
}

// portion is a stretch of a generation's bytes in one block. Its data is valid until the next portion, and nil if
// damaged.
type portion struct {
	off, end int64
	data     []byte
	id       uint64 // of the block
}

// portions yields the bytes from off to end, which must be before the tip. A damaged stretch is yielded with its
// DamageError, and the iteration continues after it; any other error ends it.
func (r *Reader) portions(ctx context.Context, off, end int64) iter.Seq2[portion, error] {
	return func(yield func(portion, error) bool) {
		for off < end {
			b, err := r.block(ctx, off, end)
			var d *DamageError
			if err != nil && !errors.As(err, &d) {
				yield(portion{}, err)
				return
			}
			p := portion{off: off, end: min(end, b.end()), id: b.ID}
			if err != nil {
				err = r.damage(off, d.Err)
			} else {
				p.data = b.raw[off-b.Off : p.end-b.Off]
			}
			if off = p.end; !yield(p, err) {
				return
			}
		}
	}
}

// block returns the checked block that contains the byte at an offset: one that is kept, or by reading ahead, but not beyond end. If it
// is damaged, it returns its place.
func (r *Reader) block(ctx context.Context, off, end int64) (fetched, error) {
	if !r.keeps(off) {
		err := r.a.view(ctx, func(tx *bolt.Tx) error {
			if err := r.load(tx); err != nil { // pieces may have been merged
				return err
			}
			if off >= r.gen.Offset {
				return ErrNotFound
			}
			return r.fetch(tx, off, end)
		})
		if !r.keeps(off) { // otherwise the blocks before the damage are good
			return fetched{block: r.gen.at(off)}, err
		}
	}
	return r.kept[0], nil
}

// find returns the number of a block among those that are kept, or -1.
func (r *Reader) find(place block) int {
	return slices.IndexFunc(r.kept, func(b fetched) bool { return b.ID == place.ID && place.ID != 0 })
}

// keeps reports whether the block at an offset is kept, and makes it the first one.
func (r *Reader) keeps(off int64) bool {
	place := r.gen.at(off)
	i := r.find(place)
	if i < 0 {
		return false
	}
	b := r.kept[i]
	copy(r.kept[1:i+1], r.kept[:i])
	b.block = place // in another generation it may have another one
	r.kept[0] = b
	return true
}

// fetch reads the stored blocks from off to end ahead, but at least fetchLeast and at most fetchSize bytes. It ends with damage.
func (r *Reader) fetch(tx *bolt.Tx, off, end int64) (err error) {
	var ahead []fetched
	end = min(max(end, off+fetchLeast), off+fetchSize)
	for _, b := range r.gen.Blocks {
		if b.end() <= off || r.find(b) >= 0 {
			continue
		}
		if b.Off >= end {
			break
		}
		err = r.a.guard(func() error {
			value, err := getBlock(tx, b.ID)
			var raw []byte
			if err == nil {
				raw, err = r.a.unpack(b, value)
			}
			if err != nil {
				return &DamageError{Err: err}
			}
			ahead = append(ahead, fetched{b, raw})
			return nil
		})
		if err != nil {
			break
		}
	}
	r.kept = append(ahead, r.kept...)
	size := 0
	for i, b := range r.kept {
		if size += len(b.raw); size > cacheSize && i >= max(1, len(ahead)) {
			r.kept = slices.Delete(r.kept, i, len(r.kept))
			break
		}
	}
	return err
}

func (r *Reader) damage(off int64, err error) error {
	return r.a.damageIn(r.key, transcript.Cursor{Generation: r.n, Offset: off}, err)
}

// Segments yields the whole generation, as it is when the iteration begins, in segments of at most 4 MB except for
// longer lines (see transcript.Segment). The last one, which is empty for an empty generation, has Rest set, and its
// End is the stored tip; the other cursors have no fingerprints. The last one is yielded only after the hash of the
// generation was checked. An error ends the iteration.
func (r *Reader) Segments(ctx context.Context) iter.Seq2[transcript.Segment, error] {
	return r.segments(ctx, 0, false)
}

// SegmentsFrom is Segments from an offset on. The hash of the generation is not checked. An error ends the iteration.
func (r *Reader) SegmentsFrom(ctx context.Context, off int64) iter.Seq2[transcript.Segment, error] {
	return r.segments(ctx, off, false)
}

// SegmentsPastDamage is like Segments, but continues after damage: it yields a damaged stretch as a segment without
// data, with its DamageError. The segment before it has Rest set. The hash of the generation is not checked. Any other
// error ends the iteration.
func (r *Reader) SegmentsPastDamage(ctx context.Context) iter.Seq2[transcript.Segment, error] {
	return r.segments(ctx, 0, true)
}

func (r *Reader) segments(ctx context.Context, from int64, pastDamage bool) iter.Seq2[transcript.Segment, error] {
	return func(yield func(transcript.Segment, error) bool) {
		g, err := r.begin(ctx, from, from+fetchSize)
		if err != nil {
			yield(transcript.Segment{}, err)
			return
		}
		at := func(off int64) transcript.Cursor { return transcript.Cursor{Generation: r.n, Offset: off} }
		c, sum, whole := collector{start: at(from)}, sha256.New(), from == 0 && !pastDamage
		for p, err := range r.portions(ctx, from, g.Offset) {
			if pastDamage && errors.As(err, new(*DamageError)) {
				if !yield(c.rest(at(p.off)), nil) || !yield(transcript.Segment{Start: at(p.off), End: at(p.end)}, err) {
					return
				}
				c = collector{start: at(p.end), buf: c.buf[:0]}
				continue
			}
			if err != nil {
				yield(transcript.Segment{}, err)
				return
			}
			if whole {
				sum.Write(p.data)
			}
			if seg, ok := c.add(p.data, p.end == g.Offset); ok && !yield(seg, nil) {
				return
			}
		}
		if whole {
			if err := g.matches(sum); err != nil {
				yield(transcript.Segment{}, r.damage(g.Offset, err))
				return
			}
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

// add appends bytes and returns the next segment, if it is complete. The last bytes are left to rest.
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
	n = cmp.Or(n, len(c.buf))
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
