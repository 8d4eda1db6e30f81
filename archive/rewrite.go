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
	for _, k := range w.removal.Sessions {
		all = append(all, tomb{Time: w.now, Session: named(k)})
	}
	for _, s := range w.kept {
		all = append(all, w.buryIn(s)...)
	}
	return all
}

func (w *rewriter) buryIn(s Session) (all []tomb) {
	for _, g := range s.Generations {
		f := w.holes[generationOf{s.Key, g.N}]
		if !f.changes() {
			continue
		}
		for i, h := range f.holes {
			all = append(all, tomb{w.now, named(s.Key), g.N, h.from, h.to - h.from, h.fill, f.before[i][:]})
		}
	}
	return all
}

// named returns the key of a session as tombstones have it.
func named(k transcript.Key) transcript.Key {
	return transcript.Key{Agent: k.Agent, ID: mark.Name(k.ID)}
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
	w.holes = holes{}
	var done, total int64
	for _, s := range w.kept {
		total += s.size()
	}
	for _, s := range w.kept {
		if err := w.searchSession(ctx, old, s); err != nil {
			return err
		}
		touched := false
		for _, g := range s.Generations {
			for _, h := range w.holes[generationOf{s.Key, g.N}].holes {
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
		done += s.size()
		progress(done, total)
	}
	return nil
}

// searchSession finds the texts in a session. Where one stands in one generation, the same place of another one is replaced too,
// as its tombstone will have it.
func (w *rewriter) searchSession(ctx context.Context, old *Archive, s Session) error {
	tombs := w.tombs
	for before := -1; ; {
		n := 0
		for _, g := range s.Generations {
			f, err := old.Reader(s.Key, g.N).holes(ctx, w.finder(s.Key, g.N, tombs))
			if err != nil {
				return err
			}
			w.holes[generationOf{s.Key, g.N}] = f
			n += len(f.holes)
		}
		if n == before || len(s.Generations) == 1 {
			return nil
		}
		before, tombs = n, newTombs(w.buryIn(s))
	}
}

// finder finds the texts in a generation of a session. What was forgotten there before is found too: its tombstone depends on
// the bytes before it.
func (w *rewriter) finder(k transcript.Key, generation int, found *tombs) finder {
	longest := 1
	for _, t := range w.removal.Texts {
		longest = max(longest, len(t.Bytes))
	}
	earlier := []finder{w.tombs.finder(k, generation), found.finder(k, generation)}
	buf, end := []byte(nil), int64(0) // buf has the last bytes, in which a text may begin
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
		for _, find := range earlier {
			if find != nil {
				holes = append(holes, find(data, off)...)
			}
		}
		return holes
	}
}

// holes are the stretches of generations that are to be replaced.
type holes map[generationOf]filled

// filled is a generation in which stretches are to be replaced.
type filled struct {
	holes  []hole
	before []mark.Hash      // of the replaced bytes before each of them
	sum    generationRecord // with the hash of the replaced bytes
}

// holes finds the stretches of a generation that are to be replaced, and its hash with them. It continues after damage.
func (r *Reader) holes(ctx context.Context, find finder) (f filled, err error) {
	g, err := r.generation(ctx)
	if err != nil {
		return f, skipDamage(err)
	}
	for p, err := range r.portions(ctx, 0, g.Offset) {
		if err == nil {
			f.holes = append(f.holes, find(p.data, p.off)...)
		} else if err := skipDamage(err); err != nil {
			return f, err
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
	return w.a.build(tmp, func(into *Archive) error {
		return old.view(ctx, func(from *bolt.Tx) error { return w.copyAll(ctx, from, into, progress) })
	})
}

func (w *rewriter) copyAll(ctx context.Context, from *bolt.Tx, into *Archive, progress func(done, total int64)) error {
	var done, total int64
	for _, s := range w.kept {
		total += s.size()
	}
	for _, s := range w.kept {
		r, _, err := getSession(from, s.Key)
		if err == nil { // a reader may be using its number
			err = copySession(ctx, from, into, s, s.Key, r.Num, w.holes, w.removal)
		}
		if err != nil {
			return err
		}
		done += s.size()
		progress(done, total)
	}
	w.gone = map[string]bool{}
	err := copyEntries(from, into, kindID, func(k, v []byte) bool {
		f, err := parsePointer(k, v)
		if err == nil && (w.removed[f.Key] || w.holes.touch(f)) {
			w.gone[string(k)] = true
		}
		return err == nil && !w.gone[string(k)]
	})
	if err == nil && !w.forget { // a summary may have a forgotten text; the summarizer makes it again
		err = copyEntries(from, into, kindSummary, func(k, v []byte) bool { return true })
	}
	if err == nil {
		err = into.update(ctx, 0, w.reindex)
	}
	w.IDs = len(w.gone)
	if err == nil {
		err = into.update(ctx, 0, func(tx *bolt.Tx) error { return finish(from, tx) })
	}
	return err
}

// copySession writes a session under a key and a number, without what is forgotten. It appears with the last transaction.
func copySession(ctx context.Context, from *bolt.Tx, into *Archive, s Session, key transcript.Key, num uint64, h holes, why Removal) error {
	was, _, err := getSession(from, s.Key)
	if err != nil {
		return err
	}
	touched := false
	for n := 1; n <= was.Generation; n++ {
		st, of := newStream(num, n), h[generationOf{s.Key, n}]
		g, err := getGeneration(from, newStream(was.Num, n))
		if err != nil {
			return err
		}
		all := g.Blocks
		g.Blocks = nil
		for portion := range slices.Chunk(all, 16) {
			if err := ctx.Err(); err != nil {
				return err
			}
			made := make([]block, len(portion))
			err := into.update(ctx, 0, func(tx *bolt.Tx) (err error) {
				for i, b := range portion {
					p := packed{envelope: envelope{Key: key, Class: s.Class, Stream: st}, piece: b.end() > g.Cut.Start}
					if made[i], err = p.copy(from, tx, into, b, of.holes); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			g.Blocks = append(g.Blocks, made...)
		}
		of.change(&g)
		touched = touched || of.changes()
		if err := into.update(ctx, 0, func(tx *bolt.Tx) error { return putGeneration(tx, st, g) }); err != nil {
			return err
		}
	}
	state := s.State
	if touched = touched || why.InState(state); touched && why.Reset == nil {
		state = nil
	} else if touched {
		state = why.Reset(state)
	}
	record := newSessionRecord(s.Session)
	record.Num, record.Generation = num, was.Generation
	return into.update(ctx, 0, func(tx *bolt.Tx) error {
		if state != nil {
			if err := putState(tx, key, state); err != nil {
				return err
			}
		}
		return putSession(tx, key, record)
	})
}

// copy writes a block of another archive, with the holes filled, and returns its place.
func (p *packed) copy(from, to *bolt.Tx, into *Archive, b block, holes []hole) (block, error) {
	if b.ID == 0 {
		return b, nil
	}
	value, err := getBlock(from, b.ID)
	var e envelope
	if err == nil {
		e, p.stored, err = openBlock(b.ID, value)
	}
	if err != nil {
		return b, err
	}
	p.Off, p.Len, p.Sum = b.Off, b.Len, e.Sum
	if len(overlapping(holes, b.Off, b.end())) > 0 {
		raw, err := into.unpack(b, value, nil, false)
		if err != nil {
			return b, err
		}
		fillSorted(raw, b.Off, holes)
		p.Sum = mark.Sum(raw)
		if p.stored, err = into.codec.pack(raw, p.Sum); err != nil {
			return b, err
		}
	}
	return p.write(to)
}

// copyEntries copies the entries of a kind that keep does not leave out.
func copyEntries(from *bolt.Tx, into *Archive, k kind, keep func(k, v []byte) bool) error {
	c := k.bucket(from).Cursor()
	for key, v := c.First(); key != nil; {
		err := into.held.update(func(tx *bolt.Tx) error {
			for n := 0; key != nil && n < pageSize; key, v = c.Next() {
				if n++; keep(key, v) {
					if err := putSealed(tx, k, key, v); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
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
func finish(from, to *bolt.Tx) error {
	version, err := versionOf(from)
	if err == nil {
		err = continueFrom(to, version)
	}
	if err == nil {
		err = to.Bucket(bucketMeta).SetSequence(from.Bucket(bucketMeta).Sequence())
	}
	if err != nil {
		return err
	}
	return to.Bucket(bucketMeta).Put(keyID, from.Bucket(bucketMeta).Get(keyID))
}

// touch reports whether a hole is in an original.
func (h holes) touch(f Found) bool {
	holes := h[generationOf{f.Key, f.Generation}].holes
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
			touched := w.holes[generationOf{s.Key, g.N}].changes()
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
