package archive

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// rebuild makes an archive anew of what is intact in it, without sources.
func rebuild(ctx context.Context, a *Archive) (r Repaired, err error) {
	err = a.rebuild(ctx, &r, nil, true, nil)
	return r, err
}

// sources has the transcripts of the archive.
func (ro rotten) sources() map[transcript.Key][][]byte {
	sources := map[transcript.Key][][]byte{session("again").Key: ro.again}
	for i, data := range ro.data {
		sources[session(fmt.Sprint("r", i)).Key] = [][]byte{data}
	}
	return sources
}

// Whatever is damaged, the sources bring back every session, and without them nothing is lost but what is in damaged blocks.
func TestEveryDamageIsRebuilt(t *testing.T) {
	t.Parallel()
	ro := newRotten(t)
	good := testkit.Read(t, ro.path)
	met, lost, restored := 0, int64(0), int64(0)
	each := testkit.Cases(t, 1, 50)
	for i, name := range slices.Sorted(maps.Keys(testkit.Damages)) {
		r, damage := rand.New(rand.NewPCG(testkit.Seed(), uint64(i))), testkit.Damages[name]
		for range each {
			bad := damage(r, bytes.Clone(good))
			must(t, os.WriteFile(ro.path, bad, 0o600))
			if o := ro.check(openAt(t, ro.path, Options{ReadOnly: true})); o.wrong > 0 {
				t.Errorf("%s: %d wrong answers", name, o.wrong)
			} else if o.refused > 0 {
				met++
			}
			lost += ro.withoutSources(t, name, bad)
			restored += ro.withSources(t, name)
		}
	}
	t.Logf("%d damages, %d of them met: %d bytes lost without sources, %d restored from them", each*len(testkit.Damages), met, lost, restored)
	if met < each || lost == 0 || restored == 0 {
		t.Error("the test sees nothing")
	}
}

// withoutSources fails the test unless each byte of a block that is intact in the file comes back. It returns how many bytes
// do not.
func (ro rotten) withoutSources(t *testing.T, name string, file []byte) (lost int64) {
	t.Helper()
	left := map[transcript.Key][]bool{} // by envelopes, of the generations that are tracks
	for k, all := range ro.sources() {
		left[k] = make([]bool, len(all[0]))
	}
	s := scan{f: bytes.NewReader(file), size: int64(len(file))}
	must(t, s.each(t.Context(), func(e storedEntry) error {
		if e.kind != kindBlock {
			return nil
		}
		env, _, err := parseEnvelope(e.record)
		must(t, err)
		intact := left[env.Key]
		for at := env.Off; at < min(env.Off+env.Len, int64(len(intact))); at++ {
			intact[at] = true
		}
		return nil
	}, func(int64, int64) {}))
	path := filepath.Join(t.TempDir(), "archive.db")
	must(t, os.WriteFile(path, file, 0o600))
	a := openAt(t, path, Options{})
	rebuilt, err := rebuild(t.Context(), a)
	if err != nil {
		t.Errorf("%s: rebuild: %v", name, err)
		return 0
	}
	if aside := bytesOf(t, rebuilt.Aside); aside != string(file) {
		t.Errorf("%s: the old file was changed", name)
	}
	for k, all := range ro.sources() {
		have := make([]bool, len(all[0]))
		for seg, err := range a.Reader(k, 1).SegmentsPastDamage(t.Context()) {
			if err != nil {
				continue
			}
			if !bytes.Equal(seg.Data, all[0][seg.Start.Offset:][:len(seg.Data)]) {
				t.Errorf("%s: session %s: wrong bytes at %d", name, k.ID, seg.Start.Offset)
			}
			for i := range seg.Data {
				have[seg.Start.Offset+int64(i)] = true
			}
		}
		missing, intact := 0, left[k]
		for i := range have {
			if intact[i] && !have[i] {
				missing++
			} else if !have[i] {
				lost++
			}
		}
		if k.ID != "again" && missing > 0 { // of that one the end of the first generation may be unknown
			t.Errorf("%s: session %s: %d bytes of intact blocks are missing", name, k.ID, missing)
		}
	}
	return lost
}

// A source that has other bytes, where some are left or where they are lost, is not taken.
func TestSourcesThatDiffer(t *testing.T) {
	t.Parallel()
	data := talk(31, 3<<20)
	a, s := open(t), session("s")
	fill(t, a, s, 1, data, whole)
	good := []byte(bytesOf(t, a.Path()))
	first, e := 0, envelope{}
	for e.Len == 0 || e.end() == int64(len(data)) { // not the last one
		first += 1 + bytes.Index(good[first+1:], []byte(magic+"B"))
		h, _ := parseHeader(good[first:])
		var err error
		e, _, err = parseEnvelope(good[first+h.size+sealSize:])
		must(t, err)
	}
	for name, damaged := range map[string][]int{"a block": {first}, "a block and the record": {first, bytes.Index(good, []byte(magic+"G"))}} {
		b := bytes.Clone(good)
		for _, at := range damaged {
			b[at+30] ^= 1
		}
		edit := func(off int64) []byte {
			other := bytes.Clone(data)
			other[off] ^= 1
			return other
		}
		try := func(source []byte) int64 {
			must(t, os.WriteFile(a.Path(), b, 0o600))
			done, err := a.Repair(t.Context(), inPieces(func(transcript.Session, Generation) []byte { return source }), nil)
			must(t, err)
			return done.Bytes
		}
		elsewhere := int64(len(data)) - 1
		if e.Off == elsewhere {
			elsewhere = 0
		}
		if n := try(edit(elsewhere)); n > 0 {
			t.Errorf("%s: %d bytes are taken from a source that differs from what is left", name, n)
		}
		if n := try(edit(e.Off)); n > 0 && len(damaged) == 1 { // without the record nothing tells
			t.Errorf("%s: %d bytes are taken that are not the lost ones", name, n)
		}
		if n := try(data); n == 0 {
			t.Errorf("%s: nothing is taken: this test sees nothing", name)
		}
		if got, _, err := everything(a.Reader(s.Key, 1)); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// Sources are asked for what is lost, not for each generation that there is. The control: for the one that has lost bytes they are.
func TestSourcesAreAskedForWhatIsLost(t *testing.T) {
	t.Parallel()
	a := open(t)
	for n := range uint64(3) {
		fill(t, a, session(fmt.Sprint("s", n)), 1, talk(90+n, 300<<10), whole)
	}
	b := []byte(bytesOf(t, a.Path()))
	b[bytes.Index(b, []byte(magic+string(rune(kindBlock))))+60] ^= 1
	must(t, os.WriteFile(a.Path(), b, 0o600))
	asked := 0
	done, err := a.Repair(t.Context(), inPieces(func(s transcript.Session, _ Generation) []byte {
		asked++
		return talk(90+uint64(s.ID[1]-'0'), 300<<10)
	}), nil)
	if must(t, err); asked != 1 || done.Filled != 1 {
		t.Errorf("asked for %d generations", asked)
	}
}

// inPieces yields the bytes of each generation in pieces, as sources.
func inPieces(of func(s transcript.Session, g Generation) []byte) Sources {
	return func(s transcript.Session, g Generation) []iter.Seq2[transcript.Segment, error] {
		data := of(s, g)
		return []iter.Seq2[transcript.Segment, error]{func(yield func(transcript.Segment, error) bool) {
			var at transcript.Cursor
			for piece := range slices.Chunk(data, max(1, len(data)/3)) {
				if !yield(transcript.Segment{Start: at, Data: piece}, nil) {
					return
				}
				at.Offset += int64(len(piece))
			}
		}}
	}
}

// withSources fails the test unless everything comes back. Of an earlier generation of which nothing is left but its length, a source cannot be compared with anything: it stays damaged.
func (ro rotten) withSources(t *testing.T, name string) (restored int64) {
	t.Helper()
	sources := ro.sources()
	a := openAt(t, ro.path, Options{})
	r, err := rebuild(t.Context(), a)
	if err != nil {
		t.Errorf("%s: rebuild: %v", name, err)
		return 0
	}
	must(t, os.Remove(r.Aside))
	done, err := a.Repair(t.Context(), inPieces(func(s transcript.Session, g Generation) []byte {
		if all := sources[s.Key]; g.N <= len(all) {
			return all[g.N-1]
		}
		return nil
	}), nil)
	must(t, err)
	if done.Aside != "" {
		must(t, os.Remove(done.Aside))
	}
	type generation struct {
		k transcript.Key
		n int
	}
	gone := map[generation]bool{}
	for k, all := range sources { // as the daemon's next syncs
		s, err := a.Session(t.Context(), k)
		if err != nil && !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
		for i, g := range s.Generations[:max(0, len(s.Generations)-1)] {
			if g.Tip.Offset == 0 || g.Sum == unknownSum {
				gone[generation{k, i + 1}] = true
			}
		}
		for n, data := range all {
			from := int64(0)
			if n+1 < len(s.Generations) {
				continue
			} else if n+1 == len(s.Generations) {
				from = s.Tip().Offset
			}
			must(t, a.Append(t.Context(), session(k.ID), segment(n+1, from, bytes.Clone(data[from:]))))
		}
	}
	v, err := a.Verify(t.Context(), nil)
	must(t, err)
	for _, d := range v.Damage {
		if !gone[generation{d.Session, d.Generation}] {
			t.Errorf("%s: %v", name, d)
		}
	}
	for k, all := range sources {
		for n, want := range all {
			if gone[generation{k, n + 1}] {
				continue
			} else if got, _, err := everything(a.Reader(k, n+1)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: session %s, generation %d: %d bytes of %d, %v", name, k.ID, n+1, len(got), len(want), err)
			}
		}
	}
	return done.Bytes
}

// A file that an earlier version rebuilt has entries with later versions than its transactions: what comes is newer.
func TestVersionsGoOn(t *testing.T) {
	const base = 1 << 40
	a := openAt(t, filepath.Join(t.TempDir(), "archive.db"), Options{})
	s := session("s")
	must(t, a.SetState(t.Context(), s, []byte("before")))
	must(t, a.update(t.Context(), 0, func(tx *bolt.Tx) error {
		return put(tx, kindMeta, keyBase, binary.BigEndian.AppendUint64(nil, base))
	}))
	must(t, a.SetState(t.Context(), s, []byte("after")))
	must(t, a.view(t.Context(), func(tx *bolt.Tx) error {
		if h, ok := parseHeader(kindState.bucket(tx).Get(sessionKey(s.Key))); !ok || h.version <= base {
			t.Errorf("version %d", h.version)
		}
		return nil
	}))
}

// What is sound comes back whole: with its ID, states, index and numbers.
func TestRebuildOfASoundArchive(t *testing.T) {
	t.Parallel()
	ro := newRotten(t)
	ro.data = slices.Clone(ro.data) // other tests use it
	a := openAt(t, ro.path, Options{})
	id, err := a.ID(t.Context())
	must(t, err)
	for range 2 {
		r, err := rebuild(t.Context(), a)
		must(t, err)
		if len(r.Left) > 0 {
			t.Fatal(r.Left[0])
		}
		must(t, os.Remove(r.Aside))
		s, err := a.Session(t.Context(), session("r0").Key)
		must(t, err)
		if now, err := a.ID(t.Context()); now != id || err != nil || string(s.State) != "state" {
			t.Errorf("id %s, %v, want %s; state %q", now, err, id, s.State)
		}
		if o := ro.check(a); o.refused+o.wrong > 0 {
			t.Errorf("%+v", o)
		}
		more := talk(60, 400<<10)
		must(t, a.Append(t.Context(), session("r1"), segment(1, int64(len(ro.data[1])), more)))
		must(t, a.Append(t.Context(), session("again"), segment(len(ro.again)+1, 0, more)))
		ro.data[1], ro.again = append(bytes.Clone(ro.data[1]), more...), append(ro.again[:len(ro.again):len(ro.again)], more)
		sound(t, a)
	}
}

// An archive inside a transcript is no part of the archive: a rebuild takes nothing from it.
func TestEntriesInATranscriptAreNone(t *testing.T) {
	t.Parallel()
	inner := openAt(t, filepath.Join(t.TempDir(), "inner.db"), Options{})
	fill(t, inner, session("planted"), 1, noise(1, 5000), whole)
	data := append([]byte(bytesOf(t, inner.Path())), noise(2, 300<<10)...)
	a := open(t)
	fill(t, a, session("s"), 1, data, whole)
	if n := bytes.Count([]byte(bytesOf(t, a.Path())), []byte("planted")); n > 0 {
		t.Logf("%d times in the file as it is", n)
	}
	b := []byte(bytesOf(t, a.Path()))
	at := bytes.Index(b, []byte(magic+"B"))
	for ; at >= 0 && at < len(b); at += 1 << 12 { // damage every block, so that no scan skips it
		b[at+50] ^= 1
	}
	must(t, os.WriteFile(a.Path(), b, 0o600))
	_, err := a.Repair(t.Context(), inPieces(func(transcript.Session, Generation) []byte { return data }), nil)
	must(t, err)
	if all, err := a.Sessions(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%d sessions, %v", len(all), err)
	}
}

// A page that hides entries by its count is read by bbolt without an error. Nothing may be called missing then.
func TestHiddenEntriesAreDamage(t *testing.T) {
	t.Parallel()
	a := many(t, 600)
	if err := a.CheckIndex(t.Context()); err != nil {
		t.Fatal("sound:", err)
	}
	good := testkit.Read(t, a.path)
	hidden, branches := 0, 0
	for page := 2; page*4096 < len(good); page++ {
		head := good[page*4096:]
		flags, count := binary.NativeEndian.Uint16(head[8:]), binary.NativeEndian.Uint16(head[10:])
		if count == 0 || flags != 1 && flags != 2 { // neither a branch nor a leaf
			continue
		}
		bad := append([]byte(nil), good...)
		binary.NativeEndian.PutUint16(bad[page*4096+10:], count-1)
		must(t, os.WriteFile(a.path, bad, 0o600))
		if !shortened(t, a.path) {
			continue
		}
		hidden++
		if flags == 1 {
			branches++
		}
		if err := openAt(t, a.path, Options{}).CheckIndex(t.Context()); !errors.As(err, new(*DamageError)) {
			t.Errorf("page %d hides an entry: %v", page, err)
		}
	}
	if hidden < 10 || branches == 0 {
		t.Errorf("%d pages hid entries, %d of them branches: the test sees nothing", hidden, branches)
	}
}

// A damaged key of a branch page leads a lookup to another page, where the entry is not. It is not missing.
func TestEntriesBehindADamagedBranchAreNotMissing(t *testing.T) {
	t.Parallel()
	a := many(t, 600)
	good := testkit.Read(t, a.path)
	misled := 0
	for page := 2; page*4096 < len(good); page++ {
		head := good[page*4096:]
		count := binary.NativeEndian.Uint16(head[10:])
		if binary.NativeEndian.Uint16(head[8:]) != 1 || count < 2 { // no branch
			continue
		}
		element := head[16+16*(count/2):]
		at := page*4096 + 16 + 16*int(count/2) + int(binary.NativeEndian.Uint32(element)) // of its key
		size := int(binary.NativeEndian.Uint32(element[4:]))
		for _, bit := range []byte{1, 4, 16} {
			bad := bytes.Clone(good)
			bad[at+size-1] ^= bit
			must(t, os.WriteFile(a.path, bad, 0o600))
			b := openAt(t, a.path, Options{})
			must(t, b.Held(t.Context(), func(b *Archive) error {
				for i := range 600 {
					_, err := b.Session(t.Context(), session(fmt.Sprintf("s%04d", i)).Key)
					if errors.As(err, new(*DamageError)) {
						misled++
						break // the whole bucket was read
					}
					if err != nil {
						return fmt.Errorf("page %d, bit %d, session %d: %w", page, bit, i, err)
					}
				}
				return nil
			}))
		}
	}
	if misled == 0 {
		t.Error("no lookup was misled")
	}
}

// many is an archive of so many sessions that its index has branch pages.
func many(t *testing.T, sessions int) *Archive {
	t.Helper()
	a := openAt(t, filepath.Join(t.TempDir(), "archive.db"), Options{})
	var changes []Change
	for i := range sessions {
		changes = append(changes, Change{Session: session(fmt.Sprintf("s%04d", i))})
	}
	if _, err := a.Save(t.Context(), nil, changes); err != nil {
		t.Fatal(err)
	}
	data := talk(1, 60<<10)
	fill(t, a, session("s0001"), 1, data, whole)
	var pointers []transcript.Pointer
	for i := range 200 {
		pointers = append(pointers, single(data, i*100, 90))
	}
	err := a.Publish(t.Context(), Publication{
		Key: session("s0001").Key, At: transcript.Cursor{Generation: 1, Offset: int64(len(data))}, Pointers: pointers,
		Replace: func() ([]byte, error) { return []byte("state"), nil },
	})
	must(t, err)
	return a
}

// shortened reports whether bbolt reads less than there was, and sees no error.
func shortened(t *testing.T, path string) (short bool) {
	t.Helper()
	defer func() {
		if recover() != nil {
			short = false
		}
	}()
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		return false
	}
	defer db.Close()
	sessions, ids := 0, 0
	_ = db.View(func(tx *bolt.Tx) error {
		sessions, ids = kindSession.bucket(tx).Stats().KeyN, 0
		return kindID.bucket(tx).ForEach(func(_, _ []byte) error { ids++; return nil })
	})
	return sessions < 600 || ids < 200
}

// bbolt maps a file before it faults on a page that is gone, and the mapping keeps the file open: whoever met the damage must
// not stand in the way of its repair.
func TestAFaultKeepsNoLock(t *testing.T) {
	t.Parallel()
	path := many(t, 600).path
	good := testkit.Read(t, path)
	faults := 0
	for _, cut := range testkit.Numbers(t, len(good)/4096-3, 4) {
		must(t, os.WriteFile(path, good[:len(good)-(1+cut)*4096], 0o600))
		a := openAt(t, path, Options{})
		if _, err := a.Save(t.Context(), nil, []Change{{Session: session("other")}}); errors.As(err, new(*DamageError)) {
			faults++
		}
		r, err := rebuild(t.Context(), a)
		if err != nil {
			t.Fatalf("without %d pages: %v", 1+cut, err)
		}
		must(t, os.Remove(r.Aside))
	}
	if faults == 0 {
		t.Error("no page was missed")
	}
}

func bytesOf(t testing.TB, path string) string {
	t.Helper()
	b := testkit.Read(t, path)
	return string(b)
}

// scribble changes an archive of whatever schema, as no call of the package would.
func scribble(t testing.TB, path string, fn func(tx *bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	must(t, err)
	must(t, errors.Join(db.Update(fn), db.Close()))
}

// An archive of a schema that is not known, and a file that is no archive, is refused by whatever reads or writes, and not touched.
func TestOtherSchemasAreRefused(t *testing.T) {
	t.Parallel()
	schema := func(n string) func(path string) {
		return func(path string) {
			scribble(t, path, func(tx *bolt.Tx) error { return kindMeta.bucket(tx).Put(keySchema, []byte(n)) })
			other := strings.ReplaceAll(bytesOf(t, path), magic, magic[:3]+"\x07") // of all entries
			must(t, os.WriteFile(path, []byte(other), 0o600))
		}
	}
	text := func(text string) func(path string) {
		return func(path string) { must(t, os.WriteFile(path, []byte(text), 0o600)) }
	}
	for what, spoil := range map[string]func(path string){
		"schema 1": schema("1"), "schema 6": schema("6"), "schema 99": schema("99"),
		"a text": text(strings.Repeat("no database\n", 9000)), "an empty file": text(""), "a short file": text("x"),
		"another program's database": func(path string) {
			must(t, os.Remove(path))
			scribble(t, path, func(tx *bolt.Tx) error {
				b, err := tx.CreateBucket([]byte("meta"))
				must(t, err)
				return b.Put(keySchema, []byte("99"))
			})
		},
	} {
		path := filepath.Join(t.TempDir(), "archive.db")
		fill(t, openAt(t, path, Options{}), session("s"), 1, talk(1, 9000), whole)
		spoil(path)
		before := bytesOf(t, path)
		a := openAt(t, path, Options{})
		for name, call := range map[string]func(ctx context.Context) error{
			"Append":   func(ctx context.Context) error { return a.Append(ctx, session("new"), segment(1, 0, []byte("x\n"))) },
			"Sessions": func(ctx context.Context) error { _, err := a.Sessions(ctx); return err },
			"Verify": func(ctx context.Context) error {
				r, err := a.Verify(ctx, nil)
				for _, d := range r.Damage {
					err = errors.Join(err, d)
				}
				return err
			},
			"Segments": func(context.Context) error { _, _, err := everything(a.Reader(session("s").Key, 1)); return err },
			"Rebuild":  func(ctx context.Context) error { _, err := rebuild(ctx, a); return err },
			"Import": func(ctx context.Context) error {
				_, err := openAt(t, filepath.Join(t.TempDir(), "new.db"), Options{}).Import(ctx, path, nil)
				return err
			},
		} {
			if len(before) < 2 && slices.Contains([]string{"Import", "Rebuild"}, name) {
				continue // it may be what damage has left
			}
			var next interface{ Hint() string }
			err := call(t.Context())
			if known := strings.HasPrefix(what, "schema") && name != "Import"; err == nil || known && !(errors.Is(err, ErrNewer) && errors.As(err, &next)) {
				t.Errorf("%s, %s = %v", what, name, err)
			}
		}
		if bytesOf(t, path) != before {
			t.Errorf("%s: it was changed", what)
		}
	}
}

// A frame takes the place of its pieces. If the generation's newest record is damaged and an earlier one, which lists the
// pieces, is still in a free page, the frame counts, whatever of the pieces is left.
func TestRebuildPrefersWhatIsNewerThanTheRecord(t *testing.T) {
	t.Parallel()
	a := open(t)
	data := talk(7, 3<<20)
	for off, n := 0, 100<<10; off < len(data); off += n {
		must(t, a.Append(t.Context(), session("s"), segment(1, int64(off), data[off:off+n])))
		file := []byte(bytesOf(t, a.Path()))
		var records, pieces []storedEntry
		var newest uint64
		s := scan{f: bytes.NewReader(file), size: int64(len(file))}
		must(t, s.each(t.Context(), func(e storedEntry) error {
			newest = max(newest, e.version)
			e.key, e.value, e.record = bytes.Clone(e.key), nil, bytes.Clone(e.record)
			switch e.kind {
			case kindGeneration:
				records = append(records, e)
			case kindBlock:
				pieces = append(pieces, e)
			}
			return nil
		}, func(int64, int64) {}))
		frames := 0
		for _, e := range pieces {
			if env, _, err := parseEnvelope(e.record); err == nil && e.version == newest && env.Len > int64(n) {
				frames++
			}
		}
		if frames == 0 || len(records) < 2 {
			continue
		}
		for _, e := range records {
			if e.version == newest {
				file[e.at+int64(e.size)] ^= 1
			}
		}
		for _, e := range pieces {
			if e.version < newest {
				file[e.at+int64(e.size)] ^= 1
				break
			}
		}
		path := filepath.Join(t.TempDir(), "archive.db")
		must(t, os.WriteFile(path, file, 0o600))
		b := openAt(t, path, Options{})
		_, err := rebuild(t.Context(), b)
		must(t, err)
		if got, _, err := everything(b.Reader(session("s").Key, 1)); err != nil || !bytes.Equal(got, data[:off+n]) {
			t.Errorf("after %d bytes: %d came back, %v", off+n, len(got), err)
		}
		return
	}
	t.Fatal("no frame was written: the test sees nothing")
}

// A gap behind a stretch of several MB is one, too.
func TestGapBehindALongStretch(t *testing.T) {
	t.Parallel()
	a, data := open(t), talk(41, 9<<20)
	fill(t, a, session("s"), 1, data, whole)
	file := []byte(bytesOf(t, a.Path()))
	g, err := a.Reader(session("s").Key, 1).generation(t.Context())
	must(t, err)
	for n, b := range g.Blocks[1 : len(g.Blocks)-1] {
		bad := bytes.Clone(file)
		s := scan{f: bytes.NewReader(file), size: int64(len(file))}
		must(t, s.each(t.Context(), func(e storedEntry) error {
			if e.kind == kindBlock && binary.BigEndian.Uint64(e.key) == b.ID {
				bad[e.at+int64(e.size)] ^= 1
			}
			return nil
		}, func(int64, int64) {}))
		path := filepath.Join(t.TempDir(), "archive.db")
		must(t, os.WriteFile(path, bad, 0o600))
		b := openAt(t, path, Options{})
		_, err := rebuild(t.Context(), b)
		must(t, err)
		gaps := 0
		for seg, err := range b.Reader(session("s").Key, 1).SegmentsPastDamage(t.Context()) {
			if gaps += min(1, len(Damages(err))); err == nil && !bytes.Equal(seg.Data, data[seg.Start.Offset:seg.End.Offset]) {
				t.Errorf("without block %d: other bytes at %d", n, seg.Start.Offset)
			}
		}
		if gaps != 1 {
			t.Errorf("without block %d: %d gaps", n, gaps)
		}
	}
}

// TestCutOfAMetaPage: a meta page without a size of pages ends the look at it.
func TestCutOfAMetaPage(t *testing.T) {
	file := make([]byte, 2*diskPage)
	sum := fnv.New64a()
	sum.Write(file[16:72])
	binary.NativeEndian.PutUint64(file[72:], sum.Sum64())
	s := scan{f: bytes.NewReader(file), size: int64(len(file))}
	if s.cut() {
		t.Error("it says that the file was cut")
	}
}
