package archive

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Removal is what Forget or Compact removes.
type Removal struct {
	Texts    []Text
	Sessions []transcript.Key
	Index    []Found // originals in other sessions, to be indexed if the index had them in a removed one
	Remember bool    // keep texts from being stored even if they are not in the archive yet: Forget does not fail
	// Reset returns the state to store with a session that has lost some bytes. It may be nil: no state.
	Reset func(state []byte) []byte
}

// Removed is what a rewrite has removed.
type Removed struct {
	Touched  []transcript.Key // sessions that have lost some bytes
	Places   int              // stretches of bytes that were replaced
	Bytes    int64            // in them, and in removed sessions
	Sessions []transcript.Key // that were removed
	IDs      int              // that do not resolve any more
	Before   int64            // size of the archive's file in bytes
	After    int64
}

// Forget removes sessions, and all occurrences of texts: it writes a new file without them, verifies it, puts
// it in the archive's place and overwrites the old one. Tombstones keep what was removed from being stored again.
// Backups are not changed. Others wait for the lock meanwhile. A process that dies leaves the old file or the new one.
//
// Forget fails with ErrNotFound if nothing of it is in the archive. progress, if not nil, is called with thousandths.
func (a *Archive) Forget(ctx context.Context, r Removal, progress func(done, total int64)) (Removed, error) {
	w := rewriter{a: a, removal: r, forget: true}
	return w.run(ctx, "forget", progress)
}

// Compact replaces the archive's file by one without free space and without the given sessions, as Forget does. It adds no
// tombstones: if their transcripts come back, they are stored again.
func (a *Archive) Compact(ctx context.Context, r Removal, progress func(done, total int64)) (Removed, error) {
	w := rewriter{a: a, removal: Removal{Sessions: r.Sessions, Index: r.Index, Reset: r.Reset}}
	return w.run(ctx, "compact archive", progress)
}

// Preview returns what Forget would remove, without its IDs, and changes nothing.
func (a *Archive) Preview(ctx context.Context, r Removal, progress func(done, total int64)) (Removed, error) {
	if progress == nil {
		progress = func(int64, int64) {}
	}
	w := rewriter{a: a, removal: r, forget: true, now: time.Now()}
	w.tombs = w.tombs.with(r, w.now)
	err := w.list(ctx, a)
	if err == nil {
		err = w.search(ctx, a, progress)
	}
	if err != nil {
		return w.Removed, fmt.Errorf("search archive: %w", err)
	}
	return w.Removed, nil
}

// rewriter is one rewrite of the archive's file.
type rewriter struct {
	Removed
	a       *Archive
	removal Removal
	forget  bool
	now     time.Time
	tombs   *tombs    // old and new ones; of a preview, the new ones
	all     []Session // in the old file
	kept    []Session // of them
	removed map[transcript.Key]bool
	holes   holes
	gone    map[string][]byte // new entries of "gone"

	declared []logEntry
	unsalted map[string]bool // keys of the salts that are removed
	missing  []*DamageError  // stretches that were lost in an earlier repair
}

func (w *rewriter) run(ctx context.Context, what string, progress func(done, total int64)) (Removed, error) {
	if progress == nil {
		progress = func(int64, int64) {}
	}
	w.now = time.Now().UTC()
	err := w.rewrite(ctx, progress)
	if errors.Is(err, errAbsent) {
		err = ErrNotFound
	}
	if err != nil {
		return w.Removed, fmt.Errorf("%s: %w", what, wrapFull(err))
	}
	return w.Removed, nil
}

func (w *rewriter) rewrite(ctx context.Context, progress func(done, total int64)) (err error) {
	if _, err := w.a.stat(); errors.Is(err, errAbsent) && w.removal.Remember {
		return w.remember()
	} else if err != nil {
		return err
	}
	path, err := filepath.EvalSymlinks(w.a.path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	s, err := w.a.openWrite(ctx, info.Size())
	if err != nil {
		return err
	}
	defer s.close()
	old := s.hold()
	w.Before = s.lock.info.Size()
	if w.tombs, err = w.a.tombs(); err != nil {
		return err
	}
	if w.forget {
		w.tombs = w.tombs.with(w.removal, w.now)
	}
	if err := w.intact(ctx, old, func(done, total int64) { progress(200*done/max(1, total), 1000) }); err != nil {
		return err
	}
	if err := w.list(ctx, old); err != nil {
		return err
	}
	if err := w.search(ctx, old, func(done, total int64) { progress(200+200*done/max(1, total), 1000) }); err != nil {
		return err
	}
	found := !w.forget || len(w.Touched)+len(w.Sessions) > 0
	if !found && !w.removal.Remember {
		return ErrNotFound
	}
	if w.forget { // from now on nothing of it is stored, even if the process dies
		if err := w.tombs.store(w.a); err != nil || !found {
			return err
		}
	}
	tmp, err := newFile(path)
	if err != nil {
		return err
	}
	defer os.Remove(tmp) // fails after the rename
	if err := w.copy(ctx, old, tmp, func(done, total int64) { progress(400+300*done/max(1, total), 1000) }); err != nil {
		return err
	}
	if err := w.check(ctx, tmp, func(done, total int64) { progress(700+300*done/max(1, total), 1000) }); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := w.a.swap(tmp, path); err != nil {
		return err
	}
	w.a.unfilled.Store(false)
	if after, err := os.Stat(path); err == nil {
		w.After = after.Size()
	}
	if !w.forget && len(w.Touched) == 0 {
		return nil
	}
	return erase(f, w.Before)
}

// remember stores the tombstones if there is no archive yet.
func (w *rewriter) remember() error {
	known, err := w.a.tombs()
	if err == nil {
		err = os.MkdirAll(filepath.Dir(w.a.path), 0o700)
	}
	if err != nil {
		return err
	}
	return known.with(w.removal, w.now).store(w.a)
}

// intact verifies the old file. What is damaged could not be repaired after the rewrite, and a forgotten text may be in it.
func (w *rewriter) intact(ctx context.Context, old *Archive, progress func(done, total int64)) error {
	r, err := old.Verify(ctx, progress)
	if err != nil {
		return err
	}
	for _, d := range r.Damage {
		if !errors.Is(d, ErrMissing) && !errors.Is(d, ErrNotFound) {
			return d
		}
	}
	w.missing = r.Damage
	return nil
}

// list reads the sessions.
func (w *rewriter) list(ctx context.Context, old *Archive) (err error) {
	w.all, err = old.Sessions(ctx)
	if err != nil {
		return err
	}
	w.removed = map[transcript.Key]bool{}
	for _, k := range w.removal.Sessions {
		w.removed[k] = true
	}
	for _, s := range w.all {
		if !w.removed[s.Key] {
			w.kept = append(w.kept, s)
			continue
		}
		w.Sessions = append(w.Sessions, s.Key)
		w.Bytes += s.size()
	}
	return nil
}

// size returns the bytes of all generations.
func (s Session) size() (n int64) {
	for _, g := range s.Generations {
		n += g.Tip.Offset
	}
	return n
}

// search finds the forgotten texts.
func (w *rewriter) search(ctx context.Context, old *Archive, progress func(done, total int64)) error {
	var err error
	if w.holes, err = old.holes(ctx, w.kept, w.tombs, progress); err != nil {
		return err
	}
	for _, s := range w.kept {
		touched := false
		for _, g := range s.Generations {
			of := w.holes.of[generationOf{s.Key, g.N}]
			touched = touched || len(of.holes) > 0
			w.Places += len(of.holes)
			for _, h := range of.holes {
				w.Bytes += h.to - h.from
			}
		}
		if touched {
			w.Touched = append(w.Touched, s.Key)
		}
	}
	return nil
}

// holes are the forgotten stretches in an archive.
type holes struct {
	of     map[generationOf]filled
	tracks map[generationOf][]hole // offsets in the track
}

// filled is a generation in which stretches are to be replaced.
type filled struct {
	holes []hole
	sum   generationRecord // with the hash of the replaced bytes
}

// holes finds the stretches of sessions that tombstones name. It continues after damage.
func (a *Archive) holes(ctx context.Context, all []Session, t *tombs, progress func(done, total int64)) (found holes, err error) {
	found = holes{map[generationOf]filled{}, map[generationOf][]hole{}}
	if t == nil || t.longest == 0 {
		return found, nil
	}
	var done, total int64
	for _, s := range all {
		total += s.size()
	}
	for _, s := range all {
		r := a.Reader(s.Key, 0)
		for _, g := range s.Generations {
			r.n = g.N
			if err := r.findHoles(ctx, t, found.tracks); err != nil {
				return found, err
			}
			done += g.Tip.Offset
			progress(done, total)
		}
		for _, g := range s.Generations { // a track is shared: what one of them loses, another may lose too
			r.n = g.N
			f, err := r.fill(ctx, found.tracks)
			if err != nil {
				return found, err
			}
			if len(f.holes) > 0 {
				found.of[generationOf{s.Key, g.N}] = f
			}
		}
	}
	return found, nil
}

// findHoles adds the forgotten stretches of the generation to those of its track.
func (r *Reader) findHoles(ctx context.Context, t *tombs, tracks map[generationOf][]hole) error {
	g, err := r.generation(ctx)
	if err != nil {
		return skipDamage(err)
	}
	track := generationOf{r.key, r.stream.generation()}
	var buf []byte // the last bytes, in which a text may begin
	for p, err := range r.portions(ctx, 0, g.Offset) {
		if err != nil {
			if err := skipDamage(err); err != nil {
				return err
			}
			buf = buf[:0]
			continue
		}
		buf = append(buf, p.data...)
		from := p.end - int64(len(buf))
		for _, h := range t.find(buf) {
			for off, end := h.from+from, h.to+from; off < end; {
				e := r.layout.find(off)
				n := min(end, e.end()) - off
				at := e.At + off - e.Off
				tracks[track] = append(tracks[track], hole{at, at + n, h.fill})
				off += n
			}
		}
		buf = buf[:copy(buf, buf[max(0, len(buf)-t.longest+1):])]
	}
	tracks[track] = joinHoles(tracks[track])
	return nil
}

// fill returns the holes of the generation, and its hash with them.
func (r *Reader) fill(ctx context.Context, tracks map[generationOf][]hole) (f filled, err error) {
	g, err := r.generation(ctx)
	if err != nil {
		return f, skipDamage(err)
	}
	for _, e := range r.layout {
		for _, h := range overlapping(tracks[generationOf{r.key, r.stream.generation()}], e.At, e.At+e.Len) {
			from, to := max(h.from, e.At), min(h.to, e.At+e.Len)
			f.holes = append(f.holes, hole{from - e.At + e.Off, to - e.At + e.Off, h.fill})
		}
	}
	if f.holes = joinHoles(f.holes); len(f.holes) == 0 {
		return f, nil
	}
	sum := sha256.New()
	for p, err := range r.portions(ctx, 0, g.Offset) {
		if err != nil {
			if err := skipDamage(err); err != nil {
				return f, err
			}
			sum = unknownHash()
			break
		}
		data := slices.Clone(p.data)
		fillSorted(data, p.end-int64(len(data)), f.holes)
		sum.Write(data)
	}
	return f, f.sum.setHash(sum)
}

// skipDamage returns nil for damage.
func skipDamage(err error) error {
	if errors.As(err, new(*DamageError)) {
		return nil
	}
	return err
}

// change replaces what is forgotten in the record of a generation: its hash, and the fingerprints of the bytes that have
// changed, which would tell a guess.
func (f filled) change(g *generationRecord) {
	if len(f.holes) == 0 {
		return
	}
	g.Hash = f.sum.Hash
	if len(overlapping(f.holes, 0, g.Head.N)) > 0 {
		g.Head = transcript.Fingerprint{}
	}
	if len(overlapping(f.holes, g.Offset-g.Back.N, g.Offset)) > 0 {
		g.Back = transcript.Fingerprint{}
	}
}

// copy writes the new file.
func (w *rewriter) copy(ctx context.Context, old *Archive, tmp string, progress func(done, total int64)) error {
	c := &copier{a: w.a}
	into := &Archive{path: tmp, enc: w.a.enc, best: w.a.best, dec: w.a.dec}
	return c.run(ctx, tmp, func(ctx context.Context) error {
		into.held = &store{a: into, db: c.db, write: true}
		if err := c.db.Update(func(tx *bolt.Tx) error { return initialise(tx) }); err != nil {
			return err
		}
		return w.importAll(ctx, old, into, progress)
	})
}

func (w *rewriter) importAll(ctx context.Context, old, into *Archive, progress func(done, total int64)) error {
	im := importer{a: into, from: old, holes: w.holes, places: map[generationOf]generationOf{}, reset: w.removal.Reset, same: true}
	if err := im.each(ctx, w.kept, func(ctx context.Context, s Session) error { return im.add(ctx, s, s.Key) }, progress); err != nil {
		return err
	}
	w.gone = map[string][]byte{}
	if err := im.entries(ctx, bucketIDs, func(k, v []byte) ([]byte, bool) {
		f, err := parsePointer(k, v)
		if err == nil && (w.forget && w.removed[f.Key] || w.holes.touch(f)) {
			w.bury(f)
		}
		return im.pointer(f, err)
	}); err != nil {
		return err
	}
	if err := into.update(ctx, 0, w.reindex); err != nil {
		return err
	}
	if !w.forget && len(w.Touched) == 0 { // a summary may have a forgotten text; the summarizer makes it again
		if err := im.entries(ctx, bucketSummaries, keepSealed); err != nil {
			return err
		}
	}
	for _, name := range [][]byte{bucketGone, bucketLog} {
		if err := im.entries(ctx, name, keepSealed); err != nil {
			return err
		}
	}
	if err := w.declare(ctx, old); err != nil {
		return err
	}
	if err := im.entries(ctx, bucketSalts, func(k, v []byte) ([]byte, bool) {
		record, ok := keepSealed(k, v)
		return record, ok && !w.unsalted[string(k)]
	}); err != nil {
		return err
	}
	return into.update(ctx, 0, func(tx *bolt.Tx) error { return w.finish(ctx, old, tx) })
}

// reindex indexes the originals of Removal.Index that the index does not have.
func (w *rewriter) reindex(tx *bolt.Tx) error {
	ids := tx.Bucket(bucketIDs)
	for _, f := range w.removal.Index {
		key := pointerKey(f.Pointer)
		if ids.Get(key) != nil || w.holes.touch(f) {
			continue
		}
		if err := ids.Put(key, seal(key, encodePointer(f.Key, f.Generation, f.Pointer))); err != nil {
			return err
		}
		if w.forget {
			delete(w.gone, string(w.goneKey(f)))
		}
	}
	return nil
}

// goneKey returns the key of an original in "gone".
func (w *rewriter) goneKey(f Found) []byte {
	return append(w.tombs.goneKey(f.Hash.ID()), byte(f.Shape))
}

// finish writes what belongs to the archive as a whole.
func (w *rewriter) finish(ctx context.Context, old *Archive, tx *bolt.Tx) error {
	err := old.view(ctx, func(from *bolt.Tx) error {
		for _, name := range [][]byte{bucketSessions, bucketLog} {
			if b := from.Bucket(name); b != nil {
				if err := tx.Bucket(name).SetSequence(b.Sequence()); err != nil {
					return err
				}
			}
		}
		return tx.Bucket(bucketMeta).Put(keyID, from.Bucket(bucketMeta).Get(keyID))
	})
	if err != nil {
		return err
	}
	for k, v := range w.gone {
		if err := tx.Bucket(bucketGone).Put([]byte(k), seal([]byte(k), v)); err != nil {
			return err
		}
	}
	w.IDs = len(w.gone)
	for _, e := range w.declared {
		if err := addLog(tx, e); err != nil {
			return err
		}
	}
	return nil
}

// touch reports whether a hole is in an original.
func (h holes) touch(f Found) bool {
	holes := h.of[generationOf{f.Key, f.Generation}].holes
	return slices.ContainsFunc(f.Parts, func(p transcript.Part) bool { return len(overlapping(holes, p.Span.Off, p.Span.End())) > 0 })
}

// bury remembers the ID of an original that has lost bytes, without its hash.
func (w *rewriter) bury(f Found) {
	g := Gone{Time: w.now, Found: f, Whole: w.removed[f.Key]}
	if g.Whole {
		g.Found = Found{Key: f.Key, Generation: f.Generation, Pointer: transcript.Pointer{Record: f.Record, Last: f.Last, Time: f.Time}}
	}
	g.Hash = mark.Hash{}
	w.gone[string(w.goneKey(f))] = w.tombs.encodeGone(g)
}

// check verifies the new file, and that it has every session that is kept.
func (w *rewriter) check(ctx context.Context, tmp string, progress func(done, total int64)) error {
	there, err := Open(tmp, Options{ReadOnly: true})
	if err != nil {
		return err
	}
	r, err := there.Verify(ctx, progress)
	if err != nil {
		return err
	}
	for _, d := range r.Damage {
		if !slices.ContainsFunc(w.missing, func(o *DamageError) bool { return o.Session == d.Session && o.Generation == d.Generation }) {
			return fmt.Errorf("verify the new file: %w", d)
		}
	}
	now, err := there.Sessions(ctx)
	if err != nil {
		return err
	}
	for at, s := range w.kept {
		if at == len(now) || now[at].Key != s.Key || len(now[at].Generations) != len(s.Generations) {
			return fmt.Errorf("the new file lacks session %s %s", s.Agent, s.ID)
		}
		for i, g := range s.Generations {
			touched := len(w.holes.of[generationOf{s.Key, g.N}].holes) > 0
			if n := now[at].Generations[i]; n.Tip.Offset != g.Tip.Offset || !touched && n.Sum != g.Sum {
				return fmt.Errorf("the new file has other bytes of generation %d of session %s %s", g.N, s.Agent, s.ID)
			}
		}
	}
	return nil
}

// erase overwrites the first size bytes of a file that has no name any more. One with a name is somebody's copy.
func erase(f *os.File, size int64) error {
	info, err := f.Stat()
	if err != nil || links(info) > 0 {
		return err
	}
	zeros := make([]byte, 1<<20)
	for off := int64(0); off < size; off += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(size-off, int64(len(zeros)))], off); err != nil {
			return fmt.Errorf("overwrite the old file: %w", err)
		}
	}
	return f.Sync()
}
