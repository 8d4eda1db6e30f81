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
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Salvage writes everything of a's file that is intact to a new archive at file, which must not exist. It reads every
// page by itself, so it needs neither the B+ trees nor the length of the file: each record has a seal over its key and
// value, each block a hash, and an envelope that names its place. The new archive is verified; the Damage of the
// returned report lists what is missing in it. progress, if not nil, is called with thousandths.
func (a *Archive) Salvage(ctx context.Context, file string, progress func(done, total int64)) (Report, error) {
	l, err := a.lock(ctx, false, nil) // nobody writes meanwhile
	if errors.Is(err, errAbsent) {
		err = ErrNotFound
	}
	if err != nil {
		return Report{}, fmt.Errorf("salvage archive %s: %w", a.path, err)
	}
	defer l.release()
	if _, err := os.Lstat(file); err == nil {
		return Report{}, fmt.Errorf("salvage archive to %s: %w", file, ErrOverwrite)
	}
	r, err := a.salvage(ctx, l.data, file, progress)
	if errors.Is(err, errDisk) {
		r.Damage, err = append(r.Damage, a.damage("%w", err)), nil
	}
	if err != nil {
		return r, fmt.Errorf("salvage archive to %s: %w", file, err)
	}
	return r, syncDir(filepath.Dir(file))
}

func (a *Archive) salvage(ctx context.Context, f *os.File, file string, progress func(done, total int64)) (r Report, err error) {
	if progress == nil {
		progress = func(int64, int64) {}
	}
	info, err := f.Stat()
	if err != nil {
		return r, err
	}
	c := &copier{a: a, progress: func(int64, int64) {}}
	s := &salvager{copier: c, f: &recorded{ReaderAt: f}, size: info.Size(), chunks: map[chunkID][]scrap{}, sessions: map[transcript.Key]sessionRecord{}, generations: map[stream]found{}, blocks: map[stream][]candidate{}}
	s.progress = func(done, total int64) { progress(500*min(done, total)/max(1, total), 1000) }
	defer func() {
		if err != nil && !errors.Is(err, errDisk) {
			_ = os.Remove(file) // an earlier error is being returned
		}
	}()
	if err := c.run(ctx, file, s.begin, s.scan, s.place, s.write, s.finish); err != nil {
		return r, err
	}
	there, err := Open(file, Options{ReadOnly: true})
	if err == nil {
		r, err = there.Verify(ctx, func(done, total int64) { progress(500+500*done/max(1, total), 1000) })
	}
	if err == nil && s.f.err != nil {
		return r, fmt.Errorf("%w: %w", errDisk, s.f.err)
	}
	if n := s.nameless(); n > 0 {
		r.Damage = append(r.Damage, there.damage("%d sessions are lost, both names and bytes", n))
	}
	return r, err
}

// nameless counts the sessions that have a generation, but no record and no intact block.
func (s *salvager) nameless() int {
	lost := map[uint64]bool{}
	for g := range s.generations {
		lost[g.num()] = true
	}
	for _, r := range s.sessions {
		delete(lost, r.Num)
	}
	return len(lost)
}

// errDisk is returned if the disk failed while the archive was read: another copy may have what this one lacks.
var errDisk = errors.New("the disk cannot be read")

// salvager is one Salvage. What a tree leads to is live. Other pages hold earlier versions, which count where there is
// no intact live one.
type salvager struct {
	*copier
	f        *recorded
	size     int64
	progress func(done, total int64)

	schema      int // 0 if unknown
	chunks      map[chunkID][]scrap
	sessions    map[transcript.Key]sessionRecord
	generations map[stream]found
	blocks      map[stream][]candidate
	tracks      map[stream][]candidate // the intact blocks of each track, in order
	last        [4]uint64              // the highest numbers in the buckets of sequenced
}

// recorded keeps the first error of the disk.
type recorded struct {
	io.ReaderAt
	err error
}

// ReadAt reads from the disk, and keeps the first error except io.EOF.
func (r *recorded) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	if r.err == nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// chunkID names a chunk. A chunk outside the trees is in the bucket "", because it may be one of a frame or of a piece.
type chunkID struct {
	bucket string
	id     uint64
	n      uint16
}

// scrap is where a value is in the file.
type scrap struct {
	at int64
	n  int
}

// found is a generation's record.
type found struct {
	generationRecord
	live bool
}

// candidate is a block that a record or an envelope names.
type candidate struct {
	block
	live   bool
	chunks []scrap
	env    envelope // if that names it
}

func (s *salvager) begin(context.Context) error {
	return s.db.Update(func(tx *bolt.Tx) error { return initialise(tx) })
}

// scan reads all leaf pages: the live ones first.
func (s *salvager) scan(ctx context.Context) error {
	w, m, ok := newWalker(s.f, s.size)
	live := map[uint64]string{}
	if ok {
		w.live(m.Root, "", live, 0)
	} else {
		w = walker{r: s.f, page: 4096, pages: uint64(s.size / 4096)}
	}
	if ok && !s.own(w, m) || !ok && !s.mayBeOwn() {
		return errors.New("not a ccd archive; move the file away, and ccd creates a new archive")
	}
	w.pages = uint64(s.size / w.page) // a truncated file has fewer than its meta page says
	covered := map[uint64]bool{}      // the rest of pages that are longer than one
	var batch []put
	for _, pass := range []bool{true, false} {
		for id := uint64(2); id < w.pages; id++ {
			if id%256 == 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
				s.progress(int64(id), int64(w.pages))
			}
			name, isLive := live[id]
			if isLive != pass || covered[id] {
				continue
			}
			h, page, err := w.raw(id)
			if err != nil || h.Flags != leafFlag {
				continue
			}
			for i := range s.page(page, int64(id)*w.page, name, pass, &batch) / w.page {
				covered[id+1+uint64(i)] = true
			}
			if len(batch) > 2000 {
				if err := s.put(&batch, pass); err != nil {
					return err
				}
			}
		}
		if err := s.put(&batch, pass); err != nil {
			return err
		}
	}
	return nil
}

// own reports whether the root tree may be that of a ccd archive: it names one of its buckets, or cannot be read.
func (s *salvager) own(w walker, m metaPage) bool {
	leaves, err := w.tree(m.Root)
	for _, id := range leaves {
		found, err := w.buckets(id)
		if err != nil || len(found) == 0 || slices.ContainsFunc(found, func(b bucket) bool {
			return slices.ContainsFunc(buckets(), func(name []byte) bool { return string(name) == b.name })
		}) {
			return true
		}
	}
	return err != nil
}

// mayBeOwn reports whether a file without a valid meta page may have been an archive: its first pages begin like those of
// bbolt, or were zeroed.
func (s *salvager) mayBeOwn() bool {
	head := make([]byte, 2*4096)
	n, _ := s.f.ReadAt(head, 0)
	head = head[:n]
	magic := binary.NativeEndian.AppendUint32(nil, boltMagic)
	return bytes.Contains(head, magic) || len(bytes.Trim(head, "\x00")) == 0
}

// put writes a batch; entries from outside the trees only where there is none yet.
func (s *salvager) put(batch *[]put, live bool) error {
	err := s.db.Update(func(tx *bolt.Tx) error {
		for _, e := range *batch {
			b := tx.Bucket(e.bucket)
			if !live && b.Get(e.k) != nil {
				continue
			}
			if err := b.Put(e.k, e.v); err != nil {
				return err
			}
		}
		return nil
	})
	*batch = (*batch)[:0]
	return err
}

// page takes the entries of a leaf page, which begins at an offset of the file, and returns where the last one ends in
// the page: its header may be damaged. Small buckets are pages inside a page.
func (s *salvager) page(page []byte, at int64, name string, live bool, batch *[]put) (end int64) {
	elements, _ := elementsOf(page) // none if it cannot be read
	for _, e := range elements {
		if e.key == nil {
			continue
		}
		end = max(end, e.at+int64(len(e.key)+len(e.value))-1)
		switch from := e.at + int64(len(e.key)); {
		case !e.bucket:
			s.entry(name, e.key, e.value, scrap{at + from, len(e.value)}, live, batch)
		case len(e.value) > bucketSize:
			s.page(e.value[bucketSize:], at+from+bucketSize, string(e.key), live, batch)
		}
	}
	return end
}

// entry takes one entry. Outside the trees, what it is shows in its key and its record.
func (s *salvager) entry(bucket string, k, v []byte, at scrap, live bool, batch *[]put) {
	is := func(name []byte) bool { return bucket == string(name) || bucket == "" }
	if len(k) == 10 && (is(bucketFrames) || is(bucketTail)) && len(v) <= chunkSize {
		id := chunkID{bucket, binary.BigEndian.Uint64(k), binary.BigEndian.Uint16(k[8:])}
		s.chunks[id] = append(s.chunks[id], at)
		return
	}
	if live && is(bucketMeta) && bytes.Equal(k, keySchema) {
		s.schema, _ = strconv.Atoi(string(v))
	}
	record, err := unseal(k, v)
	if err != nil {
		return
	}
	add := func(name []byte) { *batch = append(*batch, put{name, bytes.Clone(k), bytes.Clone(v)}) }
	key, err := parseSessionKey(k)
	named := err == nil && key.Agent != ""
	switch {
	case is(bucketMeta) && bytes.Equal(k, keyID):
		add(bucketMeta)
	case named && is(bucketSessions) && s.session(key, k, v):
	case named && is(bucketState):
		add(bucketState)
	case len(k) == len(stream{}) && is(bucketGenerations):
		if g, err := parseGeneration(k, v); err == nil {
			if was, ok := s.generations[stream(k)]; !ok || !was.live && !live && was.Offset < g.Offset {
				s.generations[stream(k)] = found{g, live}
			}
		}
	case len(k) == len(stream{})+8 && is(bucketManifest):
		if b, err := parseBlock(k, v); err == nil {
			track := stream(k[:len(stream{})])
			s.blocks[track] = append(s.blocks[track], candidate{block: b, live: live})
		}
	case len(k) == len(mark.Hash{})+1 && is(bucketIDs):
		if _, err := decodePointer(k, record); err == nil {
			add(bucketIDs)
		}
	case len(k) == len(mark.Hash{}) && is(bucketSummaries) && bytes.HasPrefix(record, []byte("{")):
		add(bucketSummaries)
	case len(k) == numberedSize && is(bucketLog) && k[0] == logPrefix:
		s.last[1] = max(s.last[1], binary.BigEndian.Uint64(k[1:]))
		add(bucketLog)
	case len(k) == goneSize && is(bucketGone):
		add(bucketGone)
	case live && bucket == string(bucketSalts):
		add(bucketSalts)
	}
}

// session takes a session's record, and reports whether it is one.
func (s *salvager) session(key transcript.Key, k, v []byte) bool {
	r, err := parseSession(k, v)
	if err != nil || r.Num == 0 {
		return false
	}
	if was, ok := s.sessions[key]; !ok || was.Num == r.Num && was.Generation < r.Generation {
		s.sessions[key] = r
	}
	return true
}

// place finds the intact blocks of each track: those that records name, then those whose envelope names a place that no
// intact block has.
func (s *salvager) place(ctx context.Context) error {
	if s.schema != 0 && (s.schema < oldest || s.schema > newest) {
		return &SchemaError{Path: s.a.path, Found: s.schema, Oldest: oldest, Known: newest}
	}
	used := map[blockID]bool{}
	s.tracks = map[stream][]candidate{}
	done, total := 0, 0
	for _, all := range s.blocks {
		total += len(all)
	}
	for track, all := range s.blocks {
		slices.SortStableFunc(all, func(x, y candidate) int {
			return cmp.Or(-compareBool(x.live, y.live), compareBool(x.Tail, y.Tail), -cmp.Compare(x.Len, y.Len))
		})
		for _, c := range all {
			done++
			s.progress(int64(done), int64(total))
			if err := ctx.Err(); err != nil {
				return err
			}
			if s.add(track, c) {
				used[blockID{c.Tail, c.ID}] = true
			}
		}
	}
	nums := map[transcript.Key]uint64{}
	for key, r := range s.sessions {
		nums[key] = r.Num
		s.last[0] = max(s.last[0], r.Num)
	}
	for track := range s.tracks {
		s.last[0] = max(s.last[0], track.num())
	}
	for _, c := range s.enveloped(used) {
		num := nums[c.env.Key]
		if num == 0 {
			s.last[0]++
			num = s.last[0]
			nums[c.env.Key] = num
			s.sessions[c.env.Key] = sessionRecord{Num: num, Class: uint8(c.env.Class)}
		}
		s.add(newStream(num, c.env.Generation), c)
	}
	return nil
}

// enveloped returns the intact blocks that no record has led to, in the order in which they are taken: a frame before the
// pieces that it has replaced.
func (s *salvager) enveloped(used map[blockID]bool) (all []candidate) {
	for id := range s.chunks {
		tail := id.id&tailID != 0
		if id.n != 0 || used[blockID{tail, id.id}] { // blocks of schema 2 have no envelope
			continue
		}
		if c, ok := s.byEnvelope(id.id, tail); ok {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(x, y candidate) int {
		return cmp.Or(compareBool(x.Tail, y.Tail), -cmp.Compare(x.Len, y.Len), cmp.Compare(x.ID, y.ID))
	})
	return all
}

func compareBool(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return 1
	}
	return -1
}

// add adds a block to its track if it is intact and its place is free.
func (s *salvager) add(track stream, c candidate) bool {
	all := s.tracks[track]
	i, _ := slices.BinarySearchFunc(all, c.Off, func(b candidate, off int64) int { return cmp.Compare(b.Off, off) })
	if i > 0 && all[i-1].end() > c.Off || i < len(all) && all[i].Off < c.end() {
		return false
	}
	if c.chunks == nil {
		for chunks, stored := range s.stored(c.ID, c.Tail) {
			if _, err := s.a.unpack(c.block, stored, nil); err == nil {
				c.chunks = chunks
				break
			}
		}
	}
	if c.chunks == nil {
		return false
	}
	s.tracks[track] = slices.Insert(all, i, c)
	return true
}

// byEnvelope returns an intact block whose envelope names its place.
func (s *salvager) byEnvelope(id uint64, tail bool) (c candidate, ok bool) {
	for chunks, stored := range s.stored(id, tail) {
		_, env, _, err := splitStored(stored)
		if err != nil || env == nil {
			continue
		}
		e, sealed, err := parseEnvelope(env)
		if err != nil {
			continue
		}
		b := block{Off: e.Off, Len: e.Len, Tail: tail, ID: id}
		raw, err := (&Archive{dec: s.a.dec, unchecked: true}).unpack(b, stored, nil)
		if err != nil || !sealed(mark.Sum(raw)) {
			continue
		}
		b.Sum = mark.Sum(raw)
		return candidate{block: b, chunks: chunks, env: e}, true
	}
	return c, false
}

// stored yields the stored forms that the chunks of a block give. There is more than one if an earlier version of a page
// still has a chunk.
func (s *salvager) stored(id uint64, tail bool) iter.Seq2[[]scrap, []byte] {
	bucket := string(bucketFrames)
	if tail {
		bucket = string(bucketTail)
	}
	return func(yield func([]scrap, []byte) bool) {
		for version, more := 0, true; more; version++ {
			var chunks []scrap
			more = false
			for n := range uint16(maxFrame/chunkSize + 2) {
				all := slices.Concat(s.chunks[chunkID{bucket, id, n}], s.chunks[chunkID{"", id, n}])
				if len(all) == 0 {
					break
				}
				more = more || version+1 < len(all)
				chunks = append(chunks, all[min(version, len(all)-1)])
			}
			stored := s.bytes(chunks)
			if len(stored) > 0 && !yield(chunks, stored) {
				return
			}
		}
	}
}

// write writes sessions, generations and blocks.
func (s *salvager) write(ctx context.Context) error {
	for key, r := range s.sessions {
		if err := s.writeSession(key, r); err != nil {
			return err
		}
	}
	written := map[blockID]bool{}
	for track, all := range s.tracks {
		for _, c := range all {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.db.Update(func(tx *bolt.Tx) error { return s.writeBlock(tx, track, c, written) }); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *salvager) writeBlock(tx *bolt.Tx, track stream, c candidate, written map[blockID]bool) error {
	id := blockID{c.Tail, c.ID}
	if !written[id] {
		written[id] = true
		for n, chunk := range c.chunks {
			v := make([]byte, chunk.n)
			if _, err := s.f.ReadAt(v, chunk.at); err != nil {
				return err
			}
			if err := c.bucket(tx).Put(chunkKey(c.ID, n), v); err != nil {
				return err
			}
		}
		if !c.Tail {
			if err := putShared(tx, c.block); err != nil {
				return err
			}
		}
	}
	return putBlock(tx, track, c.block)
}

// writeSession writes a session with the generations that there are. The record of a generation that is its own track can
// be made from its blocks. Of another one the layout is lost: it becomes empty with an unknown hash, so that a read of it
// fails, or no generation if it is the last.
func (s *salvager) writeSession(key transcript.Key, r sessionRecord) error {
	last := r.Generation
	for track := range s.tracks {
		if track.num() == r.Num {
			last = max(last, track.generation())
		}
	}
	for known := range s.generations {
		if known.num() == r.Num {
			last = max(last, known.generation())
		}
	}
	records, end := map[int]generationRecord{}, 0
	for n := 1; n <= last; n++ {
		g, ok := s.generations[newStream(r.Num, n)]
		if !g.live {
			if made, can := s.rebuild(newStream(r.Num, n), g.generationRecord); can && (!ok || made.Offset >= g.Offset) {
				g.generationRecord, ok = made, true
			}
		}
		if !ok {
			empty := generationRecord{Track: n}
			if err := empty.setHash(unknownHash()); err != nil {
				return err
			}
			records[n] = empty
			continue
		}
		records[n], end = g.generationRecord, n
	}
	r.Generation = end
	return s.db.Update(func(tx *bolt.Tx) error {
		for n := 1; n <= end; n++ {
			if err := putGeneration(tx, newStream(r.Num, n), records[n]); err != nil {
				return err
			}
		}
		return putSession(tx, key, r)
	})
}

// rebuild makes the record of a generation from its blocks. With gaps between them its hash stays unknown.
func (s *salvager) rebuild(track stream, was generationRecord) (g generationRecord, ok bool) {
	all := s.tracks[track]
	if len(all) == 0 || was.Track != 0 && was.Track != track.generation() {
		return g, false
	}
	end, ok := s.endOf(track)
	if !ok {
		return g, false
	}
	g.Track, g.Head = track.generation(), was.Head
	sum, gap := sha256.New(), false
	for _, c := range all {
		if c.Off >= end {
			break
		}
		gap = gap || c.Off != g.Offset
		raw, err := s.a.unpack(c.block, s.bytes(c.chunks), nil)
		if err != nil {
			return g, false
		}
		raw = raw[:min(c.Len, end-c.Off)]
		sum.Write(raw)
		if c.Off != g.Offset {
			g.Cut = cutter{Start: c.Off, End: c.Off}
		}
		g.Cut.cut(c.Off, raw)
		g.Offset = c.Off + int64(len(raw))
	}
	if end < all[len(all)-1].end() && g.Offset < end {
		g.Offset, gap = end, true
	}
	if gap {
		sum = unknownHash()
	}
	g.End = g.Offset
	return g, g.setHash(sum) == nil
}

// endOf returns where the bytes of a track's first generation end: where the next one has added the first of its own. It
// is unknown if the next one's layout does not refer to the first.
func (s *salvager) endOf(track stream) (end int64, ok bool) {
	end = math.MaxInt64
	next, shared := s.generations[newStream(track.num(), track.generation()+1)]
	if !shared || next.Track != track.generation() {
		for other, o := range s.generations {
			if other.num() == track.num() && other != track && o.Track == track.generation() {
				return 0, false // the next one is lost too
			}
		}
		return end, true
	}
	if next.Full {
		return 0, false
	}
	end = next.End
	for _, e := range next.Edits {
		if !e.copied {
			end = min(end, e.At)
		}
	}
	return end, true
}

func (s *salvager) bytes(chunks []scrap) (stored []byte) {
	for _, c := range chunks {
		b := make([]byte, c.n)
		_, _ = s.f.ReadAt(b, c.at) // the block's hash shows an error
		stored = append(stored, b...)
	}
	return stored
}

// finish sets the sequences.
func (s *salvager) finish(context.Context) error {
	for id := range s.chunks {
		for i, bucket := range [][]byte{bucketTail, bucketFrames} {
			if id.bucket == "" || id.bucket == string(bucket) {
				s.last[2+i] = max(s.last[2+i], id.id&^tailID)
			}
		}
	}
	s.limits = s.last[:]
	return s.copier.finish(context.Background())
}

// live adds the leaf pages below a page that can be reached, with the name of their bucket.
func (w *walker) live(id uint64, name string, live map[uint64]string, depth int) {
	if _, known := live[id]; known || depth > maxDepth {
		return
	}
	h, page, err := w.raw(id)
	if err != nil {
		return
	}
	elements, err := elementsOf(page)
	if err != nil {
		return
	}
	if h.Flags == leafFlag {
		live[id] = name
	}
	for _, e := range elements {
		switch {
		case e.key == nil:
		case h.Flags == branchFlag:
			w.live(e.page, name, live, depth+1)
		case e.bucket && len(e.value) >= bucketSize && name == "":
			if root := binary.NativeEndian.Uint64(e.value); root != 0 {
				w.live(root, string(e.key), live, depth+1)
			}
		}
	}
}

// raw returns a page with its overflow, as far as the file has it.
func (w *walker) raw(id uint64) (h pageHeader, page []byte, err error) {
	if h, err = w.header(id); err != nil {
		return h, nil, err
	}
	page = make([]byte, min(int64(h.Overflow)+1, int64(w.pages-id), maxRecord/w.page+2)*w.page) // Overflow may be damaged
	n, err := w.r.ReadAt(page, int64(id)*w.page)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return h, page[:n], err
}

// unknownHash is the state of a hash that no transcript has, for a generation of which bytes are missing.
func unknownHash() hash.Hash {
	h := sha256.New()
	h.Write([]byte("\x00hash of the generation is unknown"))
	return h
}
