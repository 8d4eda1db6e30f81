package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
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
	for n := range maxLoose + 2 {
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
	_, err := r.Pull(t.Context(), v.ID(), "")
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

// known is noticed for a reader that has read the machine before. It has kept the catalogue, so only check asks for it.
func (v *victim) known(t *testing.T, kind, why string) {
	t.Helper()
	if kind != "/c/" {
		v.noticed(t, false, why)
		return
	}
	r := readerAt(t, v.s, v.me, v.dir)
	v.same(r)
	if c, err := r.Check(t.Context(), 0); err != nil || len(c.Problems) != 1 || !errors.Is(c.Problems[0], ErrBadCopy) || !strings.Contains(c.Problems[0].Error(), why) {
		t.Errorf("check: %+v, %v", c.Problems, err)
	}
}

// last returns the name of an object: the newest that contains a text.
func (v *victim) last(text string) string {
	all := v.s.named(text)
	return all[len(all)-1]
}

// lying makes the store show what change returns.
func (v *victim) lying(change func(name string, data []byte) ([]byte, bool)) { v.s.show = change }

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

func TestLieSwappedPack(t *testing.T) {
	v := newVictim(t)
	packs := v.s.named("/p/")
	last, other := packs[len(packs)-1], v.s.objects[packs[0]]
	v.lying(func(name string, data []byte) ([]byte, bool) {
		if name == last {
			return other, true
		}
		return data, true
	})
	v.noticed(t, false, "another hash")
	v.noticed(t, true, "another hash")
}

func TestLieOwnPack(t *testing.T) { // anyone can encrypt to the public recipients
	v := newVictim(t)
	last := v.last("/p/")
	p := packer{coder: v.coder}
	p.add(sessionOf(session("a")), 0, Stretch{Generation: 1, Off: int64(len(v.content["a"]) - 3000)}, talk(7, 3000))
	_, forged, err := p.finish(1)
	must(t, err)
	v.lying(func(name string, data []byte) ([]byte, bool) {
		if name == last {
			return forged, true
		}
		return data, true
	})
	v.noticed(t, false, "another hash")
	v.noticed(t, true, "another hash")
}

func TestLieTruncated(t *testing.T) {
	for _, kind := range []string{"/p/", "/c/", "/heads/"} {
		v := newVictim(t)
		victim := v.last(kind)
		v.lying(func(name string, data []byte) ([]byte, bool) {
			if name == victim {
				data = data[:len(data)-1]
			}
			return data, true
		})
		v.known(t, kind, map[bool]string{true: "", false: "another hash"}[kind == "/heads/"])
		v.noticed(t, true, map[bool]string{true: "", false: "another hash"}[kind == "/heads/"])
	}
}

func TestLieChangedBit(t *testing.T) {
	for _, kind := range []string{"/p/", "/c/", "/heads/"} {
		v := newVictim(t)
		victim := v.last(kind)
		v.lying(func(name string, data []byte) ([]byte, bool) {
			if name == victim {
				data = bytes.Clone(data)
				data[len(data)/2] ^= 1
			}
			return data, true
		})
		v.known(t, kind, map[bool]string{true: "", false: "another hash"}[kind == "/heads/"])
		v.noticed(t, true, map[bool]string{true: "", false: "another hash"}[kind == "/heads/"])
	}
}

func TestLieDeleted(t *testing.T) {
	for _, kind := range []string{"/p/", "/c/", "/heads/"} {
		v := newVictim(t)
		victim := v.last(kind)
		v.lying(func(name string, data []byte) ([]byte, bool) { return data, name != victim })
		v.known(t, kind, "it is missing")
		if kind != "/heads/" { // a reader that has never seen the machine cannot miss it, but the machine does
			v.noticed(t, true, "it is missing")
		}
		if c, err := v.Check(t.Context()); err != nil || len(c.Problems) == 0 {
			t.Errorf("%s: the machine's own check: %v, %v", kind, c, err)
		}
	}
}

func TestLieReplayedHead(t *testing.T) {
	v := newVictim(t)
	head := headsPrefix + v.ID()
	v.lying(func(name string, data []byte) ([]byte, bool) {
		if name == head {
			return v.before[head], true
		}
		return data, true
	})
	v.noticed(t, false, "it is an old one")
	if c, err := v.Check(t.Context()); err != nil || len(c.Problems) == 0 {
		t.Errorf("the machine's own check: %v, %v", c, err)
	}
}

// TestLieToTheMachine takes the store back to an old state: the machine must not take that for a clone, nor push after it.
func TestLieToTheMachine(t *testing.T) {
	for what, object := range map[string]func(v *victim) []byte{
		"an old head": func(v *victim) []byte { return v.before[headsPrefix+v.ID()] },
		"no head":     func(*victim) []byte { return nil },
		"garbage":     func(*victim) []byte { return []byte("ccd1 x\n{}") },
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
		must(t, v.Renew()) // the way out
		v.push()
		v.same(readerAt(t, v.s, v.me, t.TempDir()))
	}
}

// TestLieForkedHead shows a head with a right signature and a higher number that does not follow the one seen before.
func TestLieForkedHead(t *testing.T) {
	v := newVictim(t)
	h := Head{Seq: v.meta.Seq, Past: [][]byte{hash([]byte("another head"))}, Time: time.Now()}
	forked, err := v.coder.encodeHead(&h, Inner{Label: label}, v.meta.key())
	must(t, err)
	head := headsPrefix + v.ID()
	v.lying(func(name string, data []byte) ([]byte, bool) {
		if name == head {
			return forked, true
		}
		return data, true
	})
	v.noticed(t, false, "does not follow")
}

// TestLieForgedHead shows a head that another key has signed.
func TestLieForgedHead(t *testing.T) {
	v := newVictim(t)
	thief := newMeta()
	h := Head{Seq: 1000, Time: time.Now()}
	forged, err := v.coder.encodeHead(&h, Inner{Label: label}, thief.key())
	must(t, err)
	renamed := bytes.Replace(forged, []byte(thief.machine()), []byte(v.ID()), 1)
	own, err := v.coder.encodeHead(&h, Inner{Label: label}, v.meta.key())
	must(t, err)
	first, _, _ := strings.Cut(string(forged), "\n")
	_, body, _ := strings.Cut(string(own), "\n")
	for _, object := range [][]byte{forged, renamed, []byte(first + "\n" + body)} {
		v.lying(func(name string, data []byte) ([]byte, bool) {
			if strings.HasPrefix(name, headsPrefix) {
				return object, true
			}
			return data, true
		})
		v.noticed(t, false, "")
		v.noticed(t, true, "")
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
	old := s.named("/p/")
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
	if p, err := readers[0].Pull(ctx, b.ID(), ""); err != nil || p.Removed > 0 || p.Packs > 0 {
		t.Errorf("a second pull: %+v, %v", p, err)
	}
	now := time.Now()
	b.o.Now = func() time.Time { return now }
	if c, err := b.GC(ctx, GCOptions{Grace: time.Hour}); err != nil || c.Rewritten != 2 || c.Deleted > 0 || c.Waiting < 2 || len(c.Kept) > 0 {
		t.Errorf("gc: %+v, %v", c, err)
	}
	now = now.Add(2 * time.Hour)
	if c, err := b.GC(ctx, GCOptions{Grace: time.Hour}); err != nil || c.Deleted < 2 || c.Waiting > 0 {
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
	_, err = r.Pull(ctx, b.ID(), "")
	must(t, err)
	if got := readAll(t, r, b.ID()); !bytes.Equal(got, talk(1, 30_000)) {
		t.Errorf("%d bytes, want the dropped session alone", len(got))
	}
}

// TestGCDeletesHalfUploads leaves packs of killed pushes in the store, and fails without the right to delete.
func TestGCDeletesHalfUploads(t *testing.T) {
	s, me := newMemory(), identity(t)
	b := newBox(t, s, me)
	b.grow("a", talk(1, 30_000))
	b.push()
	orphan := prefixOf(b.ID()) + "p/0000000002-" + strings.Repeat("0", 64)
	foreign := prefixOf(strings.Repeat("f", 32)) + "p/0000000002-" + strings.Repeat("0", 64)
	for _, name := range []string{orphan, foreign} {
		_, err := s.Put(t.Context(), name, []byte("half"), Condition{})
		must(t, err)
	}
	if c, err := b.GC(t.Context(), GCOptions{Grace: time.Hour}); err != nil || c.Waiting != 1 || c.Deleted != 0 {
		t.Errorf("gc: %+v, %v", c, err)
	}
	s.before = func(kind, _ string) error {
		if kind == "delete" {
			return ErrDenied
		}
		return nil
	}
	if c, err := b.GC(t.Context(), GCOptions{}); err != nil || c.Refused != 1 || c.Deleted != 0 || !errors.Is(c.Why, ErrDenied) {
		t.Errorf("gc without the right to delete: %+v, %v", c, err)
	}
	s.before = nil
	if c, err := b.GC(t.Context(), GCOptions{}); err != nil || c.Deleted != 1 || s.objects[foreign] == nil {
		t.Errorf("gc: %+v, %v", c, err)
	}
	b.same(readerAt(t, s, me, t.TempDir()))
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
		r := readerAt(t, s, me, t.TempDir())
		n := 0
		s.before = func(string, string) error {
			if n++; n > at {
				return errCut
			}
			return nil
		}
		if _, err := r.Pull(t.Context(), b.ID(), ""); !errors.Is(err, ErrBusy) {
			t.Errorf("request %d: %v", at, err)
		}
		s.before = nil
		b.same(r)
	}
}

// TestPullOfOneSession reads only the packs that have it.
func TestPullOfOneSession(t *testing.T) {
	s, me := newMemory(), identity(t)
	b := newBox(t, s, me)
	for _, id := range []string{"one", "two", "three"} {
		b.grow(id, talk(1, 10_000))
		b.push()
	}
	r := readerAt(t, s, me, t.TempDir())
	p, err := r.Pull(context.WithoutCancel(t.Context()), b.ID(), "two")
	if err != nil || p.Packs != 1 || p.Sessions != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	b.same(r)
}

// TestLieHole shows a head, signed with the machine's key, that lists the end of a session without what is before it.
func TestLieHole(t *testing.T) {
	v := newVictim(t)
	h := Head{Seq: v.meta.Seq + 1, Past: v.meta.Past, Time: time.Now()}
	packs, err := readJSON[listed](v.db, bucketPacks)
	must(t, err)
	last := strings.TrimPrefix(v.last("/p/"), prefixOf(v.ID())+"p/")
	object, err := v.coder.encodeHead(&h, Inner{Label: label, Packs: []Pack{packs[last].Pack}}, v.meta.key())
	must(t, err)
	v.s.objects[headsPrefix+v.ID()] = object
	_, err = readerAt(t, v.s, v.me, t.TempDir()).Pull(t.Context(), v.ID(), "")
	if !errors.Is(err, ErrBadCopy) || !strings.Contains(err.Error(), "are missing from generation 1, offset 0 on") {
		t.Error(err)
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
	s.after = func(_, name string) error { // the head is written, but the machine does not learn it
		if name == head {
			return errCut
		}
		return nil
	}
	for range 2 {
		if p, err := b.Push(t.Context()); !errors.Is(err, ErrBusy) || p.Renewed != "" {
			t.Errorf("an old head: %+v, %v", p, err)
		}
		s.after = nil
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
	packs := s.named("/p/")
	for name := range s.modified {
		s.modified[name] = time.Now().Add(-30 * 24 * time.Hour)
	}
	for n := range 3 { // the second list lacks what is to wait
		s.show = map[int]func(string, []byte) ([]byte, bool){1: func(name string, data []byte) ([]byte, bool) { return data, !strings.Contains(name, "/p/") }}[n]
		if c, err := b.GC(t.Context(), GCOptions{Grace: time.Hour}); err != nil || c.Deleted > 0 {
			t.Errorf("gc %d: %+v, %v", n, c, err)
		}
	}
	if len(packs) < 3 || s.objects[packs[0]] == nil {
		t.Error("a pack was deleted before the grace period has ended")
	}
	b.same(readerAt(t, s, me, t.TempDir()))
}

// TestGCUnderALock deletes what may be deleted, and says until when the store keeps the rest.
func TestGCUnderALock(t *testing.T) {
	s, me := newMemory(), identity(t)
	b := newBox(t, s, me)
	b.grow("a", talk(1, 30_000))
	b.push()
	until := time.Now().Add(time.Hour)
	for n := range 4 {
		_, err := s.Put(t.Context(), fmt.Sprintf("%sp/000000000%d-%s", prefixOf(b.ID()), n+2, strings.Repeat("0", 64)), []byte("half"), Condition{})
		must(t, err)
	}
	s.before = func(kind, name string) error {
		if kind != "delete" {
			return nil
		}
		if n := name[len(prefixOf(b.ID()))+len("p/000000000")] - '0'; n != 3 {
			return fmt.Errorf("delete: %w", &LockedError{until.Add(-time.Duration(n%4) * time.Minute), ErrDenied}) // number 4 is the last one
		}
		return nil
	}
	c, err := b.GC(t.Context(), GCOptions{})
	var locked *LockedError
	if err != nil || c.Deleted != 1 || c.Refused != 3 || !errors.As(c.Why, &locked) || !locked.Until.Equal(until) {
		t.Errorf("%+v, %v", c, err)
	}
	s.before = nil
	if c, err := b.GC(t.Context(), GCOptions{}); err != nil || c.Deleted != 3 || c.Refused != 0 {
		t.Errorf("after the lock: %+v, %v", c, err)
	}
}
