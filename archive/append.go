package archive

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Append stores a segment behind what is stored of its session; it is durable at return. It costs the new bytes only,
// but that a segment which closes a frame reads the frame's earlier pieces, 2 MB at most.
//
// It is a compare-and-swap: ErrTip unless seg.Start is the stored tip (generation and offset; nothing else is
// compared) or begins the generation after it at offset 0. An empty segment is good: it makes the session known, and
// stores new fingerprints.
func (a *Archive) Append(ctx context.Context, s transcript.Session, seg transcript.Segment) error {
	start, err := checkSegment(seg)
	if err == nil {
		for {
			err = a.append(ctx, s, start, seg)
			if !errors.Is(err, errMoved) {
				break
			}
		}
	}
	if err != nil {
		return fmt.Errorf("append to session %s %s: %w", s.Agent, s.ID, err)
	}
	return nil
}

// errMoved tells that a frame which was to be shared has gone in the meantime.
var errMoved = errors.New("shared frame has moved")

// checkSegment returns where seg starts, with the zero Cursor spelled out.
func checkSegment(seg transcript.Segment) (transcript.Cursor, error) {
	start := seg.Start
	if start.Generation == 0 {
		start.Generation = 1
	}
	if start.Offset < 0 || seg.End.Offset != start.Offset+int64(len(seg.Data)) || seg.End.Generation != start.Generation {
		return start, fmt.Errorf("bad segment: %d bytes from generation %d, offset %d to generation %d, offset %d",
			len(seg.Data), start.Generation, start.Offset, seg.End.Generation, seg.End.Offset)
	}
	return start, nil
}

func (a *Archive) append(ctx context.Context, s transcript.Session, start transcript.Cursor, seg transcript.Segment) error {
	p := &plan{a: a, session: s, start: start, seg: seg}
	for _, step := range []func(context.Context) error{p.base, p.cut, p.share, p.pack} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if p.idle() {
		return nil
	}
	return a.update(ctx, p.need, p.commit)
}

// plan is one Append: everything but commit happens outside of the write lock.
type plan struct {
	a       *Archive
	session transcript.Session
	start   transcript.Cursor
	seg     transcript.Segment

	record, wasRecord sessionRecord
	known             bool // the session has a record
	gen, wasGen       generationRecord
	begun             bool    // the generation has a record
	tail              []block // pieces stored so far, read only if a cut closes them
	tailRaw           []byte
	blocks            []*packed
	need              int64 // bytes to be written
}

// packed is a block to be written.
type packed struct {
	block
	raw    []byte
	stored []byte
	shared bool // a frame that is stored already, under ID
}

// base reads what the segment builds on, and compares the tip.
func (p *plan) base(ctx context.Context) error {
	err := p.a.view(ctx, func(tx *bolt.Tx) error { return p.load(tx) })
	if errors.Is(err, errAbsent) {
		err = p.match()
	}
	if err != nil {
		return err
	}
	p.wasRecord, p.wasGen = p.record, p.gen
	num := p.record.Num
	p.record = newSessionRecord(p.session)
	p.record.Num, p.record.Generation = num, p.start.Generation
	if p.begun {
		return nil
	}
	return p.gen.setHash(sha256.New())
}

func (p *plan) load(tx *bolt.Tx) (err error) {
	if p.record, p.known, err = getSession(tx, p.session.Key); err != nil {
		return p.a.damageIn(p.session.Key, p.start, err)
	}
	if p.known && p.record.Generation > 0 {
		p.gen, p.begun, err = getGeneration(tx, newStream(p.record.Num, p.record.Generation))
		if err == nil && !p.begun {
			err = errors.New("generation record is missing")
		}
		if err != nil {
			return p.a.damageIn(p.session.Key, p.start, err)
		}
	}
	return p.match()
}

// match compares the tip that load has found with the segment's start.
func (p *plan) match() error {
	tip := transcript.Cursor{Generation: 1}
	if p.begun {
		tip = p.gen.cursor(p.record.Generation)
	}
	if p.start.Generation == tip.Generation && p.start.Offset == tip.Offset {
		return nil
	}
	if p.begun && p.start.Generation == tip.Generation+1 && p.start.Offset == 0 {
		p.gen, p.begun = generationRecord{}, false
		return nil
	}
	return fmt.Errorf("%w: it starts at generation %d, offset %d, the tip is generation %d, offset %d",
		ErrTip, p.start.Generation, p.start.Offset, tip.Generation, tip.Offset)
}

// cut divides the new bytes, and the tail before them, into frames and a new tail piece.
func (p *plan) cut(ctx context.Context) error {
	if err := p.advance(); err != nil {
		return err
	}
	from := p.wasGen.Cut.Start
	cuts := p.gen.Cut.cut(p.start.Offset, p.seg.Data)
	if len(cuts) == 0 {
		from = p.start.Offset // the pieces before it stay
	} else if err := p.openTail(ctx, from); err != nil {
		return err
	}
	for _, end := range cuts {
		p.add(block{Off: from}, end)
		from = end
	}
	if from < p.seg.End.Offset {
		p.add(block{Off: from, Tail: true}, p.seg.End.Offset)
	}
	return nil
}

// add plans the block that goes on to end.
func (p *plan) add(b block, end int64) {
	raw := p.raw(b.Off, end)
	b.Len, b.Sum = int64(len(raw)), mark.Sum(raw)
	p.blocks = append(p.blocks, &packed{block: b, raw: raw})
}

// raw returns the bytes from off to end, of the tail or the segment or both.
func (p *plan) raw(off, end int64) []byte {
	tip := p.start.Offset
	if off >= tip {
		return p.seg.Data[off-tip : end-tip]
	}
	tail := p.tailRaw[off-(tip-int64(len(p.tailRaw))):]
	if end <= tip {
		return tail[:end-off]
	}
	return slices.Concat(tail, p.seg.Data[:end-tip])
}

// openTail reads the tail pieces, which begin at from: the frames that are made now take their place.
func (p *plan) openTail(ctx context.Context, from int64) error {
	r := p.a.Reader(p.session.Key, p.start.Generation)
	for piece, err := range r.blocks(ctx, from, p.start.Offset, false) {
		if err != nil {
			return err
		}
		p.tail = append(p.tail, piece.block)
		p.tailRaw = append(p.tailRaw, piece.raw...)
	}
	if int64(len(p.tailRaw)) != p.start.Offset-from {
		return fmt.Errorf("%w: the tail has changed meanwhile", ErrTip)
	}
	return nil
}

// advance moves the generation's record behind the segment, but for its cutter.
func (p *plan) advance() error {
	h, err := p.gen.hash()
	if err != nil {
		return p.a.damageIn(p.session.Key, p.start, err)
	}
	h.Write(p.seg.Data)
	if err := p.gen.setHash(h); err != nil {
		return err
	}
	end := p.seg.End
	p.gen.Offset, p.gen.Head, p.gen.Back = end.Offset, end.Head, end.Back
	return nil
}

// share finds the frames that are stored already, and makes sure that they are sound.
func (p *plan) share(ctx context.Context) error {
	for _, b := range p.blocks {
		if b.Tail {
			continue
		}
		known, err := p.a.findShared(ctx, b.block)
		if err != nil {
			return err
		}
		if known.ID == 0 {
			continue
		}
		b.ID = known.ID
		err = p.a.checkFrame(ctx, b.block)
		var damaged *DamageError
		if err != nil && !errors.As(err, &damaged) {
			return err
		}
		b.shared = err == nil // a damaged one is stored once more
	}
	return nil
}

func (a *Archive) findShared(ctx context.Context, b block) (known block, err error) {
	err = a.view(ctx, func(tx *bolt.Tx) error {
		known, _ = getShared(tx, b.Sum)
		return nil
	})
	if errors.Is(err, errAbsent) {
		err = nil
	}
	return known, err
}

// pack compresses what is to be written.
func (p *plan) pack(context.Context) error {
	for _, b := range p.blocks {
		if !b.shared {
			b.stored = p.a.pack(b.raw)
			p.need += int64(len(b.stored))
		}
	}
	return nil
}

// idle reports whether the segment changes nothing.
func (p *plan) idle() bool {
	return p.begun && len(p.blocks) == 0 && p.gen == p.wasGen && p.record == p.wasRecord
}

// commit writes the plan in one transaction, if what it builds on still stands.
func (p *plan) commit(tx *bolt.Tx) error {
	if err := p.unchanged(tx); err != nil {
		return err
	}
	if !p.known {
		num, err := tx.Bucket(bucketSessions).NextSequence()
		if err != nil {
			return err
		}
		p.record.Num = num
	}
	s := newStream(p.record.Num, p.record.Generation)
	for _, piece := range p.tail {
		if err := deleteBlock(tx, s, piece); err != nil {
			return err
		}
	}
	for _, b := range p.blocks {
		if err := b.write(tx, s); err != nil {
			return err
		}
	}
	if p.record != p.wasRecord {
		if err := putSession(tx, p.session.Key, p.record); err != nil {
			return err
		}
	}
	return putGeneration(tx, s, p.gen)
}

// unchanged fails with ErrTip where somebody else has appended since base.
func (p *plan) unchanged(tx *bolt.Tx) error {
	now := &plan{a: p.a, session: p.session, start: p.start}
	if err := now.load(tx); err != nil {
		return err
	}
	if now.record != p.wasRecord || now.gen != p.wasGen || now.begun != p.begun {
		return fmt.Errorf("%w: the session has changed meanwhile", ErrTip)
	}
	return nil
}

// write stores one block, or what shares it.
func (b *packed) write(tx *bolt.Tx, s stream) error {
	if !b.Tail {
		known, ok := getShared(tx, b.Sum)
		if b.shared && known.ID != b.ID {
			return errMoved
		}
		if ok && (b.shared || known.ID != b.ID) { // known.ID != b.ID: stored a moment ago
			b.ID = known.ID
			return putBlock(tx, s, b.block)
		}
	}
	bucket := b.bucket(tx)
	id, err := bucket.NextSequence()
	if err != nil {
		return err
	}
	b.ID = id
	if err := putChunks(bucket, id, b.stored); err != nil {
		return err
	}
	if !b.Tail {
		if err := putShared(tx, b.block); err != nil {
			return err
		}
	}
	return putBlock(tx, s, b.block)
}

func (a *Archive) damageIn(k transcript.Key, at transcript.Cursor, err error) error {
	return &DamageError{Path: a.path, Session: k, Generation: at.Generation, Offset: at.Offset, Err: err}
}
