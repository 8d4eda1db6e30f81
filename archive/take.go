package archive

import (
	"context"
	"iter"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/transcript"
)

// copied is a generation of another file, which take stores: Repair, Import, Forget and Compact give their sessions to an archive as a
// transcript is given to it, by Append.
type copied struct {
	segments iter.Seq2[transcript.Segment, error] // whole or in pieces; an error that means damage is a gap, which is lost
	head     transcript.Fingerprint
	end      int64             // of the generation, at least
	lost     bool              // nobody knows what was at its end
	gap      bool              // some of its bytes, or their hash, are lost
	was      *generationRecord // has its fingerprints, and its hash unless something was forgotten; nil: the hash is that of the bytes
}

// take stores a generation as the next one of a session.
func (a *Archive) take(ctx context.Context, s transcript.Session, n int, c copied) error {
	at := func(off int64) (to transcript.Cursor) {
		if to = (transcript.Cursor{Generation: n, Offset: off}); off >= c.head.N {
			to.Head = c.head
		}
		return to
	}
	tip := int64(0)
	err := a.Append(ctx, s, transcript.Segment{Start: at(0), End: transcript.Cursor{Generation: n}})
	for seg, failed := range c.segments {
		if err == nil {
			err = failed
		}
		switch {
		case err != nil && skipMissing(err) == nil:
			tip = max(tip, seg.End.Offset)
			err = a.lose(ctx, s, at(tip))
		case err == nil && len(seg.Data) > 0:
			end := tip + int64(len(seg.Data))
			err = a.Append(ctx, s, transcript.Segment{Start: at(tip), Data: seg.Data, End: at(end)})
			tip = end
		}
		if err != nil {
			return err
		}
	}
	if err == nil && (tip < c.end || c.lost) {
		err = a.lose(ctx, s, at(max(tip, c.end)))
	}
	if err != nil || c.was == nil {
		return err
	}
	t, err := a.tombstones()
	if err != nil {
		return err
	}
	return a.change(ctx, s, func(g *generationRecord) error {
		g.inherit(c.was, t.masked(s.Key))
		return nil
	})
}

// inherit takes over the hash and the fingerprints of a generation with the same bytes, but for these holes: their hash would tell a guess.
func (g *generationRecord) inherit(was *generationRecord, holes []maskedRange) {
	if g.Offset != was.Offset {
		return
	}
	if len(holes) == 0 {
		g.Hash = was.Hash
	}
	if len(overlapping(holes, 0, was.Head.N)) == 0 {
		g.Head = was.Head
	}
	if len(overlapping(holes, was.Offset-was.Back.N, was.Offset)) == 0 {
		g.Back = was.Back
	}
}

// lose notes that a generation has lost what is after its bytes, down to an offset.
func (a *Archive) lose(ctx context.Context, s transcript.Session, end transcript.Cursor) error {
	return a.change(ctx, s, func(g *generationRecord) error {
		if from := g.end(); from < end.Offset {
			g.Blocks = append(g.Blocks, block{Off: from, Len: end.Offset - from})
		}
		g.Offset, g.Back, g.Cut = end.Offset, transcript.Fingerprint{}, cutter{Start: end.Offset, End: end.Offset}
		return g.setHash(unknownHash())
	})
}

// change changes the record of a session's newest generation.
func (a *Archive) change(ctx context.Context, s transcript.Session, how func(*generationRecord) error) error {
	return a.update(ctx, 0, func(tx *bolt.Tx) error {
		r, g, err := getCurrent(tx, s.Key)
		if err == nil {
			err = how(&g)
		}
		if err != nil {
			return a.damageIn(s.Key, transcript.Cursor{Generation: r.Generation}, err)
		}
		return putGeneration(tx, generationOf{s.Key, r.Generation}, g)
	})
}
