package archive

import (
	"bytes"
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
	// Reset returns the state to store with a session that has lost some bytes, or whose state has a text. It may be nil: no state.
	Reset func(state []byte) []byte
}

// InState reports whether the state of a session has one of the texts, in letters of any case.
func (r Removal) InState(state []byte) bool {
	return slices.ContainsFunc(r.Texts, func(t Text) bool {
		return t.From == 0 && t.To == len(t.Bytes) && bytes.Contains(bytes.ToLower(state), bytes.ToLower(t.Bytes))
	})
}

// Removed is what a rewrite has removed.
type Removed struct {
	Touched  []transcript.Key // sessions that have lost some bytes
	States   []transcript.Key // others, whose state had a text
	Places   int              // stretches of bytes that were replaced
	Bytes    int64            // in them, and in removed sessions
	Sessions []transcript.Key // that were removed
	IDs      int              // that do not resolve any more
	Before   int64            // size of the archive's file in bytes
	After    int64
	Links    uint64 // other names of the old file, which still has everything: hard links that somebody made
}

// Forget removes sessions, and all occurrences of texts that are in the archive now: it writes a new file without them,
// verifies it, puts it in the archive's place and overwrites the old one, and those that Rebuild has set aside. Tombstones
// keep what was at these places from being stored again. Backups are not changed. Others wait for the lock meanwhile. A
// process that dies leaves the old file or the new one.
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
	w := rewriter{a: a, removal: r, forget: true}
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
	tombs   *tombs    // as they were
	all     []Session // in the old file
	kept    []Session // of them
	removed map[transcript.Key]bool
	holes   holes
	gone    map[string]bool // keys of the originals that the index loses
	missing []*DamageError  // stretches that were lost in an earlier repair
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
	if _, err := w.a.stat(); err != nil {
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
	if err := w.intact(ctx, old, func(done, total int64) { progress(200*done/max(1, total), 1000) }); err != nil {
		return err
	}
	if err := w.list(ctx, old); err != nil {
		return err
	}
	if err := w.search(ctx, old, func(done, total int64) { progress(200+200*done/max(1, total), 1000) }); err != nil {
		return err
	}
	if w.forget && len(w.Touched)+len(w.States)+len(w.Sessions) == 0 {
		return ErrNotFound
	}
	if w.forget { // from now on nothing of it is stored again, even if the process dies
		if err := w.tombs.with(w.bury()).store(w.a); err != nil {
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
	if after, err := os.Stat(path); err == nil {
		w.After = after.Size()
	}
	if !w.forget {
		return nil
	}
	if w.Links, err = erase(f); err != nil {
		return err
	}
	return w.eraseAsides(path)
}

// eraseAsides removes the damaged files that were set aside: nobody can tell what is in them.
func (w *rewriter) eraseAsides(path string) error {
	all, err := setAsides(path)
	if err != nil {
		return err
	}
	for _, aside := range all {
		f, err := os.OpenFile(aside, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		err = os.Remove(aside)
		if err == nil {
			var links uint64
			links, err = erase(f)
			w.Links += links
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// bury returns the tombstones of what is removed.
func (w *rewriter) bury() (all []tomb) {
	of := func(k transcript.Key) transcript.Key { return transcript.Key{Agent: k.Agent, ID: mark.Name(k.ID)} }
	for _, k := range w.removal.Sessions {
		all = append(all, tomb{Time: w.now, Session: of(k)})
	}
	for _, s := range w.kept {
		for _, g := range s.Generations {
			f := w.holes.of[generationOf{s.Key, g.N}]
			if !f.changes() {
				continue
			}
			for i, h := range f.holes {
				all = append(all, tomb{w.now, of(s.Key), g.N, h.from, h.to - h.from, h.fill, f.before[i][:]})
			}
		}
	}
	return all
}

// intact verifies the old file. What is damaged could not be repaired after the rewrite, and a forgotten text may be in it.
func (w *rewriter) intact(ctx context.Context, old *Archive, progress func(done, total int64)) error {
	r, err := old.Verify(ctx, progress)
	if err != nil {
		return err
	}
	for _, d := range r.Damage {
		if !d.Missing() {
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
	if w.holes, err = old.holes(ctx, w.kept, w.finder, progress); err != nil {
		return err
	}
	for _, s := range w.kept {
		touched := false
		for _, g := range s.Generations {
			of := w.holes.of[generationOf{s.Key, g.N}]
			for _, h := range of.holes {
				if !h.old {
					touched, w.Places, w.Bytes = true, w.Places+1, w.Bytes+h.to-h.from
				}
			}
		}
		if touched {
			w.Touched = append(w.Touched, s.Key)
		} else if w.removal.InState(s.State) {
			w.States, w.Places = append(w.States, s.Key), w.Places+1
		}
	}
	return nil
}

// finder finds the texts in a generation of a session. What was forgotten there before is found too: its tombstone depends on
// the bytes before it.
func (w *rewriter) finder(k transcript.Key, generation int) finder {
	longest := 1
	for _, t := range w.removal.Texts {
		longest = max(longest, len(t.Bytes))
	}
	earlier, buf, end := w.tombs.finder(k, generation), []byte(nil), int64(0) // buf has the last bytes, in which a text may begin
	return func(data []byte, off int64) (holes []hole) {
		if off != end {
			buf = buf[:0]
		}
		buf, end = append(buf, data...), off+int64(len(data))
		from := end - int64(len(buf))
		for _, h := range occurrences(buf, w.removal.Texts) {
			h.from, h.to = h.from+from, h.to+from
			holes = append(holes, h)
		}
		buf = buf[:copy(buf, buf[max(0, len(buf)-longest+1):])]
		if earlier != nil {
			holes = append(holes, earlier(data, off)...)
		}
		return holes
	}
}

// holes are the forgotten stretches in an archive.
type holes struct {
	of     map[generationOf]filled
	tracks map[generationOf][]hole // offsets in the track
}

// filled is a generation in which stretches are to be replaced.
type filled struct {
	holes  []hole
	before []mark.Hash      // of the replaced bytes before each of them
	sum    generationRecord // with the hash of the replaced bytes
}

// holes finds the stretches of sessions that are to be replaced. It continues after damage.
func (a *Archive) holes(ctx context.Context, all []Session, finderOf func(transcript.Key, int) finder, progress func(done, total int64)) (found holes, err error) {
	found = holes{map[generationOf]filled{}, map[generationOf][]hole{}}
	var done, total int64
	for _, s := range all {
		total += s.size()
	}
	for _, s := range all {
		r := a.Reader(s.Key, 0)
		for _, g := range s.Generations {
			r.n = g.N
			if find := finderOf(s.Key, g.N); find != nil {
				if err := r.findHoles(ctx, find, found.tracks); err != nil {
					return found, err
				}
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

// findHoles adds the stretches of the generation to those of its track.
func (r *Reader) findHoles(ctx context.Context, find finder, tracks map[generationOf][]hole) error {
	g, err := r.generation(ctx)
	if err != nil {
		return skipDamage(err)
	}
	track := generationOf{r.key, r.stream.generation()}
	for p, err := range r.portions(ctx, 0, g.Offset) {
		if err := skipDamage(err); err != nil {
			return err
		}
		if err != nil {
			continue
		}
		for _, h := range find(p.data, p.off) {
			for off := h.from; off < min(h.to, g.Offset); {
				e := r.layout.find(off)
				n := min(h.to, e.end()) - off
				at := e.At + off - e.Off
				tracks[track] = append(tracks[track], hole{at, at + n, h.fill, h.old})
				off += n
			}
		}
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
			f.holes = append(f.holes, hole{from - e.At + e.Off, to - e.At + e.Off, h.fill, h.old})
		}
	}
	if f.holes = joinHoles(f.holes); len(f.holes) == 0 {
		return f, nil
	}
	sum, known := sha256.New(), true
	for p, err := range r.portions(ctx, 0, g.Offset) {
		if err := skipDamage(err); err != nil {
			return f, err
		}
		known = known && err == nil
		data, off := slices.Clone(p.data), p.off
		fillSorted(data, off, f.holes)
		for n := len(f.before); n < len(f.holes) && f.holes[n].from < p.end; n++ {
			if part := f.holes[n].from - off; len(data) > 0 {
				sum.Write(data[:part])
				data, off = data[part:], off+part
			}
			f.before = append(f.before, mark.Hash(sum.Sum(nil)))
		}
		sum.Write(data)
	}
	if !known {
		sum = unknownHash()
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
	return w.a.build(tmp, func(into *Archive) error { return w.importAll(ctx, old, into, progress) })
}

func (w *rewriter) importAll(ctx context.Context, old, into *Archive, progress func(done, total int64)) error {
	im := importer{a: into, from: old, holes: w.holes, places: map[generationOf]generationOf{}, removal: w.removal, same: true}
	if err := im.each(ctx, w.kept, func(ctx context.Context, s Session) error { return im.add(ctx, s, s.Key) }, progress); err != nil {
		return err
	}
	w.gone = map[string]bool{}
	if err := im.entries(ctx, kindID, func(k, v []byte) ([]byte, bool) {
		f, err := parsePointer(k, v)
		if err == nil && (w.removed[f.Key] || w.holes.touch(f)) {
			w.gone[string(k)] = true
		}
		return im.pointer(f, err)
	}); err != nil {
		return err
	}
	if err := into.update(ctx, 0, w.reindex); err != nil {
		return err
	}
	w.IDs = len(w.gone)
	if !w.forget { // a summary may have a forgotten text; the summarizer makes it again
		if err := im.entries(ctx, kindSummary, keepSummary); err != nil {
			return err
		}
	}
	return into.update(ctx, 0, func(tx *bolt.Tx) error { return w.finish(ctx, old, tx) })
}

// reindex indexes the originals of Removal.Index that the index does not have.
func (w *rewriter) reindex(tx *bolt.Tx) error {
	for _, f := range w.removal.Index {
		key := pointerKey(f.Pointer)
		if there, err := get(tx, kindID, key); err != nil || there != nil || w.holes.touch(f) {
			continue
		}
		if err := put(tx, kindID, key, encodePointer(f.Key, f.Generation, f.Pointer)); err != nil {
			return err
		}
		delete(w.gone, string(key))
	}
	return nil
}

// finish writes what belongs to the archive as a whole.
func (w *rewriter) finish(ctx context.Context, old *Archive, tx *bolt.Tx) error {
	return old.view(ctx, func(from *bolt.Tx) error {
		version, err := versionOf(from)
		if err == nil {
			err = continueFrom(tx, version)
		}
		if err == nil {
			err = tx.Bucket(bucketMeta).SetSequence(from.Bucket(bucketMeta).Sequence())
		}
		if err != nil {
			return err
		}
		return tx.Bucket(bucketMeta).Put(keyID, from.Bucket(bucketMeta).Get(keyID))
	})
}

// touch reports whether a hole is in an original.
func (h holes) touch(f Found) bool {
	holes := h.of[generationOf{f.Key, f.Generation}].holes
	return slices.ContainsFunc(f.Parts, func(p transcript.Part) bool {
		return filled{holes: overlapping(holes, p.Span.Off, p.Span.End())}.changes()
	})
}

// changes reports whether a hole is new.
func (f filled) changes() bool {
	return slices.ContainsFunc(f.holes, func(h hole) bool { return !h.old })
}

// check verifies the new file, and that it has every session that is kept.
func (w *rewriter) check(ctx context.Context, tmp string, progress func(done, total int64)) error {
	there := &Archive{path: tmp, o: Options{ReadOnly: true}, codec: w.a.codec}
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
			touched := w.holes.of[generationOf{s.Key, g.N}].changes()
			if n := now[at].Generations[i]; n.Tip.Offset != g.Tip.Offset || !touched && n.Sum != g.Sum {
				return fmt.Errorf("the new file has other bytes of generation %d of session %s %s", g.N, s.Agent, s.ID)
			}
		}
	}
	return nil
}

// erase overwrites a file that has no name any more. One with a name is somebody's copy: it returns how many it has.
func erase(f *os.File) (names uint64, err error) {
	info, err := f.Stat()
	if err != nil || links(info) > 0 {
		return links(info), err
	}
	zeros := make([]byte, 1<<20)
	for off := int64(0); off < info.Size(); off += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(info.Size()-off, int64(len(zeros)))], off); err != nil {
			return 0, fmt.Errorf("overwrite the old file: %w", err)
		}
	}
	return 0, f.Sync()
}
