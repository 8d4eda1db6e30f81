package archive

import (
	"context"
	"errors"
	"iter"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/transcript"
)

// Sound yields what can be read of a generation, in segments as Segments does, also where some of it is damaged. For
// each stretch that is, it yields a segment without data, from where the stretch begins to where sound bytes begin
// again, with its DamageError, and goes on. The segment before such a stretch has Rest set. The hash of the whole is
// not compared. Any other error ends it.
func (r *Reader) Sound(ctx context.Context) iter.Seq2[transcript.Segment, error] {
	return func(yield func(transcript.Segment, error) bool) {
		g, err := r.lookup(ctx, func(tx *bolt.Tx, tip int64) {
			_ = r.gather(tx, 0, tip) // damage is met again when its turn comes
		})
		if err != nil {
			yield(transcript.Segment{}, err)
			return
		}
		c := collector{start: transcript.Cursor{Generation: r.n}}
		for at := int64(0); at < g.Offset; {
			b, err := r.load(ctx, at, g.Offset, false)
			if err != nil {
				next, bad := r.passed(ctx, at, err)
				if bad != nil {
					yield(transcript.Segment{}, bad)
					return
				}
				here, there := transcript.Cursor{Generation: r.n, Offset: at}, transcript.Cursor{Generation: r.n, Offset: next}
				if !yield(c.rest(here), nil) || !yield(transcript.Segment{Start: here, End: there}, err) {
					return
				}
				c, at = collector{start: there}, next
				continue
			}
			data := b.raw[at-b.Off : min(b.end(), g.Offset)-b.Off]
			at = b.end()
			if seg, ok := c.add(data, at >= g.Offset); ok && !yield(seg, nil) {
				return
			}
		}
		yield(c.rest(g.cursor(r.n)), nil)
	}
}

// passed returns where the next block behind a damaged one starts; bad is err where that is no damage.
func (r *Reader) passed(ctx context.Context, at int64, err error) (next int64, bad error) {
	if !errors.As(err, new(*DamageError)) {
		return 0, err
	}
	next, bad = r.behind(ctx, at)
	return min(next, r.tip), bad
}

// Published returns the originals of a generation whose IDs the index holds, in the order of their hashes. It reads the
// whole index. Damaged entries are left out.
func (a *Archive) Published(ctx context.Context, k transcript.Key, generation int) ([]transcript.Pointer, error) {
	var all []transcript.Pointer
	err := a.each(ctx, bucketIDs, func(_ *bolt.Tx, key, value []byte) error {
		if f, err := parsePointer(key, value); err == nil && f.Key == k && f.Generation == generation {
			all = append(all, f.Pointer)
		}
		return nil
	})
	if errors.Is(err, errAbsent) {
		err = nil
	}
	return all, err
}
