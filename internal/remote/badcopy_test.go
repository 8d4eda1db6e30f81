package remote

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"filippo.io/age"

	"ccd/archive"
	"ccd/internal/remote/pulled"
	"ccd/internal/transcript"
)

// victim is a machine with three heads, of which a reader has seen two, and what the store had then.
type victim struct {
	*box
	s      *memory
	me     *age.X25519Identity
	dir    string // of the reader
	before map[string][]byte
}

// newVictim returns a copy of the victim that the first call of the package made.
func newVictim(t *testing.T) *victim {
	t.Helper()
	first.Do(func() { makeVictim(t) })
	made := &first
	v := &victim{box: newBoxAt(t, copyOf(made.s), made.me, made.files), me: made.me, dir: t.TempDir(), before: made.before}
	v.s, v.content = v.store.(*memory), maps.Clone(made.content)
	must(t, os.CopyFS(v.dir, made.seen))
	return v
}

func copyOf(s *memory) *memory {
	c := newMemory()
	c.objects, c.modified = maps.Clone(s.objects), maps.Clone(s.modified)
	return c
}

var first struct {
	sync.Once
	s           *memory
	me          *age.X25519Identity
	files, seen fs.FS // of the machine, of the reader
	before      map[string][]byte
	content     map[string][]byte
}

func makeVictim(t *testing.T) {
	s, me, seen := newMemory(), identity(t), t.TempDir()
	b := newBox(t, s, me)
	for n := range 6 {
		b.grow("a", talk(uint64(n), 3000))
		if b.push(); n == 1 {
			first.before = maps.Clone(s.objects)
		}
	}
	b.same(readerAt(t, s, me, seen))
	b.grow("a", talk(100, 3000))
	b.grow("b", talk(101, 3000))
	b.push()
	b.stop()
	first.s, first.me, first.content, first.files, first.seen = s, me, b.content, inMemory(t, b.dir), inMemory(t, seen)
}

// inMemory returns a copy of the files of a directory that outlives it.
func inMemory(t *testing.T, dir string) fs.FS {
	t.Helper()
	files := fstest.MapFS{}
	must(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		files[path] = &fstest.MapFile{Data: data, Mode: 0o600}
		return err
	}))
	return files
}

// noticed pulls and checks with a reader, and fails unless both say that the store lies, and pull says why. What is
// noticed late by another check would not name the object.
func (v *victim) noticed(t *testing.T, fresh bool, why string) {
	t.Helper()
	dir := v.dir
	if fresh {
		dir = t.TempDir()
	}
	r := readerAt(t, v.s, v.me, dir)
	_, err := r.Pull(t.Context(), v.ID())
	if err != nil && !errors.Is(err, ErrBadCopy) {
		t.Errorf("pull: %v", err)
	}
	c, cerr := r.Check(t.Context(), -1)
	if cerr != nil {
		t.Error(cerr)
	}
	if err == nil || len(c.Problems) == 0 || !strings.Contains(err.Error(), why) {
		t.Errorf("not noticed (fresh reader: %v): pull: %v, check: %v", fresh, err, c.Problems)
	}
	a, err := archive.Open(pulled.Archive(dir, v.ID()), archive.Options{ReadOnly: true}) // what was read before is still there, and exact
	must(t, err)
	if s, err := a.Session(t.Context(), session("a").Key); err == nil {
		if got := read(t, a, "a", 0); !bytes.HasPrefix(v.content["a"], got) || len(got) != int(s.Tip().Offset) {
			t.Error("a lie got into the archive")
		}
	}
}

// last returns the name of an object: the newest that contains a text.
func (v *victim) last(text string) string {
	all := v.s.named(text)
	return all[len(all)-1]
}

func TestLieControl(t *testing.T) { // nothing is changed, nothing is noticed
	v := newVictim(t)
	for _, dir := range []string{v.dir, t.TempDir()} {
		r := readerAt(t, v.s, v.me, dir)
		v.same(r)
		if c, err := r.Check(t.Context(), -1); err != nil || len(c.Problems) > 0 {
			t.Error(c, err)
		}
	}
}

// TestLies: a reader that has seen the machine notices each object that the store shows wrongly and, unless only that one can
// know, so does a fresh one, and the machine itself by its check.
func TestLies(t *testing.T) {
	const signature = "the signature is wrong"
	type lie = func(name string, data []byte) ([]byte, bool)
	instead := func(of string, shown []byte) lie {
		return func(name string, data []byte) ([]byte, bool) {
			if name == of {
				return shown, shown != nil
			}
			return data, true
		}
	}
	changed := func(kind string, change func(data []byte) []byte) func(*victim) lie {
		return func(v *victim) lie { return instead(v.last(kind), change(bytes.Clone(v.s.objects[v.last(kind)]))) }
	}
	short := func(data []byte) []byte { return data[:len(data)-1] }
	flipped := func(data []byte) []byte { data[len(data)/2] ^= 1; return data }
	gone := func([]byte) []byte { return nil }
	head := func(make func(v *victim, h *Head, own, thief ed25519.PrivateKey) []byte) func(*victim) lie {
		return func(v *victim) lie {
			h := Head{Seq: 1000, Time: time.Now(), inner: Inner{Label: label}}
			return instead(headsPrefix+v.ID(), make(v, &h, v.meta.key(), newBox(t, newMemory(), v.me).meta.key()))
		}
	}
	encoded := func(v *victim, h *Head, key ed25519.PrivateKey) []byte {
		object, err := v.coder.encodeHead(h, key)
		must(t, err)
		return object
	}
	for name, c := range map[string]struct {
		why      string
		old, own bool // only who has seen the machine can know; the machine's check does
		show     func(v *victim) lie
	}{
		"a pack without its end": {signature, false, true, changed("/m/", short)},
		"a head without its end": {"", false, false, changed("/heads/", short)},
		"another bit in a pack":  {signature, false, false, changed("/m/", flipped)},
		"another bit in a head":  {"", false, false, changed("/heads/", flipped)},
		"no pack":                {"is missing", false, true, changed("/m/", gone)},
		"no head":                {"is missing", true, true, changed("/heads/", gone)},
		"another pack":           {signature, false, false, func(v *victim) lie { return instead(v.last("/m/"), v.s.objects[v.s.named("/m/")[0]]) }},
		"a pack by anyone, for anyone can encrypt to the public recipients": {signature, false, false, func(v *victim) lie {
			part := Part{Session: session("a"), Stretches: []Stretch{{Generation: 1, Off: int64(len(v.content["a"]) - 3000), Len: 3000}}}
			n, _ := numberOf(strings.TrimPrefix(v.last("/m/"), prefixOf(v.ID())))
			forged, err := v.coder.encodePack(n, []Part{part}, talk(7, 3000), newBox(t, newMemory(), v.me).meta.key())
			must(t, err)
			return instead(v.last("/m/"), forged)
		}},
		"an old head": {"it is an old one", true, true, func(v *victim) lie { return instead(headsPrefix+v.ID(), v.before[headsPrefix+v.ID()]) }},
		"a head with a right signature that does not follow the one seen": {"does not follow", true, false, head(func(v *victim, h *Head, own, _ ed25519.PrivateKey) []byte {
			h.Seq, h.Past = v.meta.Seq, [][]byte{hash([]byte("another head"))}
			return encoded(v, h, own)
		})},
		"a head of another key": {"", false, false, head(func(v *victim, h *Head, _, thief ed25519.PrivateKey) []byte { return encoded(v, h, thief) })},
		"another key's head under this name": {"", false, false, head(func(v *victim, h *Head, own, thief ed25519.PrivateKey) []byte {
			h.Key = own.Public().(ed25519.PublicKey)
			body, err := json.Marshal(h)
			must(t, err)
			return sign(headsPrefix+v.ID(), body, thief)
		})},
		"another key's signature": {"", false, false, head(func(v *victim, h *Head, own, thief ed25519.PrivateKey) []byte {
			first, _, _ := strings.Cut(string(encoded(v, h, thief)), "\n")
			_, rest, _ := strings.Cut(string(encoded(v, h, own)), "\n")
			return []byte(first + "\n" + rest)
		})},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVictim(t)
			v.s.show = c.show(v)
			v.noticed(t, false, c.why)
			if !c.old {
				v.noticed(t, true, c.why)
			}
			if got, err := v.Check(t.Context()); err != nil || c.own && len(got.Problems) == 0 {
				t.Errorf("the machine's own check: %v, %v", got, err)
			}
		})
	}
}

// TestLieRenamedPack shows a right pack under another number, and a right pack that gc has replaced: the first is noticed, the
// second has nothing that a reader may not keep.
func TestLieRenamedPack(t *testing.T) {
	v := newVictim(t)
	packs := v.s.named("/m/")
	n, _ := numberOf(strings.TrimPrefix(packs[0], prefixOf(v.ID())))
	wide := packObject(v.ID(), number{first: n.first, last: int64(len(packs)), written: 1})
	v.s.objects[wide], v.s.modified[wide] = v.s.objects[packs[0]], time.Now()
	v.noticed(t, true, "the signature is wrong")
	delete(v.s.objects, wide)
	old := maps.Clone(v.s.objects)
	secret := v.content["a"][100:200]
	_, err := v.archive.Forget(t.Context(), archive.Removal{Texts: []archive.Text{{Bytes: secret, To: len(secret), Fill: '*'}}}, nil)
	must(t, err)
	v.push()
	_, err = v.GC(t.Context(), GCOptions{})
	must(t, err)
	if len(v.s.named("/m/")) != 2 { // one for those before, and the last one
		t.Error(v.s.named("/m/"))
	}
	for _, name := range v.s.named("/m/") {
		if n, _ := numberOf(strings.TrimPrefix(name, prefixOf(v.ID()))); n.written != 0 {
			delete(v.s.objects, name)
		}
	}
	for _, name := range packs {
		v.s.objects[name] = old[name]
	}
	for _, dir := range []string{v.dir, t.TempDir()} {
		r := readerAt(t, v.s, v.me, dir)
		v.same(r)
		if bytes.Contains(readAll(t, r, v.ID()), secret) {
			t.Error("a reader has what was forgotten")
		}
	}
}

// TestLieToTheMachine takes the store back to an old state: the machine must not take that for a clone, nor push after it.
func TestLieToTheMachine(t *testing.T) {
	for what, object := range map[string]func(v *victim) []byte{
		"an old head": func(v *victim) []byte { return v.before[headsPrefix+v.ID()] },
		"no head":     func(*victim) []byte { return nil },
		"garbage":     func(*victim) []byte { return []byte("ccd2 x\n{}") },
	} {
		v := newVictim(t)
		head, name := headsPrefix+v.ID(), v.ID()
		if v.s.objects[head] = object(v); v.s.objects[head] == nil {
			delete(v.s.objects, head)
		}
		clear(v.s.requests)
		if v.push(); len(v.s.requests) > 0 {
			t.Errorf("%s: a push without news makes requests: %v", what, v.s.requests)
		}
		v.o.Now = func() time.Time { return time.Now().Add(25 * time.Hour) }
		if _, err := v.Push(t.Context()); !errors.Is(err, ErrBadCopy) || v.ID() != name {
			t.Errorf("%s, a day later: %v", what, err)
		}
		v.grow("a", talk(200, 1000))
		if _, err := v.Push(t.Context()); !errors.Is(err, ErrBadCopy) || v.ID() != name || what == "no head" && !strings.Contains(err.Error(), "it is missing") {
			t.Errorf("%s: %v", what, err)
		}
		must(t, v.renew()) // the way out
		v.push()
		v.same(readerAt(t, v.s, v.me, t.TempDir()))
	}
}

// TestForget forgets a session and a text: readers remove them at the next pull, gc removes the bytes.
func TestForget(t *testing.T) {
	s, me := newMemory(), identity(t)
	b := newBox(t, s, me)
	secret := []byte("hunter2-is-the-password-of-it-all")
	b.grow("gone", talk(1, 30_000))
	b.grow("part", append(append(talk(2, 30_000), secret...), "\n"...))
	b.grow("stays", talk(3, 30_000))
	b.push()
	b.grow("part", talk(4, 30_000))
	b.push()
	readers := []*Reader{readerAt(t, s, me, t.TempDir())}
	b.same(readers[0])
	ctx := t.Context()
	_, err := b.archive.Forget(ctx, archive.Removal{
		Sessions: []transcript.Key{session("gone").Key}, Texts: []archive.Text{{Bytes: secret, To: len(secret), Fill: '*'}},
	}, nil)
	must(t, err)
	old := s.named("/m/")
	if p := b.push(); p.Renewed != "" {
		t.Fatal(p.Renewed)
	}
	readers = append(readers, readerAt(t, s, me, t.TempDir()))
	for _, r := range readers {
		b.same(r)
		raw := readAll(t, r, b.ID())
		if bytes.Contains(raw, secret) || bytes.Contains(raw, talk(1, 30_000)[10_000:11_000]) {
			t.Error("a reader has what was forgotten")
		}
	}
	if p, err := readers[0].Pull(ctx, b.ID()); err != nil || p.Removed > 0 || p.Packs > 0 {
		t.Errorf("a second pull: %+v, %v", p, err)
	}
	now := time.Now()
	b.o.Now = func() time.Time { return now }
	if c, err := b.GC(ctx, GCOptions{Grace: time.Hour}); err != nil || c.Rewritten != 2 || c.Packs != 1 || c.Deleted > 0 || c.Waiting != 2 || len(c.Kept) > 0 {
		t.Errorf("gc: %+v, %v", c, err)
	}
	now = now.Add(2 * time.Hour)
	if c, err := b.GC(ctx, GCOptions{Grace: time.Hour}); err != nil || c.Deleted != 2 || c.Waiting > 0 {
		t.Errorf("gc after the grace period: %+v, %v", c, err)
	}
	for _, name := range old {
		if s.objects[name] != nil {
			t.Errorf("%s still exists", name)
		}
	}
	for _, r := range append(readers, readerAt(t, s, me, t.TempDir())) {
		b.same(r)
	}
	b.grow("stays", talk(5, 1000))
	b.push()
	b.same(readers[0])
}

// readAll returns all bytes of a machine's archive at a reader.
func readAll(t *testing.T, r *Reader, machine string) (all []byte) {
	t.Helper()
	a, err := archive.Open(pulled.Archive(r.o.Dir, machine), archive.Options{ReadOnly: true})
	must(t, err)
	stored, err := a.Sessions(t.Context())
	must(t, err)
	for _, s := range stored {
		for _, g := range s.Generations {
			all = append(all, read(t, a, s.ID, g.N)...)
		}
	}
	return all
}

// TestGCKeepsWhatItCannotRebuild drops a session from the archive alone: its pack stays, and is named.
func TestGCKeepsWhatItCannotRebuild(t *testing.T) {
	s, me := newMemory(), identity(t)
	b := newBox(t, s, me)
	b.grow("dropped", talk(1, 30_000))
	b.grow("gone", talk(2, 30_000))
	b.push()
	ctx := t.Context()
	_, err := b.archive.Compact(ctx, archive.Removal{Sessions: []transcript.Key{session("dropped").Key}}, nil)
	must(t, err)
	_, err = b.archive.Forget(ctx, archive.Removal{Sessions: []transcript.Key{session("gone").Key}}, nil)
	must(t, err)
	b.push()
	c, err := b.GC(ctx, GCOptions{})
	if err != nil || len(c.Kept) != 1 || c.Deleted > 0 || !strings.Contains(c.Kept[0], "dropped") {
		t.Fatalf("gc: %+v, %v", c, err)
	}
	r := readerAt(t, s, me, t.TempDir())
	_, err = r.Pull(ctx, b.ID())
	must(t, err)
	if got := readAll(t, r, b.ID()); !bytes.Equal(got, talk(1, 30_000)) {
		t.Errorf("%d bytes, want the dropped session alone", len(got))
	}
}

// TestGCIsKilled stops gc at each of its requests: no pack is lost, another gc does the rest.
func TestGCIsKilled(t *testing.T) {
	for _, lost := range []bool{false, true} {
		for at := 1; ; at++ {
			s, me := newMemory(), identity(t)
			b := newBox(t, s, me)
			now := time.Now()
			for n := range 3 {
				b.grow("a", talk(uint64(n), 10_000))
				b.push()
			}
			reader, mended := readerAt(t, s, me, t.TempDir()), s.cut(at, lost)
			_, err := b.GC(t.Context(), GCOptions{All: true})
			mended()
			b.start()
			b.same(reader)
			if err == nil {
				if at < 6 { // a look, a pack, a list, three packs
					t.Errorf("%d requests", at-1)
				}
				break
			}
			b.o.Now = func() time.Time { return now.Add(time.Minute) } // of the name of the next one
			if c, err := b.GC(t.Context(), GCOptions{All: true}); err != nil || len(s.named("/m/")) != 1 {
				t.Errorf("request %d, answer lost %v: gc again: %+v, %v, %v", at, lost, c, err, s.named("/m/"))
			}
			b.same(readerAt(t, s, me, t.TempDir()))
		}
	}
}

// TestGCWithoutTheRight deletes what may be deleted, says why the store keeps the rest, and leaves what is not the machine's.
func TestGCWithoutTheRight(t *testing.T) {
	for _, free := range []int64{0, 3} { // which pack may be deleted
		s, me := newMemory(), identity(t)
		b := newBox(t, s, me)
		const packs = 4
		for n := range packs {
			b.grow("a", talk(uint64(n), 30_000))
			b.push()
		}
		foreign := []string{packObject(strings.Repeat("f", 32), number{first: 1, last: 1}), prefixOf(b.ID()) + "notes.txt", packObject(b.ID(), number{first: 9, last: 9})}
		for _, name := range foreign {
			must(t, s.Put(t.Context(), name, []byte("not ours"), true))
		}
		s.before = func(kind, name string) error {
			if n, _ := numberOf(strings.TrimPrefix(name, prefixOf(b.ID()))); kind == "delete" && n.last != free {
				return fmt.Errorf("delete: %w", ErrDenied)
			}
			return nil
		}
		deleted := int(min(1, free))
		if c, err := b.GC(t.Context(), GCOptions{All: true}); err != nil || c.Refused != packs-deleted || c.Deleted != deleted || !errors.Is(c.Why, ErrDenied) {
			t.Errorf("%d: %+v, %v", free, c, err)
		}
		s.before = nil
		if c, err := b.GC(t.Context(), GCOptions{}); err != nil || c.Deleted != packs-deleted || c.Refused != 0 {
			t.Errorf("%d, then all: %+v, %v", free, c, err)
		}
		for _, name := range foreign {
			if s.objects[name] == nil {
				t.Errorf("%s is gone", name)
			}
		}
		b.same(readerAt(t, s, me, t.TempDir()))
	}
}

// TestPullContinues cuts a pull at each request: the next one continues, and what is there is exact.
func TestPullContinues(t *testing.T) {
	s, me := newMemory(), identity(t)
	b := newBox(t, s, me)
	for n := range 5 {
		b.grow("a", talk(uint64(n), 10_000))
		b.grow("b", talk(uint64(n), 10_000))
		b.push()
	}
	for at := range 6 {
		r, mended := readerAt(t, s, me, t.TempDir()), s.cut(1+at, false)
		if _, err := r.Pull(t.Context(), b.ID()); !errors.Is(err, ErrBusy) {
			t.Errorf("request %d: %v", at, err)
		}
		mended()
		b.same(r)
	}
}

// TestLieHole shows packs, signed with the machine's key, that have the end of a session without what is before it, or other
// bytes than the machine.
func TestLieHole(t *testing.T) {
	v := newVictim(t)
	for why, t1 := range map[string]Stretch{
		"are missing from generation 1, offset 0 on": {Generation: 1, Off: 10, Len: 10}, "another hash than on its machine": {Generation: 1, Len: 10, Sum: hash(nil)},
	} {
		pack, err := v.coder.encodePack(number{first: 1, last: 1}, []Part{{Session: session("a"), Stretches: []Stretch{t1}}}, talk(1, 10), v.meta.key())
		must(t, err)
		h := Head{Seq: 1, Time: time.Now(), inner: Inner{Label: label}}
		head, err := v.coder.encodeHead(&h, v.meta.key())
		must(t, err)
		v.s.objects = map[string][]byte{headsPrefix + v.ID(): head, packObject(v.ID(), number{first: 1, last: 1}): pack}
		r := readerAt(t, v.s, v.me, t.TempDir())
		for range 2 {
			if _, err := r.Pull(t.Context(), v.ID()); !errors.Is(err, ErrBadCopy) || !strings.Contains(err.Error(), why) {
				t.Error(why, err)
			}
		}
	}
}

// TestStaleAnswers shows the machine what was true before: neither an old head nor an old list costs it its name, its objects
// or the grace period.
func TestStaleAnswers(t *testing.T) {
	s, me := newMemory(), identity(t)
	b := newBox(t, s, me)
	b.grow("a", talk(1, 50_000))
	b.push()
	name, head := b.ID(), headsPrefix+b.ID()
	old := s.objects[head]
	b.grow("a", talk(2, 50_000))
	s.show = func(name string, data []byte) ([]byte, bool) {
		if name == head {
			return old, true
		}
		return data, true
	}
	s.after = func(kind, name string) error { // the head is written, but the machine does not learn it
		if kind == "put" && name == head {
			return errCut
		}
		return nil
	}
	if p, err := b.Push(t.Context()); !errors.Is(err, ErrBusy) || p.Renewed != "" {
		t.Errorf("a lost answer: %+v, %v", p, err)
	}
	s.after = nil
	b.grow("a", talk(3, 50_000))
	if p, err := b.Push(t.Context()); !errors.Is(err, ErrBadCopy) || p.Renewed != "" {
		t.Errorf("an old head: %+v, %v", p, err)
	}
	s.show = nil
	b.push()
	if b.ID() != name || len(b.said) > 0 {
		t.Errorf("the machine has a new name: %q", b.said)
	}
	_, err := b.archive.Forget(t.Context(), archive.Removal{Sessions: []transcript.Key{session("a").Key}}, nil)
	must(t, err)
	b.grow("b", talk(3, 1000))
	b.push()
	for name := range s.modified {
		s.modified[name] = time.Now().Add(-30 * 24 * time.Hour)
	}
	packs := s.named("/m/")
	if c, err := b.GC(t.Context(), GCOptions{Grace: time.Hour}); err != nil || c.Deleted > 0 || c.Waiting != 3 {
		t.Errorf("gc: %+v, %v", c, err)
	}
	s.show = func(name string, data []byte) ([]byte, bool) {
		return data, slices.Contains(packs, name) || name == head
	} // the list lacks what replaced them
	if c, err := b.GC(t.Context(), GCOptions{Grace: time.Hour}); !errors.Is(err, ErrBadCopy) || c.Deleted > 0 {
		t.Errorf("gc with an old list: %+v, %v", c, err)
	}
	s.show = nil
	if c, err := b.GC(t.Context(), GCOptions{Grace: time.Hour}); err != nil || c.Deleted > 0 || c.Waiting != 3 {
		t.Errorf("gc: %+v, %v", c, err)
	}
	b.same(readerAt(t, s, me, t.TempDir()))
}
