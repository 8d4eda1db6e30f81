package archive

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// checkSegment returns the start of seg, with generation 1 for the zero Cursor.
func checkSegment(seg transcript.Segment) (transcript.Cursor, error) {
	start := seg.Start
	start.Generation = cmp.Or(start.Generation, 1)
	if start.Offset < 0 || seg.End.Offset != start.Offset+int64(len(seg.Data)) || seg.End.Generation != start.Generation {
		return start, fmt.Errorf("bad segment: %d bytes from generation %d, offset %d to generation %d, offset %d",
			len(seg.Data), start.Generation, start.Offset, seg.End.Generation, seg.End.Offset)
	}
	return start, nil
}

// base reads the records that the segment extends, and compares the tip.
func (p *plan) base(ctx context.Context) (err error) {
	if p.start, err = checkSegment(p.seg); err != nil {
		return err
	}
	err = p.open.view(ctx, func(tx *bolt.Tx) error { return p.load(tx) })
	if errors.Is(err, errAbsent) {
		err = p.match()
	}
	if err != nil {
		return err
	}
	p.wasRecord = p.record
	p.record = sessionRecord{p.session, p.start.Generation}
	if p.hasGeneration {
		return nil
	}
	return p.gen.setHash(sha256.New())
}

func (p *plan) load(tx *bolt.Tx) (err error) {
	if p.tombstones, err = p.a.tombstones(); err != nil {
		return err
	}
	p.file = fileOf(tx)
	if p.record, p.gen, err = getCurrent(tx, p.session.Key); err != nil {
		return p.a.damageIn(p.session.Key, p.start, err)
	}
	if p.hasGeneration = p.record.Generation > 0; p.hasGeneration {
		p.was = p.gen.encode()
	}
	return p.match()
}

// match compares the stored tip with the segment's start.
func (p *plan) match() error {
	tip := transcript.Cursor{Generation: 1}
	if p.hasGeneration {
		tip = p.gen.cursor(p.record.Generation)
	}
	if p.start.Generation == tip.Generation && p.start.Offset == tip.Offset {
		return nil
	}
	if p.hasGeneration && p.start.Generation == tip.Generation+1 && p.start.Offset == 0 {
		p.gen, p.hasGeneration = generationRecord{}, false
		return nil
	}
	return fmt.Errorf("%w: it starts at generation %d, offset %d, the tip is generation %d, offset %d",
		ErrStale, p.start.Generation, p.start.Offset, tip.Generation, tip.Offset)
}

// forget replaces what was forgotten.
func (p *plan) forget(ctx context.Context) error {
	if p.tombstones.forgets(p.session) {
		return ErrForgotten
	}
	sum, err := p.gen.hash()
	if err != nil {
		return p.a.damageIn(p.session.Key, p.start, err)
	}
	f, err := p.tombstones.continued(ctx, p.open.Reader(p.session.Key, p.start.Generation), p.start.Offset, sum)
	if err == nil {
		p.filled = f.Mask(p.seg.Data)
	}
	return err
}

// cut divides the new bytes, and the open frame before them, into frames and a new piece.
func (p *plan) cut(ctx context.Context) error {
	tip, from, data := p.gen.Offset, p.gen.Cut.Start, p.seg.Data
	cuts := p.gen.Cut.cut(tip, data, !p.session.Unlined())
	if len(cuts) == 0 {
		from = p.gen.smallPieces() // earlier pieces stay
	}
	if err := p.advance(); err != nil {
		return err
	}
	if from < tip {
		open, err := p.open.Reader(p.session.Key, p.start.Generation).Span(ctx, transcript.Span{Off: from, Len: tip - from})
		if errors.Is(err, ErrNotFound) {
			err = fmt.Errorf("%w: the session has changed meanwhile", ErrStale)
		}
		if err != nil {
			return err
		}
		data = append(open, data...)
		i := p.gen.blockAt(from)
		p.removed, p.gen.Blocks = p.gen.Blocks[i:], p.gen.Blocks[:i:i]
	}
	add := func(end int64, piece bool) {
		raw := data[:end-from]
		p.blocks = append(p.blocks, &packed{
			envelope: envelope{generationOf: generationOf{p.session.Key, p.start.Generation}, Class: p.session.Class, Off: from, Len: end - from, Sum: mark.Sum(raw)}, piece: piece, raw: raw,
		})
		from, data = end, data[end-from:]
	}
	for _, end := range cuts {
		add(end, false)
	}
	if len(data) > 0 {
		add(p.gen.Offset, true)
	}
	return nil
}

const (
	pieceSmall = 16 << 10 // size below which a piece is small
	piecesMany = 16       // number of successive small pieces that are merged
)

// smallPieces returns where the last small pieces begin, if they are many; otherwise the end.
func (g generationRecord) smallPieces() int64 {
	from := g.Offset
	for n, b := range slices.Backward(g.Blocks) {
		if b.Off < g.Cut.Start || b.Len >= pieceSmall || b.ID == 0 {
			break
		}
		if from = b.Off; len(g.Blocks)-n == piecesMany {
			return from
		}
	}
	return g.Offset
}

// advance updates the generation's record, except for its blocks, to the end of the segment.
func (p *plan) advance() error {
	h, err := p.gen.hash()
	if err != nil {
		return p.a.damageIn(p.session.Key, p.start, err)
	}
	if p.gen.Offset == 0 {
		h = sha256.New() // of a lost generation it was unknown
	}
	if p.gen.Offset == 0 || !p.gen.unknown() {
		h.Write(p.seg.Data)
	}
	if err := p.gen.setHash(h); err != nil {
		return err
	}
	end, was := p.seg.End, p.gen
	p.gen.Offset, p.gen.Head, p.gen.Back = end.Offset, end.Head, end.Back
	if p.filled || was.Offset > 0 && was.Head.N == 0 { // the fingerprint of a forgotten text would tell a guess
		p.gen.Head = transcript.Fingerprint{}
	}
	if p.filled || was.Offset > 0 && was.Back.N == 0 && int64(len(p.seg.Data)) < end.Back.N {
		p.gen.Back = transcript.Fingerprint{}
	}
	return nil
}

// share finds the frames that are stored already and intact. A damaged one is stored again.
func (p *plan) share(ctx context.Context) error {
	return p.open.viewAny(ctx, func(tx *bolt.Tx) error {
		for _, b := range p.blocks {
			if b.piece {
				continue
			}
			if b.id = getShared(tx, b.Sum); b.id != 0 {
				b.shared = p.a.guard(func() error {
					v, err := getBlock(tx, b.id)
					if err == nil {
						_, _, err = openBlock(b.id, v)
					}
					return err
				}) == nil
			}
		}
		return nil
	})
}

// pack compresses the blocks to be written.
func (p *plan) pack() (err error) {
	for _, b := range p.blocks {
		if !b.shared {
			if b.stored, err = p.a.codec.pack(b.raw); err != nil {
				return err
			}
			b.Words = filterOf(b.raw, len(b.stored))
			p.need += int64(len(b.stored))
		}
	}
	return nil
}

// noop reports whether the segment changes nothing.
func (p *plan) noop() bool {
	return p.hasGeneration && len(p.blocks) == 0 && p.record == p.wasRecord && bytes.Equal(p.was, p.gen.encode())
}

// unchanged fails with ErrStale if another process has appended since base.
func (p *plan) unchanged(tx *bolt.Tx) error {
	now := &plan{a: p.a, session: p.session, start: p.start}
	if err := now.load(tx); err != nil {
		return err
	}
	if now.record != p.wasRecord || !bytes.Equal(now.was, p.was) || p.file != "" && now.file != p.file || now.tombstones != p.tombstones {
		return fmt.Errorf("%w: the session has changed meanwhile", ErrStale)
	}
	return nil
}

// write stores a block, unless the same frame is stored already, and returns its place.
func (b *packed) write(tx *bolt.Tx) (made block, err error) {
	made = block{Off: b.Off, Len: b.Len}
	if b.shared {
		made.ID = b.id
		return made, nil
	}
	if !b.piece {
		if made.ID = getShared(tx, b.Sum); made.ID != b.id { // just stored by this transaction
			return made, nil
		}
	}
	if made.ID, err = kindBlock.bucket(tx).NextSequence(); err != nil {
		return made, err
	}
	if err := put(tx, kindBlock, blockKey(made.ID), b.enclose(b.stored)); err != nil {
		return made, err
	}
	if b.piece {
		return made, nil
	}
	return made, put(tx, kindHash, b.Sum[:], appendUints(nil, made.ID))
}

func (a *Archive) damageIn(k transcript.Key, at transcript.Cursor, err error) error {
	return &DamageError{Path: a.path, Session: k, Generation: at.Generation, Offset: at.Offset, Err: err}
}
