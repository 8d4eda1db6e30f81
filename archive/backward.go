package archive

import (
	"bytes"
	"context"
	"errors"
	"iter"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/transcript"
)

// Backward yields what can be read of the first end bytes of a generation, from their end to their beginning: segments
// of whole lines, each one before the last. A line longer than transcript.MaxLine may be a segment of its own, without
// data. A damaged stretch is a segment without data, with its DamageError; a line that it cuts is taken to begin behind
// it. Any other error ends the iteration. The hash of the whole is not compared. It fails with ErrNotFound where the
// generation does not reach to end.
func (r *Reader) Backward(ctx context.Context, end int64) iter.Seq2[transcript.Segment, error] {
	return func(yield func(transcript.Segment, error) bool) {
		_, err := r.lookup(ctx, func(tx *bolt.Tx, tip int64) {
			_ = r.gatherBack(tx, min(end, tip)) // damage is met again when its turn comes
		})
		if err == nil {
			err = r.check(ctx, transcript.Span{Len: end})
		}
		if err != nil {
			yield(transcript.Segment{}, err)
			return
		}
		b := backward{r: r, from: end, to: end}
		for b.from > 0 {
			seg, err := b.next(ctx)
			if err != nil {
				if !b.pass(ctx, err, yield) {
					return
				}
				continue
			}
			if seg.End.Offset > seg.Start.Offset && !yield(seg, nil) {
				return
			}
		}
	}
}

// backward is how far a generation has been read from its end.
type backward struct {
	r    *Reader
	from int64  // what stands before it has not been read
	to   int64  // what stands from here on has been given
	head []byte // the bytes between: the end of a line whose beginning is not known yet
	long bool   // they are too many to be kept, and head is empty
	buf  []byte // room for the next block and head
}

// next reads the block before from and returns the lines that are whole by it. There may be none: their segment is
// empty.
func (b *backward) next(ctx context.Context) (transcript.Segment, error) {
	raw, off, err := b.r.loadBack(ctx, b.from, &b.buf, len(b.head))
	if err != nil {
		return transcript.Segment{}, err
	}
	if b.long {
		if i := bytes.LastIndexByte(raw, '\n') + 1; i > 0 {
			b.from = off + int64(i) // the rest of the block is read again
			return b.pending(), nil
		}
		if b.from = off; off > 0 {
			return transcript.Segment{}, nil
		}
		return b.pending(), nil
	}
	data := append(raw, b.head...)
	first := bytes.IndexByte(raw, '\n') + 1
	b.from = off
	if off == 0 {
		first = 0
	} else if first == 0 {
		b.keep(data)
		return transcript.Segment{}, nil
	}
	seg := b.segment(off+int64(first), data[first:])
	b.to = seg.Start.Offset
	b.keep(data[:first])
	return seg, nil
}

// keep remembers the end of a line.
func (b *backward) keep(head []byte) {
	if b.long = len(head) > transcript.MaxLine+1; b.long {
		head, b.buf = nil, nil
	}
	b.head = append(b.head[:0], head...)
	if cap(b.head) > pieceSize && len(head) < pieceSize/2 {
		b.head, b.buf = bytes.Clone(head), nil // one long line must not keep large buffers
	}
}

func (b *backward) segment(start int64, data []byte) transcript.Segment {
	return transcript.Segment{
		Start: transcript.Cursor{Generation: b.r.n, Offset: start}, Data: data,
		End: transcript.Cursor{Generation: b.r.n, Offset: b.to},
	}
}

// pending returns what was read and not given, as a line that begins at from.
func (b *backward) pending() transcript.Segment {
	seg := b.segment(b.from, b.head)
	if b.long {
		seg.Data = nil
	}
	b.to, b.long, b.head = b.from, false, nil
	return seg
}

// pass gives what stands behind a damaged stretch, and the stretch. It returns false where the iteration ends.
func (b *backward) pass(ctx context.Context, err error, yield func(transcript.Segment, error) bool) bool {
	if !errors.As(err, new(*DamageError)) {
		yield(transcript.Segment{}, err)
		return false
	}
	if seg := b.pending(); seg.End.Offset > seg.Start.Offset && !yield(seg, nil) {
		return false
	}
	b.from = b.r.before(ctx, b.from)
	seg := b.segment(b.from, nil)
	b.to = b.from
	return yield(seg, err)
}

// loadBack returns the bytes before end of the block that holds the last of them, in *buf, with room for more behind
// them, and where the block begins.
func (r *Reader) loadBack(ctx context.Context, end int64, buf *[]byte, more int) ([]byte, int64, error) {
	if len(r.ahead) == 0 || end <= r.ahead[0].Off || end > r.ahead[0].end() {
		if err := r.fetchBack(ctx, end); err != nil {
			return nil, 0, err
		}
	}
	b := r.ahead[0]
	r.ahead = r.ahead[1:]
	if need := int(b.Len) + more; cap(*buf) < need {
		*buf = make([]byte, 0, need+need/8)
	}
	raw, err := r.a.unpack(b.block, r.arena[b.from:b.to], *buf)
	if err != nil {
		return nil, 0, r.damage(b.Off, err)
	}
	return (*buf)[:len(raw)][:end-b.Off], b.Off, nil
}

// fetchBack reads the stored blocks before end, from the last one on, fetchSize at most but for the first, in one
// transaction.
func (r *Reader) fetchBack(ctx context.Context, end int64) error {
	err := r.a.view(ctx, func(tx *bolt.Tx) error { return r.gatherBack(tx, end) })
	if len(r.ahead) > 0 && errors.As(err, new(*DamageError)) {
		return nil // met again when its turn comes
	}
	return err
}

// gatherBack is fetchBack within a transaction.
func (r *Reader) gatherBack(tx *bolt.Tx, end int64) error {
	r.ahead, r.arena = nil, r.arena[:0]
	for at := end; at > 0 && (at == end || end-at < fetchSize); {
		b, err := r.take(tx, at-1)
		if err != nil {
			return err
		}
		at = b.Off
	}
	return nil
}

// before returns where the damaged stretch begins that ends at end: where the last block before it begins or, where a
// block is missing, ends. Where that cannot be told, it is everything.
func (r *Reader) before(ctx context.Context, end int64) (off int64) {
	_ = r.a.view(ctx, func(tx *bolt.Tx) error { // what cannot be read is as good as not there
		c := tx.Bucket(bucketManifest).Cursor()
		step := c.Prev
		if k, _ := c.Seek(manifestKey(r.stream, end)); k == nil {
			step = c.Last
		}
		k, v := step()
		if len(k) != len(r.stream)+8 || !bytes.HasPrefix(k, r.stream[:]) {
			return nil
		}
		off = manifestOffset(k)
		if b, err := parseBlock(k, v); err == nil && b.end() < end {
			off = b.end()
		}
		return nil
	})
	return max(0, min(off, end-1))
}
