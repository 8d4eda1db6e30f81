package archive

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/atomicfile"
	"ccd/internal/mark"
	"ccd/internal/ownfile"
	"ccd/internal/transcript"
)

// rebuild is the one answer to damage: it scans the archive's file for intact entries, writes them to a new archive, with what is lost
// from the sources, if not nil (see fromSource), and puts that in the archive's place. keep says whether the old file is kept beside it.
// Others wait for the lock meanwhile. A process that dies leaves the old file or the new one in place. It fails with ErrNotFound if there
// is no archive yet, and for one of another schema. progress, if not nil, is called with thousandths.
func (a *Archive) rebuild(ctx context.Context, r *Repaired, sources Sources, keep bool, progress Progress) (err error) {
	defer wrap(&err, "rebuild archive")
	if a.o.ReadOnly {
		return ErrReadOnly
	}
	if err := a.view(ctx, func(*bolt.Tx) error { return nil }); errors.Is(err, ErrNewer) {
		return err
	}
	l, err := a.lock(ctx, true, nil)
	if err != nil {
		return err
	}
	defer l.release()
	s := newRebuilder(a, l)
	err = a.replace(ctx, l, func(into *Archive) error {
		if err := s.collect(ctx, progress.part(0, 400)); err != nil {
			return err
		}
		im := importer{a: into, from: s, whole: true, damaged: a, sources: sources, state: func(s Session) []byte { return s.State }}
		err := im.all(ctx, cmp.Or(s.id, s.tipsOf), s.list(), progress.part(400, 700))
		r.Filled, r.Bytes = im.Repaired.Filled, im.Repaired.Bytes
		return err
	}, progress.part(700, 1000), func(path string, _ *Archive, report Report) error {
		if r.Left = report.Damage; s.from.failed != nil {
			r.Left = append(r.Left, a.damage("the disk cannot be read: %w", s.from.failed))
		}
		if !keep {
			return nil
		}
		return a.keepDamaged(ctx, l, path, r)
	})
	if errors.Is(err, errNotArchive) {
		err = fmt.Errorf("%w: %s", err, another(a.path))
	}
	return wrapFull(err)
}

// replace makes a new archive, which fill fills, verifies it, and puts it in the place of the locked one at path, unless check fails.
func (a *Archive) replace(ctx context.Context, l lock, fill func(into *Archive) error, progress Progress, check func(path string, made *Archive, r Report) error) error {
	path, err := filepath.EvalSymlinks(a.path)
	if err != nil {
		return err
	}
	if err := a.checkSpace(filepath.Dir(path), l.info.Size()); err != nil {
		return err
	}
	return a.putInPlace(path, func(tmp string) error {
		if err := a.build(tmp, fill); err != nil {
			return err
		}
		made := &Archive{path: tmp, o: Options{ReadOnly: true}, codec: a.codec}
		r, err := made.Verify(ctx, progress)
		if err == nil {
			err = check(path, made, r)
		}
		if err != nil {
			return err
		}
		id, err := made.ID(ctx)
		if err != nil {
			return err
		}
		return made.writeTips(ctx, tipsPath(a.path), id)
	})
}

// putInPlace makes a file with a name of its own, and renames it to path. It removes that of a process that was killed.
func (a *Archive) putInPlace(path string, fill func(tmp string) error) error {
	tmp := path + ".tmp"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	defer os.Remove(tmp) // fails after the rename
	if err := fill(tmp); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(atomicfile.SyncDir(dir), dir.Close())
}

// build makes an archive at path, which fn fills. It is synced at the end.
func (a *Archive) build(path string, fn func(into *Archive) error) (err error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: gateTimeout, FreelistType: bolt.FreelistMapType, NoSync: true, NoStatistics: true})
	if err != nil {
		return err
	}
	db.AllocSize = buildGrow
	into := &Archive{path: path, codec: a.codec}
	into.held = &store{a: into, db: db, write: true}
	var size int64
	if err = db.Update(initialise); err == nil {
		err = fn(into)
	}
	if err == nil {
		err = db.View(func(tx *bolt.Tx) error {
			size = tx.Size()
			return nil
		})
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Sync(), f.Close()) // cut off the preallocated end
}

// buildGrow is the step in which a new file grows.
const buildGrow = 64 << 20

// rebuilder is an origin: what a scan finds in a file.
type rebuilder struct {
	a           *Archive // whose codec it uses, and whose damage it reports
	from        *scan
	id          string                 // of the archive that the entries are of, "" if it is lost
	tipsOf      string                 // ID of the archive that the tips are of
	tips        map[generationOf]int64 // the end of each generation, as far as the file beside the archive says
	cut         bool                   // a later end of any session may have been in what was cut off the file
	sessions    map[transcript.Key]versioned[sessionRecord]
	generations map[generationOf]versioned[generationRecord]
	classes     map[transcript.Key]transcript.Class // as blocks have them
	blocks      map[uint64][]candidate              // by ID
	places      map[generationOf][]candidate        // by place
	entries     map[kind]map[string]versioned[stretch]
	copies      map[generationOf]copied // what is left of each
	damage      []*DamageError          // what is missing in them
}

// newRebuilder returns the origin of a locked file.
func newRebuilder(a *Archive, l lock) *rebuilder {
	tipsOf, tips := a.readTips()
	return &rebuilder{
		a: a, from: &scan{f: l.data, size: l.info.Size()}, tipsOf: tipsOf, tips: tips, sessions: map[transcript.Key]versioned[sessionRecord]{},
		generations: map[generationOf]versioned[generationRecord]{}, classes: map[transcript.Key]transcript.Class{},
		blocks: map[uint64][]candidate{}, places: map[generationOf][]candidate{}, copies: map[generationOf]copied{},
		entries: map[kind]map[string]versioned[stretch]{kindState: {}, kindID: {}, kindSummary: {}},
	}
}

// versioned is the newest intact record.
type versioned[T any] struct {
	record  T
	version uint64
}

// stretch is where the value of an intact entry is in the file.
type stretch struct {
	at int64
	n  int
}

// candidate is an intact block of the file.
type candidate struct {
	envelope
	stretch
	id      uint64
	version uint64
}

// collect finds the entries. The tips are taken for those of this archive if its own ID is lost.
func (s *rebuilder) collect(ctx context.Context, progress Progress) error {
	err := s.from.each(ctx, func(e storedEntry) error {
		s.take(e)
		return nil
	}, progress)
	if s.id != "" && s.id != s.tipsOf {
		s.tips = nil
	}
	s.cut = len(s.tips) == 0 && s.from.cut()
	return err
}

// take keeps an entry that places depend on. A generation whose number no file of this size can have is not one that Append has stored.
func (s *rebuilder) take(e storedEntry) {
	switch e.kind {
	case kindMeta:
		if bytes.Equal(e.key, keyID) {
			s.id = hex.EncodeToString(e.record)
		}
	case kindState, kindID, kindSummary:
		keepNewest(s.entries[e.kind], string(e.key), stretch{e.at, len(e.value)}, e.version)
	case kindSession:
		if r, err := parseSession(e.key, e.value); err == nil && s.possible(r.Generation) {
			keepNewest(s.sessions, r.Key, r, e.version)
		}
	case kindGeneration:
		of, bad := parseGenerationKey(e.key)
		g, err := parseGeneration(e.key, e.value)
		if cmp.Or(err, bad) == nil && s.possible(of.n) {
			keepNewest(s.generations, of, g, e.version)
		}
	case kindBlock:
		env, _, err := parseEnvelope(e.record)
		if err != nil || len(e.key) != 8 || !s.possible(env.n) {
			return
		}
		env.Words = nil // of all blocks they would take much memory
		c := candidate{env, stretch{e.at, len(e.value)}, binary.BigEndian.Uint64(e.key), e.version}
		s.classes[env.Key] = env.Class
		s.blocks[c.id] = append(s.blocks[c.id], c)
		s.places[env.generationOf] = append(s.places[env.generationOf], c)
	}
}

func keepNewest[K comparable, T any](all map[K]versioned[T], k K, record T, version uint64) {
	if version >= all[k].version {
		all[k] = versioned[T]{record, version}
	}
}

// possible reports whether there may be so many generations of a session. Each takes more than leastGeneration bytes.
func (s *rebuilder) possible(generation int) bool {
	const leastGeneration = 128
	return generation <= mostEarlier+int(s.from.size/leastGeneration)
}

// last returns how many generations each session has, of which anything is left.
func (s *rebuilder) last() map[transcript.Key]int {
	last := map[transcript.Key]int{}
	for k, r := range s.sessions {
		last[k] = r.record.Generation
	}
	for _, all := range []iter.Seq[generationOf]{maps.Keys(s.generations), maps.Keys(s.places), maps.Keys(s.tips)} {
		for of := range all {
			last[of.Key] = max(last[of.Key], of.n)
		}
	}
	return last
}

// list returns the sessions. One of which nothing is left but its name has generations without bytes, of which every read fails.
func (s *rebuilder) list() (all []Session) {
	for k, last := range s.last() {
		one := Session{Session: s.sessions[k].record.Session}
		if one.Key != k { // its record is lost
			one.Session = transcript.Session{Key: k, Class: s.classes[k]}
		}
		if e, ok := s.entries[kindState][string(sessionKey(k))]; ok {
			one.State, _ = unseal(kindState, sessionKey(k), s.value(e.record)) // it was intact
		}
		for n := 1; n <= last; n++ {
			this := generationOf{k, n}
			c, gap := s.generation(this)
			if n == last && gap < 0 && s.cut {
				c.lost, c.was, gap = true, nil, c.end
			}
			c.gap = gap >= 0 && c.end > 0
			s.copies[this] = c
			g := Generation{N: n, Tip: transcript.Cursor{Generation: n, Offset: c.end}, Sum: unknownSum}
			if c.was != nil {
				g.Sum, _ = c.was.sum()
			}
			if gap >= 0 {
				damage := &DamageError{Path: s.a.path, Session: k, Generation: n, Offset: gap, Err: ErrMissing}
				s.damage = append(s.damage, damage)
			}
			one.Generations = append(one.Generations, g)
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(x, y Session) int { return bytes.Compare(sessionKey(x.Key), sessionKey(y.Key)) })
	return all
}

// copied returns what is left of a generation.
func (s *rebuilder) copied(_ context.Context, k transcript.Key, n int) (copied, error) {
	return s.copies[generationOf{k, n}], nil
}

// each calls fn with every entry of a kind, in order.
func (s *rebuilder) each(ctx context.Context, k kind, fn func(tx *bolt.Tx, key, value []byte) error) error {
	for _, key := range slices.Sorted(maps.Keys(s.entries[k])) {
		if err := cmp.Or(ctx.Err(), fn(nil, []byte(key), s.value(s.entries[k][key].record))); err != nil {
			return err
		}
	}
	return nil
}

// value returns the value of an entry that the scan has found.
func (s *rebuilder) value(at stretch) []byte { return s.from.read(nil, at.at, int64(at.n)) }

// generation returns what is left of a generation, and where the first bytes are missing, -1 if none are. Where its record is lost, or
// there was a newer one, it ends with its last block, or where the tips say.
func (s *rebuilder) generation(this generationOf) (c copied, gap int64) {
	was := s.generations[this]
	all := s.place(this, was)
	end, told := s.tips[this]
	c = copied{segments: s.stretches(all), head: was.record.Head, end: max(end, was.record.Offset)}
	if len(all) > 0 {
		c.end = max(c.end, all[len(all)-1].end())
	}
	if was.version == 0 && len(all) == 0 && !told { // not even that it was empty
		c.lost = true
	}
	if was.version > 0 && was.record.Offset == c.end && !c.lost {
		c.was = &was.record
	}
	for _, b := range all {
		if b.Off == gap {
			gap = b.end()
		}
	}
	if gap == c.end && !c.lost && (c.was == nil || !c.was.unknown()) {
		gap = -1
	}
	return c, gap
}

// stretches yields the bytes of blocks, and where some are missing between them an error.
func (s *rebuilder) stretches(all []candidate) iter.Seq2[transcript.Segment, error] {
	return func(yield func(transcript.Segment, error) bool) {
		var seg transcript.Segment
		for _, c := range all {
			if gap := c.Off > seg.End.Offset; gap || len(seg.Data) >= segmentSize {
				end, next := seg.End, transcript.Cursor{Offset: c.Off}
				if !yield(seg, nil) || gap && !yield(transcript.Segment{Start: end, End: next}, &DamageError{Err: ErrMissing}) {
					return
				}
				seg = transcript.Segment{Start: next, End: next}
			}
			raw, err := s.a.unpack(block{ID: c.id, Len: c.Len}, s.value(c.stretch))
			if err != nil {
				yield(seg, err)
				return
			}
			seg.Data, seg.End.Offset = append(seg.Data, raw...), c.end()
		}
		yield(seg, nil)
	}
}

// place returns the blocks of a generation, in order: first those that are newer than its record, which is then an earlier one,
// as their envelopes place them; then those of the record that are intact; where one is missing, older ones. Where two
// overlap, the newer one has replaced the other.
func (s *rebuilder) place(this generationOf, g versioned[generationRecord]) (all []candidate) {
	add := func(c candidate) {
		i, _ := slices.BinarySearchFunc(all, c.Off, func(b candidate, off int64) int { return cmp.Compare(b.Off, off) })
		if (i == 0 || all[i-1].end() <= c.Off) && (i == len(all) || c.end() <= all[i].Off) {
			all = slices.Insert(all, i, c)
		}
	}
	newest := func(x, y candidate) int {
		return cmp.Or(-cmp.Compare(x.version, y.version), -cmp.Compare(x.Len, y.Len), cmp.Compare(x.at, y.at))
	}
	more := s.places[this]
	slices.SortStableFunc(more, newest)
	newer := 0
	for newer < len(more) && more[newer].version > g.version {
		add(more[newer])
		newer++
	}
	for _, b := range g.record.Blocks {
		there := slices.DeleteFunc(slices.Clone(s.blocks[b.ID]), func(c candidate) bool { return c.Len != b.Len })
		slices.SortStableFunc(there, newest)
		if len(there) > 0 {
			there[0].Off = b.Off // of a shared frame the envelope has another place
			add(there[0])
		}
	}
	for _, c := range more[newer:] {
		add(c)
	}
	return all
}

// noTranscript is what no transcript is. Its hash is that of a generation of which bytes are missing.
const noTranscript = "\x00hash of the generation is unknown"

var unknownSum = mark.Sum([]byte(noTranscript))

// unknownHash is the state of a hash that has unknownSum.
func unknownHash() hash.Hash {
	h := sha256.New()
	h.Write([]byte(noTranscript))
	return h
}

// keepDamaged sets the old file aside, with the tips, which tell an import of it what it lacks.
func (a *Archive) keepDamaged(ctx context.Context, l lock, path string, r *Repaired) (err error) {
	if r.Aside, err = setAside(ctx, l, path, time.Now()); err != nil {
		return err
	}
	tips, err := ownfile.Read(tipsPath(a.path), maxTips)
	if err != nil {
		return nil // nothing is known
	}
	return atomicfile.Write(tipsPath(r.Aside), 0o600, tips)
}

const asideSuffix = ".damaged-"

// setAside gives the locked file a second name, or copies it where that cannot be. The first one stays, so that there is an
// archive at any time, and nobody makes a new one meanwhile.
func setAside(ctx context.Context, l lock, path string, now time.Time) (aside string, err error) {
	for n := 0; ; n++ {
		aside = path + asideSuffix + now.UTC().Format("20060102-150405")
		if n > 0 {
			aside += fmt.Sprintf("-%d", n)
		}
		err = os.Link(path, aside)
		if !errors.Is(err, os.ErrExist) {
			break
		}
	}
	if err == nil {
		return aside, nil
	}
	p, err := atomicfile.Create(aside, 0o600) // perhaps a file system without hard links
	if err != nil {
		return aside, err
	}
	defer p.Discard()
	if err := l.copyTo(ctx, p, func(int64, int64) {}); err != nil {
		return aside, err
	}
	return aside, p.CommitNew()
}
