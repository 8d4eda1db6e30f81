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
	"io"
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

// Sources returns the bytes of a generation that the caller still has, or nil. They are compared with what is left of it
// before any of them is stored. release, if not nil, is called when they have been read.
type Sources func(ctx context.Context, s Session, generation int) (source io.ReaderAt, release func(), err error)

// Rebuild is the one answer to damage: it scans the archive's file for intact entries, writes them to a new archive, takes
// from sources what is missing there, and puts the new file in the archive's place. The old file is kept beside it. Others
// wait for the lock meanwhile. A process that dies leaves the old file or the new one in place. Rebuild fails with
// ErrNotFound if there is no archive yet. sources and progress may be nil; progress is called with thousandths.
func (a *Archive) Rebuild(ctx context.Context, sources Sources, progress func(done, total int64)) (r Rebuilt, err error) {
	if progress == nil {
		progress = func(int64, int64) {}
	}
	if err = a.rebuildable(ctx); err == nil {
		var l lock
		if l, err = a.lock(ctx, true, nil); err == nil {
			defer l.release()
			err = a.rebuild(ctx, l.data, sources, &r, progress)
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

func (a *Archive) rebuild(ctx context.Context, f *os.File, sources Sources, r *Rebuilt, progress func(done, total int64)) error {
	path, err := filepath.EvalSymlinks(a.path)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := a.checkSpace(filepath.Dir(path), info.Size()); err != nil {
		return err
	}
	tmp, err := newFile(path)
	if err != nil {
		return err
	}
	defer os.Remove(tmp) // fails after the rename
	if r.Report, r.Restored, err = a.salvage(ctx, f, tmp, sources, progress); err != nil {
		return err
	}
	if r.Aside, err = setAside(path, time.Now()); err != nil {
		return err
	}
	return a.swap(tmp, path)
}

// salvage makes an archive at path from the intact entries of a file and from sources, and verifies it.
func (a *Archive) salvage(ctx context.Context, f *os.File, path string, sources Sources, progress func(done, total int64)) (r Report, restored int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return r, 0, err
	}
	s := rebuilder{
		scan: scan{f: f, size: info.Size()}, sessions: map[transcript.Key]versioned[sessionRecord]{},
		generations: map[stream]versioned[generationRecord]{}, nums: map[transcript.Key]uint64{},
	}
	err = a.build(path, func(into *Archive) error {
		s.into = into
		if err := s.collect(ctx, func(done, total int64) { progress(400*done/max(1, total), 1000) }); err != nil {
			return err
		}
		if err := s.write(ctx, func(done, total int64) { progress(400+300*done/max(1, total), 1000) }); err != nil {
			return err
		}
		restored, err = s.restore(ctx, sources)
		return err
	})
	if err != nil {
		_ = os.Remove(path) // an earlier error is being returned
		return r, 0, err
	}
	there := &Archive{path: path, o: Options{ReadOnly: true}, codec: a.codec}
	r, err = there.Verify(ctx, func(done, total int64) { progress(700+300*done/max(1, total), 1000) })
	if s.scan.failed != nil {
		r.Damage = append(r.Damage, a.damage("the disk cannot be read: %w", s.scan.failed))
	}
	if n := s.nameless(); n > 0 {
		r.Damage = append(r.Damage, there.damage("%d sessions are lost, both names and bytes", n))
	}
	return r, restored, err
}

// rebuilder makes a new archive from the entries of a file.
type rebuilder struct {
	into        *Archive
	scan        scan
	any         bool   // there are entries
	version     uint64 // the highest
	sessions    map[transcript.Key]versioned[sessionRecord]
	generations map[stream]versioned[generationRecord]
	nums        map[transcript.Key]uint64 // of sessions, as envelopes have them
	candidates  []candidate
	tracks      map[stream][]candidate // those that have a place, in order
	ends        map[stream]int64       // of tracks, by the generations
	users       map[stream]int         // generations that use a track
	last        map[uint64]int         // the last generation of a session, by its number
}

// versioned is the newest intact record.
type versioned[T any] struct {
	record  T
	version uint64
}

// candidate is a block that an envelope, or a record of the manifest, gives a place.
type candidate struct {
	block
	track   stream
	version uint64
	at      int64 // of its value in the file, 0 if only the manifest names it
	n       int
	by      int // of its envelope
	class   transcript.Class
}

// collect scans the file. States, the index and summaries go to the new archive at once.
func (s *rebuilder) collect(ctx context.Context, progress func(done, total int64)) error {
	type sealed struct {
		kind       kind
		version    uint64
		key, value []byte
	}
	var batch []sealed
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
	err := s.scan.each(ctx, func(e storedEntry) error {
		s.any, s.version = true, max(s.version, e.version)
		switch e.kind {
		case kindState, kindID, kindSummary, kindMeta:
			if e.kind == kindMeta && !bytes.Equal(e.key, keyID) {
				return nil
			}
			batch = append(batch, sealed{e.kind, e.version, bytes.Clone(e.key), bytes.Clone(e.value)})
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
	if err == nil && !s.any && !s.mayBeOwn() {
		err = errors.New("not a ccd archive; move the file away, and ccd creates a new archive")
	}
	return err
}

// take keeps an entry that places depend on.
func (s *rebuilder) take(e storedEntry) {
	switch e.kind {
	case kindSession:
		k, err := parseSessionKey(e.key)
		r, bad := decodeSession(e.record)
		if err == nil && bad == nil && e.version >= s.sessions[k].version {
			s.sessions[k] = versioned[sessionRecord]{r, e.version}
		}
	case kindGeneration:
		if g, err := parseGeneration(e.key, e.value); err == nil && e.version >= s.generations[stream(e.key)].version {
			s.generations[stream(e.key)] = versioned[generationRecord]{g, e.version}
		}
	case kindManifest:
		if b, err := parseBlock(e.key, e.value); err == nil && len(e.key) == len(stream{})+8 {
			s.candidates = append(s.candidates, candidate{block: b, track: stream(e.key[:len(stream{})]), version: e.version})
		}
	case kindFrame, kindPiece:
		if env, _, err := parseEnvelope(e.record); err == nil && len(e.key) == 8 {
			s.nums[env.Key] = env.Stream.num()
			b := block{Off: env.Off, Len: env.Len, Tail: e.kind == kindPiece, ID: binary.BigEndian.Uint64(e.key), Sum: env.Sum}
			s.candidates = append(s.candidates, candidate{b, env.Stream, e.version, e.at, len(e.value), env.By, env.Class})
		}
	}
}

// mayBeOwn reports whether a file without an entry may have been an archive: it begins like a file of bbolt, or was zeroed.
func (s *rebuilder) mayBeOwn() bool {
	head := s.scan.read(nil, 0, min(s.scan.size, 2*4096))
	return bytes.Contains(head, binary.NativeEndian.AppendUint32(nil, 0xED0CDAED)) || len(bytes.Trim(head, "\x00")) == 0
}

// place gives each block its place: the newest first, where the place is still free. Earlier ones are what a newer one has
// replaced, and take its place if it is damaged.
func (s *rebuilder) place() {
	type name struct {
		tail bool
		id   uint64
		sum  mark.Hash
	}
	intact := map[name]candidate{}
	for _, c := range s.candidates {
		if c.at != 0 {
			intact[name{c.Tail, c.ID, c.Sum}] = c
		}
	}
	slices.SortStableFunc(s.candidates, func(x, y candidate) int {
		return cmp.Or(-cmp.Compare(x.version, y.version), -cmp.Compare(x.Len, y.Len), cmp.Compare(x.at, y.at))
	})
	s.tracks = map[stream][]candidate{}
	for _, c := range s.candidates {
		there, ok := intact[name{c.Tail, c.ID, c.Sum}]
		all := s.tracks[c.track]
		i, _ := slices.BinarySearchFunc(all, c.Off, func(b candidate, off int64) int { return cmp.Compare(b.Off, off) })
		if !ok || i > 0 && all[i-1].end() > c.Off || i < len(all) && all[i].Off < c.end() {
			continue
		}
		c.at, c.n, c.by, c.class = there.at, there.n, there.by, there.class
		s.tracks[c.track] = slices.Insert(all, i, c)
	}
	s.candidates = nil
}

// write writes sessions, generations and blocks.
func (s *rebuilder) write(ctx context.Context, progress func(done, total int64)) error {
	s.place()
	s.ends, s.users = map[stream]int64{}, map[stream]int{}
	for of, g := range s.generations {
		track := newStream(of.num(), g.record.Track)
		s.ends[track], s.users[track] = max(s.ends[track], g.record.End), s.users[track]+1
	}
	keys := map[uint64]transcript.Key{}
	for k, num := range s.nums {
		if _, ok := s.sessions[k]; !ok { // its record is lost
			s.sessions[k] = versioned[sessionRecord]{record: sessionRecord{Num: num}}
		}
	}
	last := uint64(0)
	for k, r := range s.sessions {
		keys[r.record.Num], last = k, max(last, r.record.Num)
	}
	err := s.into.held.update(func(tx *bolt.Tx) error {
		return errors.Join(continueFrom(tx, s.version), tx.Bucket(bucketMeta).SetSequence(last))
	})
	if err != nil {
		return err
	}
	done := int64(0)
	for track, all := range s.tracks {
		k, ok := keys[track.num()]
		if !ok {
			delete(s.tracks, track) // a place that nothing names
			continue
		}
		if r := s.sessions[k]; r.version == 0 {
			r.record.Class = uint8(all[0].class)
			s.sessions[k] = r
		}
		if all, err = s.limit(track, all); err != nil {
			return err
		}
		s.tracks[track] = all
		for portion := range slices.Chunk(all, 16) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.into.held.update(func(tx *bolt.Tx) error { return s.writeBlocks(tx, k, portion) }); err != nil {
				return err
			}
		}
		done++
		progress(done, int64(len(s.tracks)))
	}
	s.last = map[uint64]int{}
	for of := range s.generations {
		s.last[of.num()] = max(s.last[of.num()], of.generation())
	}
	for k, r := range s.sessions {
		if err := s.writeSession(k, r.record); err != nil {
			return err
		}
	}
	return nil
}

func (s *rebuilder) writeBlocks(tx *bolt.Tx, k transcript.Key, all []candidate) error {
	for _, c := range all {
		_, stored, err := c.open(s.scan.read(nil, c.at, int64(c.n)))
		if err != nil {
			return err
		}
		b := packed{block: c.block, of: transcript.Session{Key: k, Class: transcript.Class(s.sessions[k].record.Class)}, by: c.by, stored: stored}
		b.ID = 0
		if err := b.write(tx, c.track); err != nil {
			return err
		}
	}
	return nil
}

// limit leaves out the blocks beyond the end of a track, which no generation has. If the generation is the track's only one,
// a newer record of it is lost, and its end is that of the blocks: the record is made from them.
func (s *rebuilder) limit(track stream, all []candidate) ([]candidate, error) {
	end := s.ends[track]
	own, ok := s.generations[track]
	if !ok || s.users[track] == 1 && all[len(all)-1].end() > end {
		made, err := s.remake(track, own.record, all)
		if err != nil {
			return nil, err
		}
		if made.Offset > own.record.Offset {
			s.generations[track] = versioned[generationRecord]{made, s.version}
			end = max(end, made.End)
		}
	}
	return slices.DeleteFunc(all, func(c candidate) bool { return c.Off >= end }), nil
}

// remake makes the record of a generation from its blocks. With gaps between them its hash stays unknown, and if the last ones
// have bytes of a later generation too: where those begin is lost.
func (s *rebuilder) remake(track stream, was generationRecord, all []candidate) (g generationRecord, err error) {
	g.Track, g.Head = track.generation(), was.Head
	sum, gap := sha256.New(), false
	for _, c := range all {
		if c.by > g.Track {
			gap = true
			break
		}
		raw, err := s.into.unpack(c.block, s.scan.read(nil, c.at, int64(c.n)), nil, false)
		if err != nil {
			return g, err
		}
		sum.Write(raw)
		if c.Off != g.Offset {
			gap, g.Cut = true, cutter{Start: c.Off, End: c.Off}
		}
		g.Offset = c.Off + int64(len(raw))
		if cuts := g.Cut.cut(c.Off, raw); !c.Tail || len(cuts) > 0 { // a frame never ends inside a block
			g.Cut = cutter{Start: g.Offset, End: g.Offset}
		}
	}
	if gap {
		sum = unknownHash()
	}
	g.End = g.Offset
	return g, g.setHash(sum)
}

// writeSession writes a session with the generations that there are. Where the layout of one is lost, it is empty and its
// hash unknown, so that a read of it fails.
func (s *rebuilder) writeSession(key transcript.Key, r sessionRecord) error {
	return s.into.held.update(func(tx *bolt.Tx) error {
		r.Generation = s.last[r.Num]
		for n := 1; n <= r.Generation; n++ {
			g, ok := s.generations[newStream(r.Num, n)]
			if !ok {
				g.record.Track = n
				if err := g.record.setHash(unknownHash()); err != nil {
					return err
				}
			}
			if err := putGeneration(tx, newStream(r.Num, n), g.record); err != nil {
				return err
			}
		}
		return putSession(tx, key, r)
	})
}

// nameless counts the sessions that have a generation, but no record and no intact block.
func (s *rebuilder) nameless() int {
	lost := map[uint64]bool{}
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

// restore takes from sources what generations lack, and returns how many bytes.
func (s *rebuilder) restore(ctx context.Context, sources Sources) (restored int64, err error) {
	if sources == nil {
		return 0, nil
	}
	all, err := s.into.Sessions(ctx)
	if err := skipDamage(err); err != nil {
		return 0, err
	}
	for _, one := range all {
		for _, g := range one.Generations {
			h := healer{a: s.into, r: s.into.Reader(one.Key, g.N), session: one.Session}
			if lacks, err := h.lacks(ctx); err != nil {
				return restored, err
			} else if !lacks {
				continue
			}
			source, release, err := sources(ctx, one, g.N)
			if err == nil && source != nil {
				err = h.heal(ctx, source)
			}
			if release != nil {
				release()
			}
			if err != nil && !errors.Is(err, errDiffers) {
				return restored, fmt.Errorf("restore session %s %s: %w", one.Agent, one.ID, err)
			}
			restored += h.healed
		}
	}
	return restored, nil
}

// errDiffers is returned if a source does not have the archived bytes.
var errDiffers = errors.New("the source has other bytes")

// healer completes one generation of a new archive.
type healer struct {
	a       *Archive
	r       *Reader
	session transcript.Session
	gen     generationRecord
	unknown bool // the generation's hash was lost
	lost    []portion
	healed  int64
}

// lacks reports whether bytes of the generation, or its hash, are missing.
func (h *healer) lacks(ctx context.Context) (bool, error) {
	g, err := h.r.generation(ctx)
	if err != nil {
		return false, skipDamage(err)
	}
	h.gen = g
	want, err := g.sum()
	if err != nil {
		return false, err
	}
	h.unknown = want == mark.Hash(unknownHash().Sum(nil))
	err = h.a.view(ctx, func(tx *bolt.Tx) error {
		return h.r.eachBlock(tx, transcript.Span{Len: g.Offset}, func(block, transcript.Span) error { return nil })
	})
	return err != nil || h.unknown, skipDamage(err)
}

// heal compares the source with what is left of the generation, by its hash or, if that was lost, by all bytes that are left,
// and stores what is missing.
func (h *healer) heal(ctx context.Context, source io.ReaderAt) error {
	sum, buf := sha256.New(), []byte(nil)
	for p, err := range h.r.portions(ctx, 0, h.gen.Offset) {
		if err := skipDamage(err); err != nil {
			return err
		}
		for off := p.off; off < p.end; off += int64(len(buf)) {
			if buf, err = readSpan(source, buf, off, min(p.end, off+maxFrame)); err != nil {
				return err
			}
			if p.data != nil && !bytes.Equal(buf, p.data[off-p.off:][:len(buf)]) {
				return errDiffers
			}
			sum.Write(buf)
		}
		if p.data == nil {
			h.lost = append(h.lost, p)
		}
	}
	if h.unknown && h.gen.Offset == 0 || !h.unknown && h.gen.matches(sum) != nil {
		return errDiffers // with nothing to compare, any source would do
	}
	for _, p := range h.lost {
		if err := h.store(ctx, source, p); err != nil {
			return err
		}
	}
	return h.a.update(ctx, 0, func(tx *bolt.Tx) error {
		if err := h.gen.setHash(sum); err != nil {
			return err
		}
		return putGeneration(tx, newStream(h.r.stream.num(), h.r.n), h.gen)
	})
}

// store writes a lost stretch as new blocks: pieces where the track's tail is, else frames.
func (h *healer) store(ctx context.Context, source io.ReaderAt, p portion) error {
	e := h.r.layout.find(p.off)
	tail := int64(0)
	err := h.a.view(ctx, func(tx *bolt.Tx) error {
		r, _, err := getSession(tx, h.r.key)
		var newest generationRecord
		if err == nil {
			newest, err = mustGeneration(tx, newStream(r.Num, r.Generation))
		}
		if tail = h.gen.Cut.Start; newest.Track == h.r.stream.generation() {
			tail = newest.Cut.Start
		}
		return err
	})
	for off := p.off; off < p.end && err == nil; {
		at := e.At + off - e.Off // in the track
		end := min(p.end-off, maxFrame) + at
		if at < tail {
			end = min(end, tail)
		}
		var raw []byte
		if raw, err = readSpan(source, nil, off, off+end-at); err != nil {
			return err
		}
		b := packed{block: block{Off: at, Len: end - at, Tail: at >= tail, Sum: mark.Sum(raw)}, of: h.session, by: h.r.n}
		if b.stored, err = h.a.codec.pack(raw, b.Sum); err != nil {
			return err
		}
		err = h.a.update(ctx, int64(len(b.stored)), func(tx *bolt.Tx) error { return b.write(tx, h.r.stream) })
		h.healed += b.Len
		off += b.Len
	}
	return err
}

// readSpan reads the source's bytes from off to end. A source that is shorter differs.
func readSpan(source io.ReaderAt, buf []byte, off, end int64) ([]byte, error) {
	if int64(cap(buf)) < end-off {
		buf = make([]byte, end-off)
	}
	buf = buf[:end-off]
	n, err := source.ReadAt(buf, off)
	if n == len(buf) {
		return buf, nil
	}
	if errors.Is(err, io.EOF) {
		err = errDiffers
	}
	return buf, err
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

// swap puts a new file in the place of the archive at path, which has no symlinks.
func (a *Archive) swap(tmp, path string) error {
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	a.broken.Store(nil)
	a.recordFile(a.stat())
	return syncDir(filepath.Dir(path))
}

const asideSuffix = ".damaged-"

// setAside gives the file a second name, or copies it where that cannot be. The first one stays, so that there is an archive
// at any time, and nobody makes a new one meanwhile.
func setAside(path string, now time.Time) (aside string, err error) {
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
		err = copyFile(path, aside)
	}
	return aside, err
}

// copyFile makes a synced copy.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}
