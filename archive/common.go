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
	for i := 0; i < len(ours) && i < len(theirs) && ours[i] == theirs[i]; i++ {
		n = ours[i].end
	}
	for most := min(r.gen.Offset, other.gen.Offset); n < most; {
		span := transcript.Span{Off: n, Len: min(maxFrame, most-n)}
		same, err := r.same(ctx, other, span)
		if n += same; err != nil || same < span.Len {
			return n, err
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

// blockSum is the end of a block and the hash of its bytes.
type blockSum struct {
	end int64
	sum mark.Hash
}

// sums returns those of the blocks before the first one that is damaged.
func (r *Reader) sums(ctx context.Context) (all []blockSum, err error) {
	_, err = r.generationAnd(ctx, func(tx *bolt.Tx) {
		all = nil
		for _, b := range r.gen.Blocks {
			e, _, err := envelopeOf(tx, b.ID)
			if err != nil {
				return
			}
			all = append(all, blockSum{b.end(), e.Sum})
		}
	})
	return all, err
}
