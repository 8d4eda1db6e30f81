package archive

import (
	"context"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Common returns how many bytes from the first one on are the same in the generations of two readers, also of different
// archives. Blocks with the same hash at the same offset are not decoded, so that it usually decodes two blocks of each. It
// fails with ErrNotFound if a generation is missing, with a DamageError if bytes that it must compare are damaged.
func (r *Reader) Common(ctx context.Context, other *Reader) (n int64, err error) {
	ours, err := r.sums(ctx)
	if err != nil {
		return 0, err
	}
	theirs, err := other.sums(ctx)
	if err != nil {
		return 0, err
	}
	for i, j := 0, 0; i < len(ours) && j < len(theirs); {
		a, b := ours[i], theirs[j]
		end := min(a.End(), b.End())
		if a != b || a.sum == (mark.Hash{}) {
			same, err := r.same(ctx, other, transcript.Span{Off: n, Len: end - n})
			if n += same; err != nil || n < end {
				return n, err
			}
		}
		n = end
		if a.End() == end {
			i++
		}
		if b.End() == end {
			j++
		}
	}
	return n, nil
}

// same returns how many bytes of a span are the same.
func (r *Reader) same(ctx context.Context, other *Reader, span transcript.Span) (int64, error) {
	ours, err := r.Span(ctx, span)
	if err != nil {
		return 0, err
	}
	theirs, err := other.Span(ctx, span)
	if err != nil {
		return 0, err
	}
	n := 0
	for n < len(ours) && ours[n] == theirs[n] {
		n++
	}
	return int64(n), nil
}

// stretch is a part of a generation and the hash of its bytes.
type stretch struct {
	transcript.Span
	sum mark.Hash // zero if it is only a part of a block
}

// sums returns the stretches of the generation that are in one block each, in order and without gaps.
func (r *Reader) sums(ctx context.Context) (all []stretch, err error) {
	if _, err := r.generation(ctx); err != nil {
		return nil, err
	}
	err = r.a.view(ctx, func(tx *bolt.Tx) error {
		all = nil
		return r.eachBlock(tx, transcript.Span{Len: r.layout.size()}, func(b block, part transcript.Span) error {
			one := stretch{Span: part}
			if b.Len == part.Len {
				one.sum = b.Sum
			}
			all = append(all, one)
			return nil
		})
	})
	return all, err
}
