package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
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
	Damage   []*DamageError   // of the file: skipped
}

// Import adds what another archive's file has: sessions, generations that are longer, indexed originals and summaries. The file
// may be damaged, as it is scanned for intact entries like one that Rebuild reads; it does not change. What is here already is
// not stored again. If this archive is damaged, it is rebuilt first, with the other one as a source. A session whose content
// differs gets a key of its own. progress, if not nil, is called with thousandths.
func (a *Archive) Import(ctx context.Context, file string, progress func(done, total int64)) (Imported, error) {
	if progress == nil {
		progress = func(int64, int64) {}
	}
	im := Imported{}
	err := a.importFile(ctx, file, &im, progress)
	if err != nil {
		return im, fmt.Errorf("import archive %s: %w", file, err)
	}
	return im, nil
}

func (a *Archive) importFile(ctx context.Context, file string, got *Imported, progress func(done, total int64)) error {
	if sameFile(a.path, file) {
		return errors.New("this is the archive itself")
	}
	if a.o.ReadOnly {
		return ErrReadOnly
	}
	other, err := Open(file, Options{})
	if err == nil {
		err = other.rebuildable(ctx)
	}
	if err != nil {
		return err
	}
	l, err := other.lock(ctx, false, nil) // nobody writes meanwhile
	if err != nil {
		return err
	}
	defer l.release()
	if err := os.MkdirAll(filepath.Dir(a.path), 0o700); err != nil {
		return err
	}
	if err := a.checkSpace(filepath.Dir(a.path), l.info.Size()); err != nil {
		return err
	}
	tmp := filepath.Join(filepath.Dir(a.path), tempName())
	defer os.Remove(tmp)
	r, _, err := a.salvage(ctx, l.data, tmp, nil, func(done, _ int64) { progress(done/2, 1000) })
	if err != nil {
		return err
	}
	from := &Archive{path: tmp, o: Options{ReadOnly: true}, codec: a.codec}
	for {
		im := importer{a: a, from: from, places: map[generationOf]generationOf{}}
		err := im.run(ctx, func(done, total int64) { progress(500+500*done/max(1, total), 1000) })
		*got = im.Imported
		for _, d := range r.Damage {
			d.Path = file
			got.Damage = append(got.Damage, d)
		}
		if !errors.Is(err, errReplaced) { // what was forgotten meanwhile may be in what was read
			return err
		}
	}
}

// errReplaced is returned if the archive's file was replaced meanwhile.
var errReplaced = errors.New("the archive was replaced meanwhile")

// importer is one Import.
type importer struct {
	Imported
	a, from *Archive
	id      string                        // of from
	places  map[generationOf]generationOf // where the generations of from are here
	holes   holes                         // what is forgotten, in from
	removal Removal                       // why there are holes
	file    string                        // identifies the archive's file; "": any
	same    bool                          // keep the numbers of sessions: a reader may be using them
}

// generationOf names a generation.
type generationOf struct {
	transcript.Key
	n int
}

func (im *importer) run(ctx context.Context, progress func(done, total int64)) (err error) {
	if im.id, err = im.from.ID(ctx); err != nil {
		im.id = "unknown"
	}
	all, err := im.from.Sessions(ctx)
	if err := skipDamage(err); err != nil {
		return err
	}
	if err := im.repair(ctx, all); err != nil {
		return err
	}
	if err := im.a.update(ctx, 0, func(tx *bolt.Tx) error { // it may not exist yet
		im.file = fileOf(tx)
		return nil
	}); err != nil {
		return err
	}
	if all, err = im.forget(ctx, all); err != nil {
		return err
	}
	if err := im.each(ctx, all, im.session, progress); err != nil {
		return err
	}
	if err := im.entries(ctx, kindID, func(k, v []byte) ([]byte, bool) { return im.pointer(parsePointer(k, v)) }); err != nil {
		return err
	}
	return im.entries(ctx, kindSummary, keepSummary)
}

// repair rebuilds this archive if it is damaged in one of the sessions, or in what lists them.
func (im *importer) repair(ctx context.Context, all []Session) error {
	err := im.a.CheckIndex(ctx)
	for _, s := range all {
		ours, missing := im.a.find(ctx, s.Key)
		for _, g := range ours.Generations {
			if err == nil && missing == nil {
				err = im.a.Check(ctx, s.Key, g.N)
			}
		}
	}
	if !errors.As(err, new(*DamageError)) {
		return err
	}
	_, err = im.a.Rebuild(ctx, func(ctx context.Context, s Session, n int) (io.ReaderAt, func(), error) {
		want := s.Generations[n-1]
		theirs, err := im.from.find(ctx, s.Key)
		for _, g := range theirs.Generations {
			if err == nil && (g.Sum == want.Sum || n == len(s.Generations) && g.Tip.Offset >= want.Tip.Offset) {
				return sourceOf(ctx, im.from.Reader(s.Key, g.N), g.Tip.Offset), nil, nil
			}
		}
		return nil, nil, nil
	}, nil)
	return err
}

// forget leaves out the sessions that were forgotten here, and finds the texts that were.
func (im *importer) forget(ctx context.Context, all []Session) ([]Session, error) {
	t, err := im.a.tombs()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s Session) bool { return t.forgets(s.Session) })
	im.holes, err = im.from.holes(ctx, all, t.finder, func(int64, int64) {})
	return all, err
}

// each imports sessions one by one.
func (im *importer) each(ctx context.Context, all []Session, one func(context.Context, Session) error, progress func(done, total int64)) error {
	var done, total int64
	for _, s := range all {
		total += s.size()
	}
	for _, s := range all {
		if err := one(ctx, s); err != nil {
			return err
		}
		done += s.size()
		progress(done, total)
	}
	return nil
}

// pointer returns the record of an original of from, if its session is here and it is intact.
func (im *importer) pointer(f Found, err error) ([]byte, bool) {
	to, ok := im.places[generationOf{f.Key, f.Generation}]
	return encodePointer(to.Key, to.n, f.Pointer), ok && err == nil && !im.holes.touch(f)
}

// keepSummary returns the record of an intact summary.
func keepSummary(k, v []byte) ([]byte, bool) {
	record, err := unseal(kindSummary, k, v)
	return record, err == nil
}

// update runs fn in a write transaction, unless the archive's file was replaced.
func (im *importer) update(ctx context.Context, need int64, fn func(tx *bolt.Tx) error) error {
	return im.a.update(ctx, need, func(tx *bolt.Tx) error {
		if im.file != "" && im.file != fileOf(tx) {
			return errReplaced
		}
		return fn(tx)
	})
}

// session imports one session.
func (im *importer) session(ctx context.Context, s Session) error {
	ours, err := im.a.find(ctx, s.Key)
	if errors.Is(err, ErrNotFound) {
		return im.add(ctx, s, s.Key)
	}
	if err != nil {
		return err
	}
	grown := false
	for _, g := range s.Generations {
		n, more, err := im.merge(ctx, s, ours, g)
		if err != nil {
			return err
		}
		if n == 0 {
			return im.rename(ctx, s)
		}
		grown = grown || more > 0
		im.Bytes += more
		im.places[generationOf{s.Key, g.N}] = generationOf{s.Key, n}
	}
	if grown {
		im.Grown++
	}
	return nil
}

// merge adds to the generation here that begins with the same bytes what it lacks. n is 0 if there is none.
func (im *importer) merge(ctx context.Context, s, ours Session, g Generation) (n int, more int64, err error) {
	of := im.holes.of[generationOf{s.Key, g.N}]
	theirs := of.source(sourceOf(ctx, im.from.Reader(s.Key, g.N), g.Tip.Offset))
	if len(of.holes) > 0 {
		if g.Sum, err = of.sum.sum(); err != nil {
			return 0, 0, err
		}
	}
	for _, o := range ours.Generations {
		short := min(o.Tip.Offset, g.Tip.Offset)
		if o.Tip.Offset == g.Tip.Offset && o.Sum == g.Sum || short == 0 && o.N == g.N {
			n = o.N
		} else if o.Tip.Offset >= g.Tip.Offset {
			if same, err := begins(sourceOf(ctx, im.a.Reader(s.Key, o.N), o.Tip.Offset), g.Tip.Offset, g.Sum); err != nil {
				return 0, 0, err
			} else if same {
				return o.N, 0, nil
			}
			continue
		} else if same, err := begins(theirs, o.Tip.Offset, o.Sum); err != nil {
			return 0, 0, err
		} else if !same || o.N != len(ours.Generations) {
			continue
		} else {
			n = o.N
		}
		for off := o.Tip.Offset; off < g.Tip.Offset; {
			data, err := readSpan(theirs, nil, off, min(g.Tip.Offset, off+pieceSize))
			if err != nil {
				return 0, 0, im.skip(err)
			}
			end := transcript.Cursor{Generation: n, Offset: off + int64(len(data))}
			if end.Offset == g.Tip.Offset {
				end.Head, end.Back = g.Tip.Head, g.Tip.Back
			}
			err = im.a.Append(ctx, ours.Session, transcript.Segment{Start: transcript.Cursor{Generation: n, Offset: off}, Data: data, End: end})
			if err != nil {
				return 0, 0, err
			}
			more, off = more+int64(len(data)), end.Offset
		}
		return n, more, nil
	}
	return 0, 0, nil
}

// skip lists damage of the other archive, and returns any other error.
func (im *importer) skip(err error) error {
	if d := (*DamageError)(nil); errors.As(err, &d) {
		im.Damage = append(im.Damage, d)
		return nil
	}
	return err
}

// begins reports whether the first n bytes have the hash. Damaged ones do not.
func begins(r io.ReaderAt, n int64, sum mark.Hash) (bool, error) {
	h := sha256.New()
	_, err := io.Copy(h, io.NewSectionReader(r, 0, n))
	if errors.As(err, new(*DamageError)) {
		return false, nil
	}
	return err == nil && mark.Hash(h.Sum(nil)) == sum, err
}

// source reads a generation at any offset.
type source func(p []byte, off int64) (int, error)

// ReadAt reads bytes of the generation.
func (s source) ReadAt(p []byte, off int64) (int, error) { return s(p, off) }

// sourceOf returns the first size bytes of the generation that r reads.
func sourceOf(ctx context.Context, r *Reader, size int64) source {
	return func(p []byte, off int64) (int, error) {
		n := min(int64(len(p)), size-off)
		if n <= 0 {
			return 0, io.EOF
		}
		data, err := r.Span(ctx, transcript.Span{Off: off, Len: n})
		if err == nil && n < int64(len(p)) {
			err = io.EOF
		}
		return copy(p, data), err
	}
}

// source returns a source in which the holes are filled.
func (f filled) source(from source) source {
	return func(p []byte, off int64) (int, error) {
		n, err := from(p, off)
		fillSorted(p[:n], off, f.holes)
		return n, err
	}
}

// rename imports a session under a key of its own, once.
func (im *importer) rename(ctx context.Context, s Session) error {
	key := s.Key
	key.ID += "~" + im.id[:min(8, len(im.id))]
	im.Renamed = append(im.Renamed, key)
	if _, err := im.a.find(ctx, key); !errors.Is(err, ErrNotFound) {
		return err
	}
	s.Path, s.Root = "", ""
	return im.add(ctx, s, key)
}

// add imports a session that is not here, block by block. It appears with the last transaction.
func (im *importer) add(ctx context.Context, s Session, key transcript.Key) error {
	var records []generationRecord
	var num uint64 // in from
	err := im.from.view(ctx, func(tx *bolt.Tx) error {
		r, _, err := getSession(tx, s.Key)
		num = r.Num
		for _, g := range s.Generations {
			var record generationRecord
			if err == nil {
				record, err = mustGeneration(tx, newStream(num, g.N))
			}
			records = append(records, record)
		}
		return err
	})
	if err != nil {
		return err
	}
	record := newSessionRecord(s.Session)
	record.Generation = len(records)
	if record.Num = num; !im.same {
		err = im.update(ctx, 0, func(tx *bolt.Tx) (err error) {
			record.Num, err = newNum(tx)
			return err
		})
	}
	touched := false
	for i, g := range s.Generations {
		if err == nil {
			err = im.blocks(ctx, s.Session, key, newStream(num, g.N), newStream(record.Num, g.N))
		}
		of := im.holes.of[generationOf{s.Key, g.N}]
		of.change(&records[i])
		touched = touched || of.changes()
		im.places[generationOf{s.Key, g.N}] = generationOf{key, g.N}
		im.Bytes += g.Tip.Offset
	}
	if err != nil {
		return err
	}
	im.Sessions++
	if touched = touched || im.removal.InState(s.State); touched && im.removal.Reset == nil {
		s.State = nil
	} else if touched {
		s.State = im.removal.Reset(s.State)
	}
	return im.update(ctx, int64(len(s.State)), func(tx *bolt.Tx) error {
		for i, g := range records {
			if err := putGeneration(tx, newStream(record.Num, i+1), g); err != nil {
				return err
			}
		}
		if s.State != nil {
			if err := putState(tx, key, s.State); err != nil {
				return err
			}
		}
		return putSession(tx, key, record)
	})
}

// blocks copies the intact blocks of a track of s, which has the given key here.
func (im *importer) blocks(ctx context.Context, s transcript.Session, key transcript.Key, from, to stream) error {
	for next := int64(0); ; {
		var batch []*packed
		size, more := 0, false
		err := im.from.view(ctx, func(tx *bolt.Tx) error {
			c := tx.Bucket(bucketManifest).Cursor()
			for k, v := c.Seek(manifestKey(from, next)); bytes.HasPrefix(k, from[:]) && len(k) == len(from)+8; k, v = c.Next() {
				if size > fetchSize {
					more = true
					break
				}
				next = manifestOffset(k) + 1
				b, err := parseBlock(k, v)
				if err != nil {
					continue
				}
				value, err := b.value(tx)
				if err != nil {
					continue
				}
				batch = append(batch, &packed{block: b, of: transcript.Session{Key: key, Class: s.Class}, stored: bytes.Clone(value)})
				size += len(value)
			}
			return nil
		})
		if err != nil {
			return err
		}
		var intact []*packed
		for _, b := range batch {
			value := b.stored
			raw, err := im.from.unpack(b.block, value, nil, false)
			if err != nil {
				continue
			}
			env, packed, _ := b.open(value) // it was opened before
			b.stored, b.by = packed, env.By
			if b.ID = 0; fillSorted(raw, b.Off, im.holes.tracks[generationOf{s.Key, from.generation()}]) {
				b.Sum = mark.Sum(raw)
				if b.stored, err = im.a.codec.pack(raw, b.Sum); err != nil {
					return err
				}
			}
			if err := im.a.reuse(ctx, b); err != nil {
				return err
			}
			intact = append(intact, b)
		}
		err = im.update(ctx, int64(size), func(tx *bolt.Tx) error {
			for _, b := range intact {
				if err := b.write(tx, to); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || !more {
			return err
		}
	}
}

// entries copies the entries of an index that are not here.
func (im *importer) entries(ctx context.Context, kind kind, change func(k, v []byte) (record []byte, ok bool)) error {
	var last []byte
	for more := true; more; {
		var batch []indexed
		var err error
		last, more, err = im.from.page(ctx, kind, last, func(_ *bolt.Tx, k, v []byte) error {
			if record, ok := change(k, v); ok {
				batch = append(batch, indexed{bytes.Clone(k), bytes.Clone(record)})
			}
			return nil
		})
		if err = im.skip(err); err != nil {
			return err
		}
		if len(batch) == 0 {
			continue
		}
		added := 0
		err = im.update(ctx, entrySize(batch), func(tx *bolt.Tx) error {
			added = 0
			for _, e := range batch {
				if was, err := get(tx, kind, e.key); err == nil && was != nil {
					continue
				}
				if err := put(tx, kind, e.key, e.record); err != nil {
					return err
				}
				added++
			}
			return nil
		})
		if err != nil {
			return err
		}
		if kind == kindID {
			im.Pointers += added
		}
	}
	return nil
}
