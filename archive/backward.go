package archive

import (
	"bytes"
	"context"
	"errors"
	"iter"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/transcript"
)

// Backward yields the readable part of the first end bytes of a generation from end to start, in segments of whole
// lines. A line longer than transcript.MaxLine may be a segment of its own, without data. A damaged stretch is a
// segment without data, with its DamageError; a line that it cuts is treated as beginning after it. So is one that Only
// leaves out, with a *Skipped. Any other error ends the iteration. The hash of the generation is not checked. Backward
// fails with ErrNotFound if the generation is shorter than end.
func (r *Reader) Backward(ctx context.Context, end int64) iter.Seq2[transcript.Segment, error] {
	return func(yield func(transcript.Segment, error) bool) {
		_, err := r.generationAnd(ctx, func(tx *bolt.Tx) {
			r.ahead, r.arena = nil, r.arena[:0]
			if at := min(end, r.gen.Offset); at > 0 {
				_ = r.fetchBack(tx, at) // damage is reported when it is reached
			}
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
				if !b.skip(ctx, err, yield) {
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

// backward is the state of one Backward.
type backward struct {
	r    *Reader
	from int64  // bytes before it have not been read
	to   int64  // bytes from here on have been yielded
	head []byte // bytes in between: the end of a line whose start is not known yet
	long bool   // they are too many to keep, head is empty
	buf  []byte // for the next block and head
}

// next reads the block before from and returns a segment of the lines that are complete now, which may be empty.
func (b *backward) next(ctx context.Context) (transcript.Segment, error) {
	raw, off, err := b.r.portionBefore(ctx, b.from)
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
	b.buf = append(append(b.buf[:0], raw...), b.head...) // the previous segment is not used any more
	data := b.buf
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

// keep stores the end of a line.
func (b *backward) keep(head []byte) {
	if b.long = len(head) > transcript.MaxLine+1; b.long {
		head, b.buf = nil, nil
	}
	b.head = append(b.head[:0], head...)
	if cap(b.head) > pieceSize && len(head) < pieceSize/2 {
		b.head, b.buf = bytes.Clone(head), nil // do not keep large buffers after one long line
	}
}

func (b *backward) segment(start int64, data []byte) transcript.Segment {
	return transcript.Segment{
		Start: transcript.Cursor{Generation: b.r.n, Offset: start}, Data: data,
		End: transcript.Cursor{Generation: b.r.n, Offset: b.to},
	}
}

// pending returns the bytes that were read but not yielded, as a line that begins at from.
func (b *backward) pending() transcript.Segment {
	seg := b.segment(b.from, b.head)
	if b.long {
		seg.Data = nil
	}
	b.to, b.long, b.head = b.from, false, nil
	return seg
}

// skip yields the bytes after a stretch that is damaged or left out, then the stretch. It returns false if the iteration
// ends.
func (b *backward) skip(ctx context.Context, err error, yield func(transcript.Segment, error) bool) bool {
	var left *Skipped
	if !errors.As(err, &left) && !errors.As(err, new(*DamageError)) {
		yield(transcript.Segment{}, err)
		return false
	}
	if seg := b.pending(); seg.End.Offset > seg.Start.Offset && !yield(seg, nil) {
		return false
	}
	if left != nil {
		b.from -= left.size
	} else {
		b.from = b.r.gen.at(b.from - 1).Off
	}
	seg := b.segment(b.from, nil)
	b.to = b.from
	return yield(seg, err)
}

// portionBefore returns the bytes before end that are in one block, and their offset. They are valid until the next
// call.
func (r *Reader) portionBefore(ctx context.Context, end int64) ([]byte, int64, error) {
	b, err := r.block(ctx, end-1, func(tx *bolt.Tx) error { return r.fetchBack(tx, end) })
	if err != nil {
		return nil, 0, r.damageAt(end-1, err)
	}
	return b.raw[:end-b.Off], b.Off, nil
}

// skipCost is how much smaller than the block a filter is, at least.
const skipCost = 8

// fetchBack reads the stored blocks before end ahead, last one first, up to fetchSize bytes. Of a block that Only leaves out it
// reads the filter.
func (r *Reader) fetchBack(tx *bolt.Tx, end int64) error {
	size := int64(0)
	for i := r.gen.blockAt(end - 1); i >= 0 && size < fetchSize; i-- {
		b := r.gen.Blocks[i]
		if skipped, ok := r.skip(tx, i); ok && b.end() <= end {
			r.ahead = append(r.ahead, fetched{block: b, skipped: skipped})
			size += b.Len / skipCost
			continue
		}
		if err := r.fetchBlock(tx, b); err != nil {
			return err
		}
		size += b.Len
	}
	return nil
}
