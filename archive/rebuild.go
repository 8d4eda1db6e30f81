package archive

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Rebuilt is the result of Rebuild.
type Rebuilt struct {
	Report          // of the new file; Damage lists what is missing in it
	Aside    string // path of the old file
	Restored int64  // bytes that were lost, and taken from sources
}

// Sources returns the bytes of a generation that the caller still has, from the first one on, or nil. They are read twice: compared
// with what is left of it before any of them is stored.
type Sources func(ctx context.Context, s transcript.Session, g Generation) iter.Seq[[]byte]

// Rebuild is the one answer to damage: it scans the archive's file for intact entries, writes them to a new archive, takes
// from sources what is missing there, and puts the new file in the archive's place. The old file is kept beside it. Others
// wait for the lock meanwhile. A process that dies leaves the old file or the new one in place. Rebuild fails with
// ErrNotFound if there is no archive yet. sources and progress may be nil; progress is called with thousandths.
func (a *Archive) Rebuild(ctx context.Context, sources Sources, progress Progress) (r Rebuilt, err error) {
	if err = a.rebuildable(ctx); err == nil {
		var l lock
		if l, err = a.lock(ctx, true, nil); err == nil {
			defer l.release()
			err = a.rebuild(ctx, l, sources, &r, progress)
		}
	}
	if errors.Is(err, errAbsent) {
		err = ErrNotFound
	}
	if err != nil {
		return r, fmt.Errorf("rebuild archive: %w", wrapFull(err))
	}
	return r, nil
}

// rebuildable fails for an archive that may not be written, and for one of another schema.
func (a *Archive) rebuildable(ctx context.Context) error {
	if a.o.ReadOnly {
		return ErrReadOnly
	}
	if err := a.view(ctx, func(*bolt.Tx) error { return nil }); errors.Is(err, ErrNewer) {
		return err
	}
	return nil
}

func (a *Archive) rebuild(ctx context.Context, l lock, sources Sources, r *Rebuilt, progress Progress) error {
	return a.replace(l, func(path, tmp string) (err error) {
		if r.Report, r.Restored, err = a.salvage(ctx, &scan{f: l.data, size: l.info.Size()}, tmp, sources, nil, progress); err == nil {
			r.Aside, err = setAside(ctx, l, path, time.Now())
		}
		if errors.Is(err, errNotArchive) {
			err = fmt.Errorf("%w; move the file away, and ccd creates a new archive", err)
		}
		return err
	})
}

// replace puts the file that fill makes at tmp in the place of the locked one at path.
func (a *Archive) replace(l lock, fill func(path, tmp string) error) error {
	path, err := filepath.EvalSymlinks(a.path)
	if err != nil {
		return err
	}
	if err := a.checkSpace(filepath.Dir(path), l.info.Size()); err != nil {
		return err
	}
	tmp, err := newFile(path)
	if err != nil {
		return err
	}
	defer os.Remove(tmp) // fails after the rename
	if err := fill(path, tmp); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// entries are those of a file that a new one is made from.
type entries interface {
	// each calls fn with every intact entry.
	each(ctx context.Context, fn func(e storedEntry) error, progress Progress) error
	// value returns the value of a block.
	value(c candidate) ([]byte, error)
}

// salvage makes an archive at path from the entries of a file and from sources, without what w removes (nil: nothing), and
// verifies it.
func (a *Archive) salvage(ctx context.Context, from entries, path string, sources Sources, w *rewriter, progress Progress) (r Report, restored int64, err error) {
	s := newRebuilder(from, w)
	s.sources = sources
	err = a.build(path, func(into *Archive) error {
		s.into = into
		if err := s.collect(ctx, progress.part(0, 400)); err != nil {
			return err
		}
		return s.write(ctx, progress.part(400, 700))
	})
	if err != nil {
		_ = os.Remove(path) // an earlier error is being returned
		return r, 0, err
	}
	there := &Archive{path: path, o: Options{ReadOnly: true}, codec: a.codec}
	r, err = there.Verify(ctx, progress.part(700, 1000))
	if file, ok := from.(*scan); ok && file.failed != nil {
		r.Damage = append(r.Damage, a.damage("the disk cannot be read: %w", file.failed))
	}
	if n := s.nameless(); n > 0 {
		r.Damage = append(r.Damage, there.damage("%d sessions are lost, both names and bytes", n))
	}
	return r, s.restored, err
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

// rebuilder makes a new archive from the entries of a file.
type rebuilder struct {
	into        *Archive
	from        entries
	without     *rewriter // nil: nothing is removed
	sources     Sources   // nil: none
	restored    int64     // bytes that were lost, and taken from sources
	version     uint64    // the highest
	sessions    map[transcript.Key]versioned[sessionRecord]
	generations map[stream]versioned[generationRecord]
	nums        map[transcript.Key]uint64 // of sessions, as envelopes have them
	blocks      map[uint64][]candidate    // by ID
	places      map[stream][]candidate    // by envelopes
}

func newRebuilder(from entries, without *rewriter) *rebuilder {
	return &rebuilder{
		from: from, without: without, sessions: map[transcript.Key]versioned[sessionRecord]{},
		generations: map[stream]versioned[generationRecord]{}, nums: map[transcript.Key]uint64{},
		blocks: map[uint64][]candidate{}, places: map[stream][]candidate{},
	}
}

// versioned is the newest intact record.
type versioned[T any] struct {
	record  T
	version uint64
}

// candidate is an intact block of the file.
type candidate struct {
	envelope
	id      uint64
	version uint64
	at      int64 // of its value in the file
	n       int
}

// collect reads the entries. States, the index and summaries go to the new archive at once.
func (s *rebuilder) collect(ctx context.Context, progress Progress) error {
	var batch []storedEntry
	size := 0
	flush := func() error {
		defer func() { batch, size = nil, 0 }()
		return s.into.held.update(func(tx *bolt.Tx) error {
			for _, e := range batch {
				was, ok := parseHeader(e.kind.bucket(tx).Get(e.key))
				if ok && was.version > e.version {
					continue
				}
				if err := putSealed(tx, e.kind, e.key, e.value); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := s.from.each(ctx, func(e storedEntry) error {
		s.version = max(s.version, e.version)
		switch e.kind {
		case kindState, kindID, kindSummary, kindMeta:
			if e.kind == kindMeta && !bytes.Equal(e.key, keyID) {
				return nil
			}
			if s.without != nil {
				e.value = s.without.value(e)
			}
			if e.value == nil {
				return nil
			}
			batch = append(batch, storedEntry{header: e.header, key: bytes.Clone(e.key), value: bytes.Clone(e.value)})
			if size += len(e.value); size > scanStep {
				return flush()
			}
		default:
			s.take(e)
		}
		return nil
	}, progress)
	if err == nil {
		err = flush()
	}
	return err
}

// take keeps an entry that places depend on.
func (s *rebuilder) take(e storedEntry) {
	switch e.kind {
	case kindSession:
		k, err := parseSessionKey(e.key)
		r, bad := decodeSession(e.record)
		if err == nil && bad == nil && e.version >= s.sessions[k].version && !s.removes(k) {
			s.sessions[k] = versioned[sessionRecord]{r, e.version}
		}
	case kindGeneration:
		if g, err := parseGeneration(e.key, e.value); err == nil && e.version >= s.generations[stream(e.key)].version {
			s.generations[stream(e.key)] = versioned[generationRecord]{g, e.version}
		}
	case kindBlock:
		if env, _, err := parseEnvelope(e.record); err == nil && len(e.key) == 8 {
			c := candidate{env, binary.BigEndian.Uint64(e.key), e.version, e.at, len(e.value)}
			if !s.removes(env.Key) {
				s.nums[env.Key] = env.Stream.num()
			}
			s.blocks[c.id] = append(s.blocks[c.id], c)
			s.places[env.Stream] = append(s.places[env.Stream], c)
		}
	}
}

func (s *rebuilder) removes(k transcript.Key) bool { return s.without != nil && s.without.removed[k] }

// write writes sessions, generations and blocks.
func (s *rebuilder) write(ctx context.Context, progress Progress) error {
	for k, num := range s.nums {
		if _, ok := s.sessions[k]; !ok { // its record is lost
			s.sessions[k] = versioned[sessionRecord]{record: sessionRecord{Num: num}}
		}
	}
	last, most := map[uint64]int{}, uint64(0)
	for of := range s.generations {
		last[of.num()] = max(last[of.num()], of.generation())
	}
	for of := range s.places {
		last[of.num()] = max(last[of.num()], of.generation())
	}
	for _, r := range s.sessions {
		most = max(most, r.record.Num)
	}
	err := s.into.held.update(func(tx *bolt.Tx) error {
		return errors.Join(continueFrom(tx, s.version), tx.Bucket(bucketMeta).SetSequence(most))
	})
	done := int64(0)
	for k, r := range s.sessions {
		r.record.Generation = last[r.record.Num]
		for n := 1; n <= r.record.Generation && err == nil; n++ {
			st, without := newStream(r.record.Num, n), filled{}
			if s.without != nil {
				without = s.without.holes[generationOf{k, n}]
			}
			err = s.generation(ctx, k, &r.record, st, st, without)
		}
		if err == nil {
			err = s.into.held.update(func(tx *bolt.Tx) error { return putSession(tx, k, r.record) })
		}
		if err != nil {
			return err
		}
		done++
		progress(done, int64(len(s.sessions)))
	}
	return nil
}

// generation writes a generation and its blocks, without what was forgotten. If its record is lost, or a newer one than there is,
// it is made from the blocks; with gaps between them its hash stays unknown, so that a read of it fails.
func (s *rebuilder) generation(ctx context.Context, k transcript.Key, of *sessionRecord, from, to stream, without filled) error {
	was := s.generations[from]
	all := s.place(from, was)
	g := was.record
	if len(all) > 0 && all[len(all)-1].end() > g.Offset || was.version == 0 {
		var err error
		if g, err = s.remake(g, all, k.Unlined()); err != nil {
			return err
		}
	}
	if of.Path == "" && len(all) > 0 { // its record is lost
		of.Class = uint8(all[0].Class)
	}
	if s.sources != nil {
		if done, err := s.heal(ctx, k, *of, to.generation(), g, all); done || err != nil {
			return err
		}
	}
	g.Blocks = nil
	for portion := range slices.Chunk(all, 16) {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := s.into.update(ctx, 0, func(tx *bolt.Tx) error {
			for _, c := range portion {
				value, err := s.from.value(c)
				if err != nil {
					return err
				}
				_, stored, err := openBlock(c.id, value)
				if err != nil {
					return err
				}
				b := packed{envelope: c.envelope, piece: c.end() > g.Cut.Start, stored: stored}
				b.Key, b.Class, b.Stream = k, transcript.Class(of.Class), to
				if err := b.fill(s.into.codec, without.holes); err != nil {
					return err
				}
				made, err := b.write(tx)
				if err != nil {
					return err
				}
				g.lose(made.Off)
				g.Blocks = append(g.Blocks, made)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	g.lose(g.Offset)
	without.change(&g)
	return s.into.update(ctx, 0, func(tx *bolt.Tx) error { return putGeneration(tx, to, g) })
}

// fill replaces holes in a block of which the stored form was checked.
func (b *packed) fill(c *codec, holes []hole) error {
	if len(overlapping(holes, b.Off, b.end())) == 0 {
		return nil
	}
	raw, err := c.decode(b.Len, b.stored, nil)
	if err == nil {
		fillSorted(raw, b.Off, holes)
		b.Sum = mark.Sum(raw)
		b.stored, err = c.pack(raw)
	}
	return err
}

// lose adds what is lost between the blocks and an offset. What is appended later reads the open frame, which begins a block.
func (g *generationRecord) lose(to int64) {
	for from := g.end(); from < to; from = g.end() {
		end := to
		if g.Cut.Start > from {
			end = min(end, g.Cut.Start)
		}
		g.Blocks = append(g.Blocks, block{Off: from, Len: end - from})
	}
}

// place returns the blocks of a generation, in order: first those that are newer than its record, which is then an earlier one,
// as their envelopes place them; then those of the record that are intact; where one is missing, older ones. Where two
// overlap, the newer one has replaced the other.
func (s *rebuilder) place(st stream, g versioned[generationRecord]) (all []candidate) {
	add := func(c candidate) {
		i, _ := slices.BinarySearchFunc(all, c.Off, func(b candidate, off int64) int { return cmp.Compare(b.Off, off) })
		if (i == 0 || all[i-1].end() <= c.Off) && (i == len(all) || c.end() <= all[i].Off) {
			all = slices.Insert(all, i, c)
		}
	}
	newest := func(x, y candidate) int {
		return cmp.Or(-cmp.Compare(x.version, y.version), -cmp.Compare(x.Len, y.Len), cmp.Compare(x.at, y.at))
	}
	more := s.places[st]
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

// remake makes the record of a generation from its blocks.
func (s *rebuilder) remake(was generationRecord, all []candidate, unlined bool) (g generationRecord, err error) {
	g.Head = was.Head
	sum, gap := sha256.New(), len(all) == 0
	for _, c := range all {
		value, err := s.from.value(c)
		if err != nil {
			return g, err
		}
		raw, err := s.into.unpack(block{ID: c.id, Len: c.Len}, value, nil)
		if err != nil {
			return g, err
		}
		sum.Write(raw)
		if c.Off != g.Offset {
			gap, g.Cut = true, cutter{Start: c.Off, End: c.Off}
		}
		g.Offset = c.end()
		if cuts := g.Cut.cut(c.Off, raw, !unlined); len(cuts) > 0 && cuts[len(cuts)-1] != g.Offset { // a frame never ends inside a block
			g.Cut = cutter{Start: g.Offset, End: g.Offset}
		}
	}
	if gap {
		sum = unknownHash()
	}
	return g, g.setHash(sum)
}

// nameless counts the sessions that have a generation, but no record and no intact block.
func (s *rebuilder) nameless() int {
	lost := map[uint64]bool{}
	if s.without != nil {
		return 0 // the file is intact
	}
	for g := range s.generations {
		lost[g.num()] = true
	}
	for _, r := range s.sessions {
		delete(lost, r.record.Num)
	}
	return len(lost)
}

// unknownHash is the state of a hash that no transcript has, for a generation of which bytes are missing.
func unknownHash() hash.Hash {
	h := sha256.New()
	h.Write([]byte("\x00hash of the generation is unknown"))
	return h
}

// heal writes a generation from a source, if it lacks bytes or its hash and a source has all of them.
func (s *rebuilder) heal(ctx context.Context, k transcript.Key, of sessionRecord, n int, g generationRecord, all []candidate) (done bool, err error) {
	sum, err := g.sum()
	if err != nil {
		return false, err
	}
	lost, known := g.Offset, sum != mark.Hash(unknownHash().Sum(nil))
	for _, c := range all {
		lost -= c.Len
	}
	if known && lost == 0 || g.Offset == 0 { // with nothing to compare, any source would do
		return false, nil
	}
	source := s.sources(ctx, of.session(k), Generation{N: n, Tip: g.cursor(n), Sum: sum})
	if source == nil {
		return false, nil
	}
	got, same := sameBytes(source, g.Offset, all)
	if !same || known && got != sum {
		return false, ctx.Err()
	}
	of.Generation = n - 1
	if err := s.into.update(ctx, 0, func(tx *bolt.Tx) error { return putSession(tx, k, of) }); err != nil {
		return false, err
	}
	at := transcript.Cursor{Generation: n, Head: g.Head, Back: g.Back}
	for data := range source {
		seg := transcript.Segment{Start: at, Data: data[:min(int64(len(data)), g.Offset-at.Offset)]}
		at.Offset += int64(len(seg.Data))
		if seg.End = at; len(seg.Data) == 0 {
			break
		}
		if err := s.into.Append(ctx, of.session(k), seg); err != nil {
			return false, err
		}
	}
	made, err := s.into.find(ctx, k)
	if err == nil && (len(made.Generations) < n || made.Generations[n-1].Sum != got) {
		err = cmp.Or(ctx.Err(), fmt.Errorf("the transcript of session %s %s was rewritten meanwhile; try again", k.Agent, k.ID))
	}
	s.restored += lost
	return err == nil, err
}

// sameBytes reports whether a source has bytes up to end, and in them the blocks, and returns their hash.
func sameBytes(source iter.Seq[[]byte], end int64, blocks []candidate) (sum mark.Hash, same bool) {
	whole, block, off := sha256.New(), sha256.New(), int64(0)
	for data := range source {
		data = data[:min(int64(len(data)), end-off)]
		whole.Write(data)
		for len(data) > 0 {
			stop := end
			if len(blocks) > 0 {
				if stop = blocks[0].Off; off >= stop {
					stop = blocks[0].end()
				}
			}
			n := min(int64(len(data)), stop-off)
			block.Write(data[:n])
			if data, off = data[n:], off+n; off < stop {
				break
			}
			if len(blocks) > 0 && off == blocks[0].end() {
				if mark.Hash(block.Sum(nil)) != blocks[0].Sum {
					return sum, false
				}
				blocks = blocks[1:]
			}
			block.Reset()
		}
		if off == end {
			break
		}
	}
	return mark.Hash(whole.Sum(nil)), off == end
}

// newFile returns the path of the file that is to replace the archive at path. It removes that of a process that was
// killed.
func newFile(path string) (tmp string, err error) {
	tmp = path + ".tmp"
	if err = os.Remove(tmp); errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return tmp, err
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
	if err != nil { // perhaps a file system without hard links
		err = l.copyTo(ctx, aside, func(int64, int64) {})
	}
	return aside, err
}
