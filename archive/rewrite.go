package archive

import (
	"bytes"
	"cmp"
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
	"ccd/internal/ownfile"
	"ccd/internal/transcript"
)

// Removal is what Forget or Compact removes.
type Removal struct {
	Texts    []Text
	Sessions []transcript.Key
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
	IDs      []mark.ID        // that the index has no more
	Before   int64            // size of the archive's file in bytes
	After    int64
	Links    int // other names of the old file, which still has everything: hard links that somebody made
}

// Empty reports whether there is nothing to remove.
func (r Removed) Empty() bool { return len(r.Touched)+len(r.States)+len(r.Sessions) == 0 }

// Forget removes sessions, and all occurrences of texts that are in the archive now: it writes a new file without them,
// verifies it, puts it in the archive's place and overwrites the old one, and those that Repair has set aside. Tombstones
// keep what was at these places from being stored again. Backups are not changed. Others wait for the lock meanwhile. A
// process that dies leaves the old file or the new one.
//
// Forget fails with ErrNotFound if nothing of it is in the archive. progress, if not nil, is called with thousandths.
func (a *Archive) Forget(ctx context.Context, r Removal, progress Progress) (Removed, error) {
	w := rewriter{a: a, removal: r, forget: true}
	return w.run(ctx, "forget", progress)
}

// Compact replaces the archive's file by one without free space and without the given sessions, as Forget does. It adds no
// tombstones: if their transcripts come back, they are stored again. It fails with ErrNotFound if there is no archive.
func (a *Archive) Compact(ctx context.Context, r Removal, progress Progress) (Removed, error) {
	w := rewriter{a: a, removal: Removal{Sessions: r.Sessions, Reset: r.Reset}}
	return w.run(ctx, "compact archive", progress)
}

// Preview returns what Forget would remove, without its IDs, and changes nothing. It fails if the archive cannot be read.
func (a *Archive) Preview(ctx context.Context, r Removal, progress Progress) (Removed, error) {
	w := rewriter{a: a, removal: r, forget: true}
	err := w.list(ctx, a)
	if err == nil {
		err = w.search(ctx, a, progress.part(0, 1000))
	}
	wrap(&err, "search archive")
	return w.Removed, err
}

// rewriter is one rewrite of the archive's file.
type rewriter struct {
	Removed
	a          *Archive
	removal    Removal
	forget     bool
	now        time.Time
	tombstones *tombstones // as they were
	kept       []Session   // of the old file
	removed    map[transcript.Key]bool
	holes      map[generationOf]filled
}

func (w *rewriter) run(ctx context.Context, what string, progress Progress) (Removed, error) {
	w.now = time.Now().UTC()
	err := wrapFull(w.rewrite(ctx, progress))
	wrap(&err, what)
	return w.Removed, err
}

func (w *rewriter) rewrite(ctx context.Context, progress Progress) (err error) {
	if _, err := w.a.stat(); err != nil {
		return err
	}
	if w.a.o.ReadOnly {
		return ErrReadOnly
	}
	s := &store{a: w.a, write: true}
	if err := s.open(ctx, nil); err != nil {
		return err
	}
	defer s.close()
	old := s.hold()
	w.Before = s.lock.info.Size()
	if w.tombstones, err = w.a.tombstones(); err != nil {
		return err
	}
	if err := w.look(ctx, old, progress); err != nil {
		return err
	}
	if w.forget { // from now on nothing of it is stored again, even if the process dies
		w.tombstones = w.tombstones.with(w.newTombstones())
		if err := w.tombstones.store(w.a); err != nil {
			return err
		}
	}
	err = w.a.replace(ctx, s.lock, func(into *Archive) error {
		return w.copy(ctx, old, into, progress.part(300, 650))
	}, progress.part(650, 1000), func(_ string, made *Archive, r Report) error { return w.check(ctx, made, r) })
	if err != nil {
		return err
	}
	if after, err := os.Stat(w.a.path); err == nil {
		w.After = after.Size()
	}
	if !w.forget {
		return nil
	}
	return w.eraseOld(s.lock.data)
}

// look finds what is to be removed.
func (w *rewriter) look(ctx context.Context, old *Archive, progress Progress) error {
	err := w.list(ctx, old)
	if err == nil {
		err = w.search(ctx, old, progress.part(0, 300))
	}
	if err == nil && w.forget && w.Empty() {
		err = ErrNotFound
	}
	return err
}

// eraseOld erases the old file, and removes the damaged ones that were set aside: nobody can tell what is in them.
func (w *rewriter) eraseOld(old *os.File) (err error) {
	if w.Links, err = erase(old); err != nil {
		return err
	}
	path, err := filepath.EvalSymlinks(w.a.path)
	if err != nil {
		return err
	}
	all, err := filesAside(path)
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
			var links int
			links, err = erase(f)
			w.Links += links
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// newTombstones returns the tombstones of what is removed.
func (w *rewriter) newTombstones() (all []tombstone) {
	for _, k := range w.removal.Sessions {
		all = append(all, tombstone{Time: w.now, Session: named(k)})
	}
	for _, s := range w.kept {
		all = append(all, w.tombstonesIn(s)...)
	}
	return all
}

func (w *rewriter) tombstonesIn(s Session) (all []tombstone) {
	for _, g := range s.Generations {
		f := w.holes[generationOf{s.Key, g.N}]
		for i, h := range f.holes {
			all = append(all, tombstone{w.now, named(s.Key), h.from, h.to - h.from, h.fill, f.before[i][:]})
		}
	}
	return all
}

// named returns the key of a session as tombstones have it.
func named(k transcript.Key) transcript.Key {
	return transcript.Key{Agent: k.Agent, ID: mark.Name(k.ID)}
}

// list reads the sessions. It fails, as does whatever reads the old file, if something is damaged: that could not be repaired after the
// rewrite, and a forgotten text may be in it.
func (w *rewriter) list(ctx context.Context, old *Archive) error {
	all, lacking, err := old.Acknowledged(ctx)
	for _, d := range lacking {
		err = cmp.Or[error](err, d)
	}
	for _, s := range all {
		err = cmp.Or(err, s.StateDamage)
	}
	if err != nil {
		return err
	}
	w.removed = map[transcript.Key]bool{}
	for _, k := range w.removal.Sessions {
		w.removed[k] = true
	}
	for _, s := range all {
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
func (w *rewriter) search(ctx context.Context, old *Archive, progress Progress) error {
	w.holes = map[generationOf]filled{}
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
				if h.isNew {
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
// as its tombstone will have it; so are the places of earlier tombstones, which depend on the bytes before them.
func (w *rewriter) searchSession(ctx context.Context, old *Archive, s Session) error {
	places := w.tombstones
	if len(w.removal.Texts) == 0 && places.masker(s.Key) == nil {
		return ctx.Err()
	}
	for before := 0; ; {
		n := 0
		for _, g := range s.Generations {
			f, err := old.Reader(s.Key, g.N).search(ctx, w.removal.Texts, places.masker(s.Key))
			if err != nil {
				return err
			}
			w.holes[generationOf{s.Key, g.N}] = f
			n += len(f.holes)
		}
		if n == before || len(s.Generations) == 1 {
			return nil
		}
		before, places = n, w.tombstones.with(w.tombstonesIn(s))
	}
}

// filled is a generation in which stretches are to be replaced.
type filled struct {
	holes  []maskedRange
	before []mark.Hash // of the replaced bytes before each of them
}

// search finds texts, and what a filler replaces, in a generation. It continues after what is lost.
func (r *Reader) search(ctx context.Context, texts []Text, filler *Masker) (f filled, err error) {
	g, err := r.generation(ctx)
	if err != nil {
		return f, err
	}
	longest := 1
	for _, t := range texts {
		longest = max(longest, len(t.Bytes))
	}
	buf, end := []byte(nil), int64(0) // buf has the last bytes, in which a text may begin
	for p, err := range r.portions(ctx, 0, g.Offset) {
		if err := skipMissing(err); err != nil {
			return f, err
		}
		if p.off != end {
			buf = buf[:0]
		}
		buf, end = append(buf, p.data...), p.off+int64(len(p.data))
		f.holes = append(f.holes, occurrences(buf, end-int64(len(buf)), texts)...)
		buf = buf[:copy(buf, buf[max(0, len(buf)-longest+1):])]
		if filler != nil && filler.off == p.off { // all before it is known
			filler.Mask(bytes.Clone(p.data))
		}
	}
	if filler != nil {
		f.holes = append(f.holes, filler.filled...)
	}
	f.holes = joinRanges(f.holes)
	err = f.add(ctx, r, g.Offset)
	return f, err
}

// add adds the hashes of what is before each hole.
func (f *filled) add(ctx context.Context, r *Reader, end int64) error {
	if len(f.holes) == 0 {
		return nil
	}
	sum := sha256.New()
	for p, err := range r.portions(ctx, 0, end) {
		if err := skipMissing(err); err != nil {
			return err
		}
		data, off := slices.Clone(p.data), p.off
		mask(data, off, overlapping(f.holes, off, off+int64(len(data))))
		for n := len(f.before); n < len(f.holes) && f.holes[n].from < p.end; n++ {
			if part := f.holes[n].from - off; len(data) > 0 {
				sum.Write(data[:part])
				data, off = data[part:], off+part
			}
			f.before = append(f.before, mark.Hash(sum.Sum(nil)))
		}
		sum.Write(data)
	}
	return nil
}

// skipDamage returns nil for damage.
func skipDamage(err error) error {
	if errors.As(err, new(*DamageError)) {
		return nil
	}
	return err
}

// skipMissing returns nil for bytes that were lost before.
func skipMissing(err error) error {
	if d := (*DamageError)(nil); errors.As(err, &d) && d.Missing() {
		return nil
	}
	return err
}

// copy imports what is kept into a new archive, which replaces what was forgotten.
func (w *rewriter) copy(ctx context.Context, old, into *Archive, progress Progress) error {
	if w.tombstones != nil {
		into.places = &tombstones{places: w.tombstones.places} // what was kept of a session is kept
	}
	im := importer{a: into, from: old, forget: w.forget, drops: w.touch, state: func(s Session) []byte {
		if !slices.Contains(w.Touched, s.Key) && !slices.Contains(w.States, s.Key) {
			return s.State
		}
		if w.removal.Reset == nil {
			return nil
		}
		return w.removal.Reset(s.State)
	}}
	id, err := old.ID(ctx)
	if err == nil {
		err = old.each(ctx, kindID, func(_ *bolt.Tx, key, value []byte) error {
			f, err := parsePointer(key, value)
			if err != nil {
				return w.a.damage("id %s: %w", f.Hash.ID(), err)
			}
			if w.removed[f.Key] || w.touch(f) {
				w.IDs = append(w.IDs, f.Hash.ID())
			}
			return nil
		})
	}
	if err == nil {
		err = im.all(ctx, id, w.kept, progress)
	}
	return err
}

// touch reports whether a new hole is in an original.
func (w *rewriter) touch(f Found) bool {
	holes := w.holes[generationOf{f.Key, f.Generation}].holes
	return slices.ContainsFunc(f.Parts, func(p transcript.Part) bool {
		return slices.ContainsFunc(overlapping(holes, p.Span.Off, p.Span.End()), func(h maskedRange) bool { return h.isNew })
	})
}

// check fails unless the new archive, of which r is the report, has every session that is kept, with its bytes.
func (w *rewriter) check(ctx context.Context, made *Archive, r Report) error {
	for _, d := range r.Damage {
		if !d.Missing() {
			return fmt.Errorf("verify the new file: %w", d)
		}
	}
	now, err := made.Sessions(ctx)
	if err != nil {
		return err
	}
	for at, s := range w.kept {
		if at == len(now) || now[at].Key != s.Key || len(now[at].Generations) != len(s.Generations) {
			return fmt.Errorf("the new file lacks session %s %s", s.Agent, s.ID)
		}
		for i, g := range s.Generations {
			same := len(w.holes[generationOf{s.Key, g.N}].holes) == 0
			if n := now[at].Generations[i]; n.Tip.Offset != g.Tip.Offset || same && n.Sum != g.Sum {
				return fmt.Errorf("the new file has other bytes of generation %d of session %s %s", g.N, s.Agent, s.ID)
			}
		}
	}
	return nil
}

// erase overwrites a file that has no name any more. One with a name is somebody's copy: it returns how many it has.
func erase(f *os.File) (names int, err error) {
	info, err := f.Stat()
	if err != nil || ownfile.Links(info) > 0 {
		return ownfile.Links(info), err
	}
	zeros := make([]byte, 1<<20)
	for off := int64(0); off < info.Size(); off += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(info.Size()-off, int64(len(zeros)))], off); err != nil {
			return 0, fmt.Errorf("overwrite the old file: %w", err)
		}
	}
	return 0, f.Sync()
}
