package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"iter"
	"slices"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Repaired is what was done about damage of the archive.
type Repaired struct {
	Found  int            // damaged places
	Filled int            // generations that had lost bytes, or their hash, and have them now
	Bytes  int64          // of them, from a source
	Aside  string         // path of the old file, "" if it is still in use
	Left   []*DamageError // damaged places that are left
}

// Repair reads the whole archive. If something is damaged, it rebuilds the file from what is intact in it, and takes what is lost, also
// since an earlier rebuild, from the sources (see fill). Left is as of before what it has filled. progress, if not nil, is called with what
// is done and the total.
func (a *Archive) Repair(ctx context.Context, sources Sources, progress Progress) (r Repaired, err error) {
	report, err := a.Verify(ctx, progress)
	r.Found, r.Left = len(report.Damage), report.Damage
	if err != nil || r.Found == 0 {
		return r, err
	}
	if slices.ContainsFunc(r.Left, func(d *DamageError) bool { return !d.Missing() }) {
		built, err := a.Rebuild(ctx, progress)
		if r.Aside = built.Aside; err != nil {
			return r, err
		}
	}
	err = a.fill(ctx, sources, &r)
	return r, err
}

// Sources returns what the caller has of a generation, the best first: its segments from the first one on, each time that they are ranged over.
type Sources func(s transcript.Session, g Generation) []iter.Seq2[transcript.Segment, error]

// fill gives generations that have lost bytes, or their hash, those of a source. It takes them if the source has all bytes of the
// generation, those that are left among them, and their hash is that of the generation. If that is lost, what is left must tell; where nothing
// is, the source of the newest generation is believed. The archive must not be damaged otherwise. It fails with ErrTip if a session changes
// meanwhile.
func (a *Archive) fill(ctx context.Context, sources Sources, done *Repaired) error {
	all, err := a.Sessions(ctx)
	err = skipDamage(err)
	for _, s := range all {
		for _, g := range s.Generations {
			if err == nil && s.Lost != nil {
				f := filling{Reader: a.Reader(s.Key, g.N), session: s, g: g}
				err = f.fill(ctx, sources, done)
			}
		}
	}
	wrap(&err, "fill what is lost")
	return err
}

// filling is a fill of one generation.
type filling struct {
	*Reader
	session Session
	g       Generation
	source  iter.Seq2[transcript.Segment, error]
}

func (f *filling) fill(ctx context.Context, sources Sources, done *Repaired) error {
	was, err := f.generation(ctx)
	if _, lost := was.lost(); err != nil || !lost || was.Offset == 0 {
		return skipDamage(err)
	}
	made := was
	if found, err := f.find(ctx, sources, &made); err != nil || !found {
		return err
	}
	err = f.store(ctx, &made)
	if err == nil {
		err = f.a.update(ctx, 0, func(tx *bolt.Tx) error {
			now, err := getGeneration(tx, f.of())
			if err != nil || !bytes.Equal(now.encode(), was.encode()) {
				return errors.Join(ErrTip, err)
			}
			return putGeneration(tx, f.of(), made)
		})
	}
	if err != nil { // what the generation has not must not be found by a scan
		return errors.Join(err, f.a.update(ctx, 0, func(tx *bolt.Tx) (err error) {
			for _, b := range made.Blocks {
				err = errors.Join(err, removeBlock(tx, b.ID))
			}
			return err
		}))
	}
	for _, b := range was.Blocks {
		if b.ID == 0 {
			done.Bytes += b.Len
		}
	}
	done.Filled++
	return nil
}

// find finds the source, and the hash that the generation has with it.
func (f *filling) find(ctx context.Context, sources Sources, g *generationRecord) (found bool, err error) {
	for _, f.source = range sources(f.session.Session, f.g) {
		sum, same, err := f.agrees(ctx, *g)
		if err != nil {
			return false, err
		}
		if same {
			return true, g.setHash(sum)
		}
	}
	return false, nil
}

func (f *filling) of() generationOf { return generationOf{f.key, f.n} }

// agrees reports whether the source has all bytes of the generation, and returns their hash.
func (f *filling) agrees(ctx context.Context, was generationRecord) (sum hash.Hash, same bool, err error) {
	sum = sha256.New()
	got, left, err := f.compare(ctx, f.source, was.Offset, sum)
	switch {
	case err != nil || left < 0 || got < was.Offset:
		return sum, false, err
	case !was.unknown():
		return sum, was.matches(sum) == nil, nil
	case left > 0:
		return sum, true, nil
	}
	return sum, f.n == len(f.session.Generations), nil
}

// compare compares the bytes of a source, down to an offset, with those of the generation. It writes them to sum, and returns how many there
// are, and how many of them the generation has, -1 if it has others.
func (r *Reader) compare(ctx context.Context, source iter.Seq2[transcript.Segment, error], end int64, sum io.Writer) (got, equal int64, err error) {
	for off, data := range r.replaced(source, end) {
		same, err := r.equal(ctx, off, data)
		if err != nil || same < 0 {
			return got, same, err
		}
		_, _ = sum.Write(data) // a hash does not fail
		got, equal = got+int64(len(data)), equal+same
	}
	return got, equal, nil
}

// replaced yields the bytes of a source, down to an offset, with what was forgotten in the session replaced, and where they begin. It goes on
// after damage, and ends with any other error.
func (r *Reader) replaced(source iter.Seq2[transcript.Segment, error], end int64) iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		filler := r.a.Filler(r.key)
		for seg, err := range source {
			off := seg.Start.Offset
			if off >= end || skipDamage(err) != nil {
				return
			}
			data := bytes.Clone(seg.Data[:min(int64(len(seg.Data)), end-off)])
			if filler.Fill(data); !yield(off, data) {
				return
			}
		}
	}
}

// store stores the source as the blocks of the generation. It fails if the source has changed since agrees.
func (f *filling) store(ctx context.Context, made *generationRecord) error {
	made.Blocks, made.Cut = nil, cutter{}
	var open []byte
	add := func(end int64) error {
		raw := open[:end-made.end()]
		open = open[len(raw):]
		stored, err := f.a.codec.pack(raw)
		if err != nil {
			return err
		}
		e := envelope{generationOf: f.of(), Class: f.session.Class, Off: made.end(), Len: int64(len(raw)), Sum: mark.Sum(raw), Words: filterOf(raw, len(stored))}
		return f.a.update(ctx, int64(len(stored)), func(tx *bolt.Tx) error {
			one, err := (&packed{envelope: e, piece: true, stored: stored}).write(tx) // shared with none
			made.Blocks = append(made.Blocks, one)
			return err
		})
	}
	sum := sha256.New()
	for _, data := range f.replaced(f.source, made.Offset) {
		sum.Write(data)
		off := made.end() + int64(len(open))
		open = append(open, data...)
		for _, end := range made.Cut.cut(off, data, !f.session.Unlined()) {
			if err := add(end); err != nil {
				return err
			}
		}
	}
	if err := made.matches(sum); err != nil || len(open) == 0 {
		return err
	}
	return add(made.Offset)
}
