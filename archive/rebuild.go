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
	Report        // of the new file; Damage lists what is missing in it
	Aside  string // path of the old file
}

// Rebuild is the one answer to damage: it scans the archive's file for intact entries, writes them to a new archive and puts that in the
// archive's place. The old file is kept beside it. Others wait for the lock meanwhile. A process that dies leaves the old file or
// the new one in place. Rebuild fails with ErrNotFound if there is no archive yet. progress, if not nil, is called with thousandths.
func (a *Archive) Rebuild(ctx context.Context, progress Progress) (r Rebuilt, err error) {
	if err = a.rebuildable(ctx); err == nil {
		var l lock
		if l, err = a.lock(ctx, true, nil); err == nil {
			defer l.release()
			err = a.rebuild(ctx, l, &r, progress)
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

func (a *Archive) rebuild(ctx context.Context, l lock, r *Rebuilt, progress Progress) error {
	return a.replace(ctx, l, func(path, tmp string) (err error) {
		s := newRebuilder(&scan{f: l.data, size: l.info.Size()}, nil)
		s.notedOf, s.noted = a.readTips()
		if r.Report, err = a.salvage(ctx, s, tmp, progress); err == nil {
			r.Aside, err = setAside(ctx, l, path, time.Now())
		}
		if errors.Is(err, errNotArchive) {
			err = fmt.Errorf("%w; move the file away, and ccd creates a new archive", err)
		}
		return err
	})
}

// replace puts the file that fill makes at tmp in the place of the locked one at path.
func (a *Archive) replace(ctx context.Context, l lock, fill func(path, tmp string) error) error {
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
	made := &Archive{path: tmp, o: Options{ReadOnly: true}, codec: a.codec}
	id, err := made.ID(ctx)
	if err == nil {
		err = made.writeTips(ctx, tipsPath(a.path), id)
	}
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// salvage makes an archive at path, and verifies it.
func (a *Archive) salvage(ctx context.Context, s *rebuilder, path string, progress Progress) (r Report, err error) {
	err = a.build(path, func(into *Archive) error {
		s.into = into
		if err := s.collect(ctx, progress.part(0, 400)); err != nil {
			return err
		}
		return s.write(ctx, progress.part(400, 700))
	})
	if err != nil {
		_ = os.Remove(path) // an earlier error is being returned
		return r, err
	}
	there := &Archive{path: path, o: Options{ReadOnly: true}, codec: a.codec}
	r, err = there.Verify(ctx, progress.part(700, 1000))
	if s.from.failed != nil {
		r.Damage = append(r.Damage, a.damage("the disk cannot be read: %w", s.from.failed))
	}
	return r, err
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
	from        *scan
	without     *rewriter              // nil: nothing is removed
	id          string                 // of the archive that the entries are of, "" if it is lost
	sure        map[generationOf]bool  // whose records the file leads to; of others the end may be lost. Nil: all, or the tips tell
	notedOf     string                 // ID of the archive that the noted tips are of
	noted       map[generationOf]int64 // the tips in the file beside the archive
	tips        map[generationOf]int64 // the end of each generation, as far as it is known
	version     uint64                 // the highest
	sessions    map[transcript.Key]versioned[sessionRecord]
	generations map[stream]versioned[generationRecord]
	nums        map[transcript.Key]uint64 // of sessions, as envelopes have them
	blocks      map[uint64][]candidate    // by ID
	places      map[stream][]candidate    // by envelopes
}

func newRebuilder(from *scan, without *rewriter) *rebuilder {
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
			if e.kind == kindMeta {
				s.id = hex.EncodeToString(e.record)
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
	if err == nil {
		err = s.learn()
	}
	return err
}

// learn takes the noted tips and ID for those of this archive, as they are if its own ID is lost.
func (s *rebuilder) learn() error {
	if s.id == "" || s.id == s.notedOf {
		s.tips = s.noted
	}
	id, err := hex.DecodeString(s.notedOf)
	if s.id != "" || err != nil || len(id) != idSize {
		return nil
	}
	return s.into.held.update(func(tx *bolt.Tx) error { return put(tx, kindMeta, keyID, id) })
}

// take keeps an entry that places depend on. A number that no file of this size can have is not one that Append has stored.
func (s *rebuilder) take(e storedEntry) {
	switch e.kind {
	case kindSession:
		k, err := parseSessionKey(e.key)
		r, bad := decodeSession(e.record)
		if errors.Join(err, bad) == nil && s.possible(r.Num, r.Generation) && !s.removes(k) {
			keepNewest(s.sessions, k, r, e.version)
		}
	case kindGeneration:
		g, err := parseGeneration(e.key, e.value)
		if len(e.key) == len(stream{}) && err == nil && s.possible(stream(e.key).num(), stream(e.key).generation()) {
			keepNewest(s.generations, stream(e.key), g, e.version)
		}
	case kindBlock:
		env, _, err := parseEnvelope(e.record)
		if err != nil || len(e.key) != 8 || !s.possible(env.Stream.num(), env.Stream.generation()) {
			return
		}
		env.Words = nil // of all blocks they would take much memory
		c := candidate{env, binary.BigEndian.Uint64(e.key), e.version, e.at, len(e.value)}
		if !s.removes(env.Key) {
			s.nums[env.Key] = env.Stream.num()
		}
		s.blocks[c.id] = append(s.blocks[c.id], c)
		s.places[env.Stream] = append(s.places[env.Stream], c)
	}
}

func keepNewest[K comparable, T any](all map[K]versioned[T], k K, record T, version uint64) {
	if version >= all[k].version {
		all[k] = versioned[T]{record, version}
	}
}

// possible reports whether there may be a session with this number, and so many generations. Each takes more than leastGeneration bytes.
func (s *rebuilder) possible(num uint64, generation int) bool {
	const leastGeneration, mostNum = 128, 1 << 48
	return num < mostNum && generation <= mostEarlier+int(s.from.size/leastGeneration)
}

func (s *rebuilder) removes(k transcript.Key) bool { return s.without != nil && s.without.removed[k] }

// number adds the sessions of which the record is lost, and returns how many generations each has, by its number, and the highest number.
func (s *rebuilder) number() (last map[uint64]int, most uint64) {
	last = map[uint64]int{}
	for k, num := range s.nums {
		if _, ok := s.sessions[k]; !ok {
			s.sessions[k] = versioned[sessionRecord]{record: sessionRecord{Num: num}}
		}
	}
	raise := func(num uint64, n int) { last[num], most = max(last[num], n), max(most, num) }
	for of := range s.generations {
		raise(of.num(), of.generation())
	}
	for of := range s.places {
		raise(of.num(), of.generation())
	}
	for _, r := range s.sessions {
		raise(r.record.Num, r.record.Generation)
	}
	for of := range s.tips {
		r, ok := s.sessions[of.Key]
		if !ok {
			most++
			r.record.Num = most
			s.sessions[of.Key] = r
		}
		raise(r.record.Num, of.n)
	}
	return last, most
}

// write writes sessions, generations and blocks. A session of which nothing is left but its name has generations without bytes, of
// which every read fails.
func (s *rebuilder) write(ctx context.Context, progress Progress) error {
	last, most := s.number()
	err := s.into.held.update(func(tx *bolt.Tx) error {
		return errors.Join(continueFrom(tx, s.version), tx.Bucket(bucketMeta).SetSequence(most))
	})
	done := int64(0)
	for k, r := range s.sessions {
		r.record.Generation = last[r.record.Num]
		for n := 1; n <= r.record.Generation && err == nil; n++ {
			err = s.generation(ctx, k, &r.record, n)
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
// it is made from the blocks; where bytes are missing its hash stays unknown, so that a read of it fails.
func (s *rebuilder) generation(ctx context.Context, k transcript.Key, of *sessionRecord, n int) error {
	st, without := newStream(of.Num, n), filled{}
	if s.without != nil {
		without = s.without.holes[generationOf{k, n}]
	}
	all := s.place(st, s.generations[st])
	g, err := s.record(k, st, all)
	if err != nil {
		return err
	}
	if of.Path == "" && len(all) > 0 { // its record is lost
		of.Class = uint8(all[0].Class)
	}
	for portion := range slices.Chunk(all, 16) {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := s.into.update(ctx, 0, func(tx *bolt.Tx) error {
			for _, c := range portion {
				made, err := s.copy(tx, k, transcript.Class(of.Class), c, st, g.Cut.Start, without.holes)
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
	if slices.ContainsFunc(g.Blocks, func(b block) bool { return b.ID == 0 && b.Off >= g.Cut.Start }) {
		g.Cut = cutter{Start: g.Offset, End: g.Offset} // what comes next cannot read what is open
	}
	without.change(&g)
	return s.into.update(ctx, 0, func(tx *bolt.Tx) error { return putGeneration(tx, st, g) })
}

// record returns the record of a generation without its blocks. If it is lost, or there was a newer one, it is made from the blocks, and
// ends where the tips say.
func (s *rebuilder) record(k transcript.Key, st stream, all []candidate) (g generationRecord, err error) {
	was, of := s.generations[st], generationOf{k, st.generation()}
	if g = was.record; len(all) > 0 && all[len(all)-1].end() > g.Offset || was.version == 0 {
		if g, err = s.remake(g, all, k.Unlined()); err != nil {
			return g, err
		}
	}
	g.Blocks = nil
	end, told := s.tips[of]
	doubted := s.sure != nil && !s.sure[of]
	switch {
	case told && end == 0 && g.Offset == 0: // it was empty
		err = g.setHash(sha256.New())
	case told && end > g.Offset, doubted:
		g.Offset, g.Back = max(end, g.Offset), transcript.Fingerprint{}
		err = g.setHash(unknownHash())
	}
	return g, err
}

// copy writes a block of the file.
func (s *rebuilder) copy(tx *bolt.Tx, k transcript.Key, class transcript.Class, c candidate, to stream, open int64, holes []hole) (made block, err error) {
	e, stored, err := openBlock(c.id, s.from.value(c))
	if err != nil {
		return made, err
	}
	b := packed{envelope: c.envelope, piece: c.end() > open, stored: stored}
	b.Key, b.Class, b.Stream, b.Words = k, class, to, e.Words
	if err := b.fill(s.into.codec, holes); err != nil {
		return made, err
	}
	return b.write(tx)
}

// fill replaces holes in a block of which the stored form was checked.
func (b *packed) fill(c *codec, holes []hole) error {
	if len(overlapping(holes, b.Off, b.end())) == 0 {
		return nil
	}
	raw, err := c.decode(b.Len, b.stored, nil)
	if err != nil {
		return err
	}
	fillSorted(raw, b.Off, holes)
	b.Sum = mark.Sum(raw)
	if b.stored, err = c.pack(raw); err == nil {
		b.Words = filterOf(raw, len(b.stored))
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
		raw, err := s.into.unpack(block{ID: c.id, Len: c.Len}, s.from.value(c), nil)
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

// noTranscript is what no transcript is. Its hash is that of a generation of which bytes are missing.
const noTranscript = "\x00hash of the generation is unknown"

var unknownSum = mark.Sum([]byte(noTranscript))

// unknownHash is the state of a hash that has unknownSum.
func unknownHash() hash.Hash {
	h := sha256.New()
	h.Write([]byte(noTranscript))
	return h
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
