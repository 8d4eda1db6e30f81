package archive

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/ownfile"
	"ccd/internal/transcript"
)

// Imported is what Import has added.
type Imported struct {
	Sessions int   // new ones
	Grown    int   // sessions that got more bytes
	Bytes    int64 // of transcripts in them
	Pointers int
	Renamed  []transcript.Key // new keys of sessions whose content differs from the one that is here
	Damage   []*DamageError   // of the file: of a generation, all after the first damaged byte is left out
	Repaired Repaired         // of the archive itself
}

// Import adds what another archive's file has, as if its transcripts were found: sessions, generations that are longer, indexed
// originals and summaries. The file may be damaged, as it is scanned for intact entries like one that Repair reads; it does
// not change. What is here already is not stored again, nor is what was forgotten here. If this archive is damaged, it is
// rebuilt first, with the other one as a source. A session whose content differs gets a key of its own. progress, if not nil, is
// called with thousandths.
func (a *Archive) Import(ctx context.Context, file string, progress Progress) (_ Imported, err error) {
	defer wrap(&err, "import archive %s", file)
	im := importer{a: a}
	err = im.file(ctx, file, progress)
	return im.Imported, err
}

// origin is where sessions come from: an archive, or what a scan has found in the file of one.
type origin interface {
	copied(ctx context.Context, k transcript.Key, n int) (copied, error)
	each(ctx context.Context, k kind, fn func(tx *bolt.Tx, key, value []byte) error) error
}

// importer stores sessions of an origin in an archive: Import in this one, Repair, Forget and Compact in a new one.
type importer struct {
	Imported
	a       *Archive
	from    origin
	whole   bool                    // also originals of which nothing else is left
	damaged *Archive                // that is repaired
	sources Sources                 // for what it has lost of a generation; nil: that stays lost
	forget  bool                    // no summaries, as they may have a forgotten text: the summarizer makes them again
	id      string                  // of from
	places  map[generationOf]landed // where the generations of from are here
	state   func(s Session) []byte  // to be stored with a session that is not here
	drops   func(f Found) bool      // it is not to be indexed here; may be nil
}

func (im *importer) file(ctx context.Context, file string, progress Progress) error {
	if ownfile.Same(im.a.path, file) {
		return errors.New("this is the archive itself")
	}
	if im.a.o.ReadOnly {
		return ErrReadOnly
	}
	other, err := Open(file, Options{})
	if err != nil {
		return err
	}
	l, err := other.lock(ctx, false, nil) // nobody writes meanwhile
	if err != nil {
		return err
	}
	defer l.release()
	s := newRebuilder(other, l)
	if err := s.collect(ctx, progress.part(0, 300)); err != nil {
		return err
	}
	if !s.from.found {
		return errors.New("no entry of an archive of this version of ccd is in it")
	}
	im.from, im.id = s, cmp.Or(s.id, "unknown")
	all := s.list()
	im.Damage = s.damage
	if s.from.failed != nil {
		im.Damage = append(im.Damage, other.damage("the disk cannot be read: %w", s.from.failed))
	}
	im.Repaired, err = im.a.Repair(ctx, im.theirs(ctx, all), nil)
	if err != nil && !errors.Is(err, ErrFull) { // without room for a repair, what is intact here gets what is new
		return err
	}
	im.state = func(s Session) []byte {
		if im.a.Filler(s.Key) != nil {
			return nil // it may have what was forgotten
		}
		return s.State
	}
	im.drops = func(f Found) bool { // something in it was forgotten
		return im.a.Filler(f.Key) != nil && im.a.Reader(f.Key, f.Generation).CheckPointer(ctx, f.Pointer) != nil
	}
	if err := im.sessions(ctx, all, progress.part(300, 1000)); err != nil {
		return err
	}
	err = im.summaries(ctx)
	if err == nil && im.Repaired.Found > 0 {
		var r Report
		r, err = im.a.Verify(ctx, nil)
		im.Repaired.Left = r.Damage
	}
	return err
}

// all imports sessions, and all else that is in the origin, into a new archive, with its ID if that is known.
func (im *importer) all(ctx context.Context, id string, sessions []Session, progress Progress) error {
	err := im.a.setID(ctx, id)
	if err == nil {
		err = im.sessions(ctx, sessions, progress)
	}
	if err == nil && !im.forget {
		err = im.summaries(ctx)
	}
	return err
}

// sessions imports sessions, and what the index has of them.
func (im *importer) sessions(ctx context.Context, all []Session, progress Progress) (err error) {
	var done, total int64
	for _, s := range all {
		total += s.size()
	}
	im.places = map[generationOf]landed{}
	for _, s := range all {
		if !im.a.Forgets(s.Session) {
			err = im.session(ctx, s, s.Key)
		}
		if err != nil && !errors.Is(err, ErrForgotten) {
			return err
		}
		done += s.size()
		progress(done, total)
	}
	return im.pointers(ctx)
}

func (im *importer) summaries(ctx context.Context) error {
	return skipDamage(im.from.each(ctx, kindSummary, func(_ *bolt.Tx, k, v []byte) error {
		s, err := parseSummary(k, v)
		if err != nil || len(k) != len(mark.Hash{}) {
			return nil // damaged
		}
		return im.a.KeepSummary(ctx, mark.Hash(k), s)
	}))
}

// theirs returns what the other archive, which has these sessions, has of a generation that has lost something here.
func (im *importer) theirs(ctx context.Context, all []Session) Sources {
	return func(s transcript.Session, want Generation) (found []iter.Seq2[transcript.Segment, error]) {
		for _, other := range all {
			for _, g := range other.Generations {
				if other.Key == s.Key && (g.Sum == want.Sum || g.N == want.N) {
					c, _ := im.from.copied(ctx, s.Key, g.N) // a scan does not fail
					found = append(found, c.segments)
				}
			}
		}
		return found
	}
}

// session imports a session under a key: what it has here grows, or it gets another key.
func (im *importer) session(ctx context.Context, s Session, key transcript.Key) error {
	ours, err := im.a.find(ctx, key, 1)
	added := errors.Is(err, ErrNotFound)
	if added {
		ours, err = im.add(ctx, s, key)
	}
	if err != nil {
		return err
	}
	before := im.Bytes
	for _, g := range s.Generations {
		here, err := im.match(ctx, s, ours, g)
		if err != nil {
			return err
		}
		if here.N == 0 && key != s.Key {
			return nil // imported before, and changed since
		}
		if here.N == 0 {
			key.ID += "~" + im.id[:min(8, len(im.id))]
			im.Renamed = append(im.Renamed, key)
			return im.session(ctx, s, key)
		}
		if here.Tip.Offset, err = im.grow(ctx, s, ours.Session, g, here); err != nil {
			return err
		}
		if here.Tip.Generation = here.N; here.N > len(ours.Generations) {
			ours.Generations = append(ours.Generations, here)
		}
		im.places[generationOf{s.Key, g.N}] = landed{generationOf{key, here.N}, here.Tip.Offset}
	}
	switch {
	case added:
		im.Sessions++
	case im.Bytes > before:
		im.Grown++
	}
	return nil
}

// add stores the state of a session that is not here, without bytes.
func (im *importer) add(ctx context.Context, s Session, key transcript.Key) (ours Session, err error) {
	if ours.Session = s.Session; key != s.Key {
		ours.Key, ours.Path, ours.Root = key, "", ""
	}
	_, err = im.a.Save(ctx, nil, []Change{{Session: ours.Session, New: im.state(s)}})
	return ours, err
}

// match returns the generation here with the same number, if it has the same bytes, or begins with them, or can grow to them; the next one
// if there are only earlier ones; else a zero one.
func (im *importer) match(ctx context.Context, s, ours Session, g Generation) (Generation, error) {
	if g.N > len(ours.Generations) {
		return Generation{N: g.N}, nil
	}
	o := ours.Generations[g.N-1]
	if o.Tip.Offset == g.Tip.Offset && o.Sum == g.Sum && g.Sum != unknownSum {
		return o, nil
	}
	size := min(o.Tip.Offset, g.Tip.Offset)
	if size < g.Tip.Offset && o.N < len(ours.Generations) {
		return Generation{}, nil
	}
	same, err := im.agree(ctx, landed{generationOf{s.Key, g.N}, size}, ours.Key)
	if err != nil || !same {
		return Generation{}, err
	}
	return o, nil
}

// agree reports whether a generation here has the same bytes up to the end of g, with those replaced that were forgotten here. Of what
// one of them has lost nobody can tell.
func (im *importer) agree(ctx context.Context, g landed, here transcript.Key) (bool, error) {
	c, err := im.from.copied(ctx, g.Key, g.n)
	if err != nil {
		return false, err
	}
	_, equal, err := common(until(im.a.filled(here, c.segments), g.tip, io.Discard), im.a.Reader(here, g.n).SegmentsPastDamage(ctx))
	if err != nil || equal < 0 {
		return false, err
	}
	return equal == g.tip || im.a.Filler(here) == nil, ctx.Err()
}

// grow appends what a generation here lacks of one of from, as far as that is whole, and returns its end. One that is not here is stored
// with what is lost of it.
func (im *importer) grow(ctx context.Context, s Session, as transcript.Session, g, here Generation) (tip int64, err error) {
	c, err := im.from.copied(ctx, s.Key, g.N)
	if err == nil && c.gap && im.sources != nil {
		c, err = im.fromSource(ctx, s, g, c)
	}
	if err == nil && here.Tip.Generation == 0 {
		im.Bytes += g.Tip.Offset
		return g.Tip.Offset, im.a.take(ctx, as, here.N, c)
	}
	if tip = here.Tip.Offset; err != nil || tip >= g.Tip.Offset {
		return tip, err
	}
	for seg, err := range c.segments {
		if err != nil {
			return tip, skipDamage(err) // Damage has it
		}
		if seg.End.Offset <= tip {
			continue
		}
		seg.Data = seg.Data[tip-seg.Start.Offset:]
		seg.Start, seg.End = transcript.Cursor{Generation: here.N, Offset: tip}, transcript.Cursor{Generation: here.N, Offset: seg.End.Offset}
		if err := im.a.Append(ctx, as, seg); err != nil {
			return tip, err
		}
		tip, im.Bytes = seg.End.Offset, im.Bytes+int64(len(seg.Data))
	}
	return tip, nil
}

// copied returns a generation, with what it has lost.
func (a *Archive) copied(ctx context.Context, k transcript.Key, n int) (copied, error) {
	r := a.Reader(k, n)
	was, err := r.generation(ctx)
	_, gap := was.lost()
	return copied{segments: r.SegmentsPastDamage(ctx), end: was.Offset, lost: was.unknown(), gap: gap && was.Offset > 0, was: &was}, err
}

// pointers indexes the originals that are here, with all their bytes.
func (im *importer) pointers(ctx context.Context) error {
	file := im.a.fileNow(ctx)
	var all []Found
	err := im.from.each(ctx, kindID, func(_ *bolt.Tx, k, v []byte) error {
		f, err := parsePointer(k, v)
		to, ok := im.places[generationOf{f.Key, f.Generation}]
		if ok {
			f.Key, f.Generation = to.Key, to.n
			ok = checkPointer(f.Pointer, to.tip) == nil && (im.drops == nil || !im.drops(f))
		}
		if err == nil && (ok || im.whole) {
			all = append(all, f)
		}
		return nil
	})
	if err := skipDamage(err); err != nil {
		return err
	}
	for batch := range slices.Chunk(all, pageSize) {
		err := im.a.update(ctx, 0, func(tx *bolt.Tx) error {
			if fileOf(tx) != file {
				return errors.New("the archive was replaced meanwhile; try again")
			}
			batch = slices.DeleteFunc(batch, func(f Found) bool { return f.indexed(tx) })
			im.Pointers += len(batch)
			return putPointers(tx, batch)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
