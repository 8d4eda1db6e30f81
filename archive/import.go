package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
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
}

// Import adds what another archive's file has, as if its transcripts were found: sessions, generations that are longer, indexed
// originals and summaries. The file may be damaged, as it is scanned for intact entries like one that Rebuild reads; it does
// not change. What is here already is not stored again, nor is what was forgotten here. If this archive is damaged, it is
// rebuilt first, with the other one as a source. A session whose content differs gets a key of its own. progress, if not nil, is
// called with thousandths.
func (a *Archive) Import(ctx context.Context, file string, progress Progress) (Imported, error) {
	im := importer{a: a}
	if err := im.file(ctx, file, progress); err != nil {
		return im.Imported, fmt.Errorf("import archive %s: %w", file, err)
	}
	return im.Imported, nil
}

// importer is one Import.
type importer struct {
	Imported
	a, from *Archive
	id      string                  // of from
	places  map[generationOf]landed // where the generations of from are here
	state   func(s Session) []byte  // to be stored with a session that is not here
	drops   func(f Found) bool      // it is not to be indexed here
}

func (im *importer) file(ctx context.Context, file string, progress Progress) error {
	if sameFile(im.a.path, file) {
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
	found := &scan{f: l.data, size: l.info.Size()}
	s := newRebuilder(found)
	var hidden error
	if s.sure, hidden, err = other.sure(ctx, found); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(im.a.path), 0o700); err != nil {
		return err
	}
	if err := im.a.checkSpace(filepath.Dir(im.a.path), l.info.Size()); err != nil {
		return err
	}
	tmp, err := filepath.Abs(filepath.Join(filepath.Dir(im.a.path), tempName()))
	if err != nil {
		return err
	}
	end, err := im.a.copyAt(tmp)
	if err != nil {
		return err
	}
	defer end()
	r, err := s.salvage(ctx, im.a, tmp, progress.part(0, 500))
	if err != nil {
		return err
	}
	if d := (*DamageError)(nil); errors.As(hidden, &d) {
		r.Damage = append(r.Damage, d)
	}
	for _, d := range r.Damage {
		d.Path = file
	}
	im.Damage = r.Damage
	im.from = &Archive{path: tmp, o: Options{ReadOnly: true}, codec: im.a.codec}
	return im.run(ctx, progress.part(500, 1000))
}

// sure returns the generations that the tree of a file leads to, nil for all, with the damage that hides others, and newer records.
func (a *Archive) sure(ctx context.Context, file *scan) (known map[generationOf]bool, hidden, err error) {
	var all []Session
	if hidden = file.treeSound(); hidden != nil {
		hidden = a.damage("%w", hidden)
	} else if err = a.rebuildable(ctx); err == nil {
		all, hidden = a.Sessions(ctx)
	}
	if err != nil || hidden == nil {
		return nil, nil, err
	}
	known = map[generationOf]bool{}
	for _, one := range all {
		for _, g := range one.Generations {
			known[generationOf{one.Key, g.N}] = true
		}
	}
	return known, hidden, nil
}

func (im *importer) run(ctx context.Context, progress Progress) (err error) {
	if im.id, err = im.from.ID(ctx); err != nil {
		im.id = "unknown"
	}
	all, err := im.from.Sessions(ctx)
	if err := skipDamage(err); err != nil {
		return err
	}
	if err := im.repair(ctx); err != nil {
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
	if err := im.sessions(ctx, all, progress); err != nil {
		return err
	}
	return im.summaries(ctx)
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

// repair rebuilds this archive if it is damaged, and takes from the other one what is lost here.
func (im *importer) repair(ctx context.Context) error {
	r, err := im.a.Verify(ctx, nil)
	if err == nil && slices.ContainsFunc(r.Damage, func(d *DamageError) bool { return !d.Missing() }) {
		_, err = im.a.Rebuild(ctx, nil)
	}
	if err != nil || len(r.Damage) == 0 {
		return err
	}
	_, err = im.a.Fill(ctx, func(s transcript.Session, want Generation) (all []iter.Seq2[transcript.Segment, error]) {
		theirs, _ := im.from.find(ctx, s.Key, 1) // what cannot be found is no source
		for _, g := range theirs.Generations {
			if g.Sum == want.Sum || g.N == want.N {
				all = append(all, im.from.Reader(s.Key, g.N).Segments(ctx))
			}
		}
		return all
	})
	return err
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

// match returns the generation here that has the same bytes, or begins with them, or can grow to them; the next one if there are only
// earlier ones, all of them the same; else a zero one.
func (im *importer) match(ctx context.Context, s, ours Session, g Generation) (Generation, error) {
	if before := (generationOf{s.Key, g.N - 1}); g.N == len(ours.Generations)+1 && (g.N == 1 || im.places[before].n == g.N-1) {
		return Generation{N: g.N}, nil
	}
	for _, o := range ours.Generations {
		size := min(o.Tip.Offset, g.Tip.Offset)
		if size < g.Tip.Offset && o.N < len(ours.Generations) {
			continue
		}
		same, err := im.agree(ctx, landed{generationOf{s.Key, g.N}, size}, o.N, ours.Key)
		if err != nil {
			return Generation{}, err
		}
		if same {
			return o, nil
		}
	}
	return Generation{}, nil
}

// agree reports whether two generations have the same bytes up to the end of g, with those replaced that were forgotten here. Where one
// of them has lost some, the number must be the same one too.
func (im *importer) agree(ctx context.Context, g landed, n int, here transcript.Key) (bool, error) {
	r, f, equal := im.a.Reader(here, n), im.a.Filler(here), int64(0)
	for seg, err := range im.from.Reader(g.Key, g.n).SegmentsPastDamage(ctx) {
		data := bytes.Clone(seg.Data[:min(int64(len(seg.Data)), max(0, g.tip-seg.Start.Offset))])
		f.Fill(data)
		same := int64(0)
		if err = skipDamage(err); err == nil {
			same, err = r.equal(ctx, seg.Start.Offset, data)
		}
		if err != nil || same < 0 {
			return false, err
		}
		equal += same
	}
	return equal == g.tip || f == nil && n == g.n, ctx.Err() // of what one of them has lost nobody can tell
}

// grow appends what a generation here lacks of one of from, as far as that is whole, and returns its end. One that is not here is stored
// with what is lost of it.
func (im *importer) grow(ctx context.Context, s Session, as transcript.Session, g, here Generation) (tip int64, err error) {
	r := im.from.Reader(s.Key, g.N)
	if here.Tip.Generation == 0 {
		was, err := r.generation(ctx)
		if err != nil {
			return 0, err
		}
		c := copied{segments: r.SegmentsPastDamage(ctx), end: was.Offset, lost: g.Sum == unknownSum, was: &was}
		im.Bytes += g.Tip.Offset
		return g.Tip.Offset, im.a.take(ctx, as, here.N, c)
	}
	if tip = here.Tip.Offset; tip >= g.Tip.Offset {
		return tip, nil
	}
	for seg, err := range r.SegmentsFrom(ctx, tip) {
		if err != nil {
			return tip, skipDamage(err) // Damage has it
		}
		seg.Start, seg.End.Generation = transcript.Cursor{Generation: here.N, Offset: tip}, here.N
		if err := im.a.Append(ctx, as, seg); err != nil {
			return tip, err
		}
		tip, im.Bytes = seg.End.Offset, im.Bytes+int64(len(seg.Data))
	}
	return tip, nil
}

// pointers indexes the originals that are here, with all their bytes.
func (im *importer) pointers(ctx context.Context) error {
	file := im.a.fileNow(ctx)
	var all []indexed
	err := im.from.each(ctx, kindID, func(_ *bolt.Tx, k, v []byte) error {
		f, err := parsePointer(k, v)
		to, ok := im.places[generationOf{f.Key, f.Generation}]
		if !ok || err != nil || checkPointer(f.Pointer, to.tip) != nil {
			return nil
		}
		if f.Key, f.Generation = to.Key, to.n; !im.drops(f) {
			all = append(all, indexedAt(f))
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
			batch = slices.DeleteFunc(batch, func(e indexed) bool { return e.known(tx) })
			im.Pointers += len(batch)
			return putEntries(tx, batch)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
