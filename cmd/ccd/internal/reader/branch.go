package reader

import (
	"bytes"
	"context"

	"ccd/internal/transcript"
)

// Branch is a session as one machine has it. The same session on two machines stays two branches: their bytes are never
// merged.
type Branch struct {
	*Library
	Entry
}

// Same reports whether the current generations of two branches have the same number and the same bytes.
func (b Branch) Same(other Branch) bool {
	x, y := b.Generations[len(b.Generations)-1], other.Generations[len(other.Generations)-1]
	return x.N == y.N && x.Sum == y.Sum
}

// Common returns how many records the current generations of two branches have in common from the first one on. It reads
// little more than what differs in the shorter one. It returns -1 if the session is not a list of lines.
func (b Branch) Common(ctx context.Context, other Branch) (records int, err error) {
	x, err := b.Generation(0)
	if err != nil {
		return 0, err
	}
	y, err := other.Generation(0)
	switch {
	case err != nil:
		return 0, err
	case x.Sum == y.Sum:
		return b.Kept.Records, nil
	case b.Unlined():
		return -1, nil
	}
	n, err := b.Archive.Reader(b.Key, x.N).Common(ctx, other.Archive.Reader(other.Key, y.N))
	if err != nil {
		return 0, err
	}
	if b.apart(x.N, n) > other.apart(y.N, n) {
		b, x = other, y
	}
	return b.recordsBefore(ctx, x.N, n)
}

// known returns the offset in a generation up to which its records were counted, and their number.
func (b Branch) known(generation int) (off int64, records int) {
	if b.Kept.At.Generation != generation {
		return 0, 0
	}
	return b.Kept.At.Offset, b.Kept.Records
}

// apart returns how many bytes recordsBefore reads.
func (b Branch) apart(generation int, off int64) int64 {
	at, _ := b.known(generation)
	return max(at-off, off-at)
}

// recordsBefore returns the number of whole records before an offset.
func (b Branch) recordsBefore(ctx context.Context, generation int, off int64) (int, error) {
	at, n := b.known(generation)
	sign, from, to := 1, at, off
	if off < at {
		sign, from, to = -1, off, at
	}
	r := b.Archive.Reader(b.Key, generation)
	for from < to {
		part, err := r.Span(ctx, transcript.Span{Off: from, Len: min(to-from, 1<<20)})
		if err != nil {
			return 0, err
		}
		n += sign * bytes.Count(part, []byte{'\n'})
		from += int64(len(part))
	}
	return n, nil
}
