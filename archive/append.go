package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Append stores a segment after the stored bytes of its session. It is durable when Append returns. The cost depends
// only on the new bytes, except that a segment which closes a frame reads the frame's earlier pieces, at most 2 MB.
//
// It is a compare-and-swap: it fails with ErrTip unless seg.Start is the stored tip (generation and offset; nothing
// else is compared) or begins the next generation at offset 0. An empty segment is allowed: it adds the session, and
// stores new fingerprints.
//
// What was forgotten is replaced in seg.Data. It fails with ErrForgotten if the session was.
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

// errMoved is returned if a frame to be shared was removed meanwhile.
var errMoved = errors.New("shared frame has moved")

// checkSegment returns the start of seg, with generation 1 for the zero Cursor.
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
	p, err := a.plan(ctx, s, start, seg)
	if err != nil || p.noop() {
		return err
	}
	return a.update(ctx, p.need, p.commit)
}

// plan prepares an Append, outside the write lock.
func (a *Archive) plan(ctx context.Context, s transcript.Session, start transcript.Cursor, seg transcript.Segment) (*plan, error) {
	p := &plan{a: a, session: s, start: start, seg: seg}
	for _, step := range []func(context.Context) error{p.base, p.forget, p.diff, p.cut, p.share, p.pack} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// plan is one Append. Everything except commit runs outside the write lock.
type plan struct {
	a       *Archive
	session transcript.Session
	start   transcript.Cursor
	seg     transcript.Segment

	file              string // identifies the archive's file, "" if there was none
	record, wasRecord sessionRecord
	known             bool // the session has a record
	gen               generationRecord
	hasGeneration     bool    // the generation has a record
	was               []byte  // the newest generation's record, encoded
	prevLayout        layout  // of the previous generation, if both use the same track
	depth             int     // of that layout
	newBytes          []byte  // the part of the segment that is appended to the track
	smallFrom         int64   // where the track's last small pieces begin, if there are many
	tail              []block // pieces to be replaced
	tailRaw           []byte
	blocks            []*packed
	need              int64 // bytes to be written
	tombs             *tombs
	filled            bool // something in the segment was forgotten
}

// packed is a block to be written.
type packed struct {
	block
	of     transcript.Session
	by     int // generation
	raw    []byte
	stored []byte // packed
	shared bool   // the same frame is stored already, under ID
}

// base reads the records that the segment extends, and compares the tip.
func (p *plan) base(ctx context.Context) error {
	err := p.a.view(ctx, func(tx *bolt.Tx) error { return p.load(tx) })
	if errors.Is(err, errAbsent) {
		err = p.match()
	}
	if err != nil {
		return err
	}
	p.wasRecord = p.record
	p.record = newSessionRecord(p.session)
	p.record.Num, p.record.Generation = p.wasRecord.Num, p.start.Generation
	if p.hasGeneration {
		return nil
	}
	return p.gen.setHash(sha256.New())
}

func (p *plan) load(tx *bolt.Tx) (err error) {
	if p.tombs, err = p.a.tombs(); err != nil {
		return err
	}
	p.file = fileOf(tx)
	if p.record, p.known, err = getSession(tx, p.session.Key); err == nil && p.record.Generation > 0 {
		s := newStream(p.record.Num, p.record.Generation)
		p.gen, err = mustGeneration(tx, s)
		p.hasGeneration, p.was = true, p.gen.encode(s.generation())
	}
	if err != nil {
		return p.a.damageIn(p.session.Key, p.start, err)
	}
	if err := p.match(); err != nil {
		return err
	}
	if p.smallFrom, err = smallPieces(tx, newStream(p.record.Num, p.gen.Track), p.gen.End); err != nil {
		return p.a.damageIn(p.session.Key, p.start, err)
	}
	if n := p.start.Generation; p.gen.Track != n { // the two share a track
		before, err := mustGeneration(tx, newStream(p.record.Num, n-1))
		if err == nil {
			p.prevLayout, p.depth, err = getLayout(tx, p.record.Num, n-1, before)
		}
		if err != nil {
			return p.a.damageIn(p.session.Key, p.start, err)
		}
	}
	return nil
}

// match compares the stored tip with the segment's start.
func (p *plan) match() error {
	tip := transcript.Cursor{Generation: 1}
	if p.hasGeneration {
		tip = p.gen.cursor(p.record.Generation)
	} else {
		p.gen.Track = 1
	}
	if p.start.Generation == tip.Generation && p.start.Offset == tip.Offset {
		return nil
	}
	if p.hasGeneration && p.start.Generation == tip.Generation+1 && p.start.Offset == 0 {
		p.gen = generationRecord{generationHead: generationHead{Cut: p.gen.Cut}, Track: p.gen.Track, End: p.gen.End}
		p.hasGeneration = false
		return nil
	}
	return fmt.Errorf("%w: it starts at generation %d, offset %d, the tip is generation %d, offset %d",
		ErrTip, p.start.Generation, p.start.Offset, tip.Generation, tip.Offset)
}

// forget replaces what was forgotten.
func (p *plan) forget(ctx context.Context) error {
	if p.tombs.forgets(p.session) {
		return ErrForgotten
	}
	sum, err := p.gen.hash()
	if err != nil {
		return p.a.damageIn(p.session.Key, p.start, err)
	}
	f, err := p.tombs.continued(ctx, p.a.Reader(p.session.Key, p.start.Generation), p.start.Offset, sum)
	if err == nil {
		p.filled = f.Fill(p.seg.Data)
	}
	return err
}

// searchRange is how many bytes before and after its own offset a segment is looked for in the previous generation. For
// a longer segment it is the segment's length.
const searchRange = 256 << 10

// diff finds the parts of the segment that the previous generation contains: they are not stored again.
func (p *plan) diff(ctx context.Context) error {
	data := p.seg.Data
	p.newBytes = data
	if p.gen.Track == p.start.Generation {
		return nil
	}
	var old []byte
	reach := max(searchRange, int64(len(data)))
	from, end := max(0, p.start.Offset-reach), min(p.prevLayout.size(), p.seg.End.Offset+reach)
	if p.start.Offset < end {
		var err error
		old, err = p.a.Reader(p.session.Key, p.start.Generation-1).Span(ctx, transcript.Span{Off: from, Len: end - from})
		if err != nil && !errors.As(err, new(*DamageError)) { // nothing is shared with what is damaged
			return err
		}
	}
	edits, done := slices.Clone(p.gen.Edits), 0
	p.newBytes = nil
	for _, m := range append(matches(old, data), match{new: len(data)}) {
		edits = addEdit(edits, false, p.gen.End+int64(len(p.newBytes)), int64(m.new-done))
		edits = addEdit(edits, true, from+int64(m.old), int64(m.len))
		p.newBytes, done = append(p.newBytes, data[done:m.new]...), m.new+m.len
	}
	l, err := p.prevLayout.apply(edits)
	if err == nil && len(l) > maxExtents {
		p.newBytes, edits = data, addEdit(slices.Clone(p.gen.Edits), false, p.gen.End, int64(len(data)))
		l, err = p.prevLayout.apply(edits)
	}
	if err != nil {
		return err
	}
	if !p.hasGeneration {
		p.gen.Full = p.depth >= maxEdited || len(l) <= 2*len(edits)
	}
	if p.gen.Full {
		edits = l.edits()
	}
	p.gen.Edits = edits
	return nil
}

// cut divides the new bytes, and the tail before them, into frames and a new tail piece.
func (p *plan) cut(ctx context.Context) error {
	if err := p.advance(); err != nil {
		return err
	}
	from, end := p.gen.Cut.Start, p.gen.End+int64(len(p.newBytes))
	cuts := p.gen.Cut.cut(p.gen.End, p.newBytes)
	if len(cuts) == 0 {
		from = p.smallFrom // earlier pieces stay
	}
	if err := p.openTail(ctx, from); err != nil {
		return err
	}
	for _, end := range cuts {
		p.add(block{Off: from}, end)
		from = end
	}
	if from < end {
		p.add(block{Off: from, Tail: true}, end)
	}
	p.gen.End = end
	return nil
}

// add plans the block that ends at end.
func (p *plan) add(b block, end int64) {
	raw := p.raw(b.Off, end)
	b.Len, b.Sum = int64(len(raw)), mark.Sum(raw)
	p.blocks = append(p.blocks, &packed{block: b, of: p.session, by: p.start.Generation, raw: raw})
}

// raw returns the bytes of the track from off to end, from its tail or the new bytes.
func (p *plan) raw(off, end int64) []byte {
	tip := p.gen.End
	if off >= tip {
		return p.newBytes[off-tip : end-tip]
	}
	tail := p.tailRaw[off-(tip-int64(len(p.tailRaw))):]
	if end <= tip {
		return tail[:end-off]
	}
	return slices.Concat(tail, p.newBytes[:end-tip])
}

// openTail reads the track's tail pieces after from, which are going to be replaced.
func (p *plan) openTail(ctx context.Context, from int64) error {
	r := Reader{a: p.a, key: p.session.Key, n: p.gen.Track, stream: newStream(p.wasRecord.Num, p.gen.Track), layout: layout(nil).add(0, p.gen.End)}
	for piece, err := range r.portions(ctx, from, p.gen.End) {
		if err != nil {
			return err
		}
		p.tail = append(p.tail, piece.block)
		p.tailRaw = append(p.tailRaw, piece.data...)
	}
	if int64(len(p.tailRaw)) != p.gen.End-from {
		return fmt.Errorf("%w: the tail has changed meanwhile", ErrTip)
	}
	return nil
}

// advance updates the generation's record, except for its track, to the end of the segment.
func (p *plan) advance() error {
	h, err := p.gen.hash()
	if err != nil {
		return p.a.damageIn(p.session.Key, p.start, err)
	}
	h.Write(p.seg.Data)
	if err := p.gen.setHash(h); err != nil {
		return err
	}
	end, was := p.seg.End, p.gen.generationHead
	p.gen.Offset, p.gen.Head, p.gen.Back = end.Offset, end.Head, end.Back
	if p.filled || was.Offset > 0 && was.Head.N == 0 { // the fingerprint of a forgotten text would tell a guess
		p.gen.Head = transcript.Fingerprint{}
	}
	if p.filled || was.Offset > 0 && was.Back.N == 0 && int64(len(p.seg.Data)) < end.Back.N {
		p.gen.Back = transcript.Fingerprint{}
	}
	return nil
}

// share finds the frames that are stored already, and checks that they are intact.
func (p *plan) share(ctx context.Context) error { return p.a.reuse(ctx, p.blocks...) }

// reuse finds the same frames in the archive, if they are stored there and intact. A damaged one is stored again.
func (a *Archive) reuse(ctx context.Context, blocks ...*packed) error {
	frames := slices.DeleteFunc(slices.Clone(blocks), func(b *packed) bool { return b.Tail })
	return a.viewEach(ctx, len(frames), func(tx *bolt.Tx, i int) {
		b := frames[i]
		if known, ok := getShared(tx, b.Sum); ok {
			b.ID = known.ID
			b.shared = a.recovered(func() error {
				_, err := b.check(tx)
				return err
			}) == nil
		}
	})
}

// pack compresses the blocks to be written.
func (p *plan) pack(context.Context) (err error) {
	for _, b := range p.blocks {
		if !b.shared {
			if b.stored, err = p.a.codec.pack(b.raw, b.Sum); err != nil {
				return err
			}
			p.need += int64(len(b.stored))
		}
	}
	return nil
}

// noop reports whether the segment changes nothing.
func (p *plan) noop() bool {
	return p.hasGeneration && len(p.blocks) == 0 && p.record == p.wasRecord && bytes.Equal(p.was, p.gen.encode(p.record.Generation))
}

// commit writes the plan in one transaction, if the session has not changed.
func (p *plan) commit(tx *bolt.Tx) error {
	if err := p.unchanged(tx); err != nil {
		return err
	}
	if !p.known {
		num, err := newNum(tx)
		if err != nil {
			return err
		}
		p.record.Num = num
	}
	s := newStream(p.record.Num, p.gen.Track)
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
	return putGeneration(tx, newStream(p.record.Num, p.record.Generation), p.gen)
}

// unchanged fails with ErrTip if another process has appended since base.
func (p *plan) unchanged(tx *bolt.Tx) error {
	now := &plan{a: p.a, session: p.session, start: p.start}
	if err := now.load(tx); err != nil {
		return err
	}
	if now.record != p.wasRecord || !bytes.Equal(now.was, p.was) || p.file != "" && now.file != p.file || now.tombs != p.tombs {
		return fmt.Errorf("%w: the session has changed meanwhile", ErrTip)
	}
	return nil
}

// write stores a block, or a reference to the frame that it shares.
func (b *packed) write(tx *bolt.Tx, s stream) error {
	if !b.Tail {
		known, ok := getShared(tx, b.Sum)
		if b.shared && known.ID != b.ID {
			return errMoved
		}
		if ok && (b.shared || known.ID != b.ID) { // known.ID != b.ID: just stored by this transaction
			b.ID = known.ID
			return putBlock(tx, s, b.block)
		}
	}
	id, err := b.kind().bucket(tx).NextSequence()
	if err != nil {
		return err
	}
	b.ID = id
	if err := put(tx, b.kind(), b.key(), envelope{b.of.Key, b.of.Class, s, b.by, b.Off, b.Len, b.Sum}.enclose(b.stored)); err != nil {
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
