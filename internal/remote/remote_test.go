package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"filippo.io/age"

	"ccd/archive"
	"ccd/internal/remote/pulled"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

func TestMain(m *testing.M) {
	testkit.InMemory()
	os.Exit(m.Run())
}

var must = testkit.Must

// box is a machine with an archive.
type box struct {
	*Machine
	t       testing.TB
	store   Store
	dir     string
	archive *archive.Archive
	reader  *age.X25519Identity
	said    []string
	limit   int64
	content map[string][]byte // of each session's last generation
}

// label is longer than what encrypted bytes hold by chance.
const label = "the machine under the desk"

func newBox(t testing.TB, s Store, reader *age.X25519Identity) *box {
	t.Helper()
	return newBoxAt(t, s, reader, fstest.MapFS{})
}

// newBoxAt returns a box that begins with files.
func newBoxAt(t testing.TB, s Store, reader *age.X25519Identity, files fs.FS) *box {
	t.Helper()
	b := &box{t: t, store: s, dir: t.TempDir(), reader: reader, content: map[string][]byte{}}
	err := os.CopyFS(b.dir, files)
	must(t, err)
	b.archive, err = archive.Open(filepath.Join(b.dir, "archive.db"), archive.Options{})
	must(t, err)
	b.start()
	return b
}

// start opens the machine again, as another process does.
func (b *box) start() {
	b.t.Helper()
	b.stop()
	b.t.Cleanup(b.stop)
	var err error
	b.Machine, err = OpenMachine(Options{
		Dir: filepath.Join(b.dir, "remote"), Archive: b.archive, Store: b.store, Recipients: []age.Recipient{b.reader.Recipient()},
		Names: []string{b.reader.Recipient().String()}, Label: label, Limit: b.limit,
		Say: func(format string, args ...any) { b.said = append(b.said, fmt.Sprintf(format, args...)) },
	})
	must(b.t, err)
}

// stop closes the machine, which takes memory.
func (b *box) stop() {
	if b.Machine != nil {
		b.Close()
	}
	b.Machine = nil
}

func session(id string) transcript.Session {
	return transcript.Session{
		Key: transcript.Key{Agent: "claude-code", ID: id}, Class: transcript.Main, Path: "/home/me/.claude/projects/p\xff/" + id + ".jsonl",
		Root: "/home/me/.claude/projects", Source: "projects/p/" + id + ".jsonl",
	}
}

// talk returns n bytes of lines.
func talk(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, `{"type":"user","n":%d,"text":"%x"}`+"\n", r.Uint32(), r.Uint64())
	}
	return b.Bytes()[:n]
}

// grow appends to the current generation of a session.
func (b *box) grow(id string, data []byte) {
	b.t.Helper()
	was, err := b.archive.Session(b.t.Context(), session(id).Key)
	if err != nil && !errors.Is(err, archive.ErrNotFound) {
		b.t.Fatal(err)
	}
	tip := was.Tip()
	b.add(id, max(tip.Generation, 1), tip.Offset, data)
	b.content[id] = append(b.content[id], data...)
}

func (b *box) add(id string, generation int, off int64, data []byte) {
	b.t.Helper()
	must(b.t, b.archive.Append(b.t.Context(), session(id), transcript.Segment{
		Start: transcript.Cursor{Generation: generation, Offset: off}, Data: data,
		End: transcript.Cursor{Generation: generation, Offset: off + int64(len(data))},
	}))
}

func (b *box) push() Pushed {
	b.t.Helper()
	p, err := b.Push(b.t.Context())
	must(b.t, err)
	return p
}

// readerAt returns a reader that keeps its archives in dir.
func readerAt(t testing.TB, s Store, identity age.Identity, dir string) *Reader {
	t.Helper()
	r, err := OpenReader(ReaderOptions{Dir: dir, Store: s, Identities: []age.Identity{identity}})
	must(t, err)
	return r
}

// read returns the bytes of a generation, 0 for the last one.
func read(t testing.TB, a *archive.Archive, id string, generation int) []byte {
	t.Helper()
	var all []byte
	for seg, err := range a.Reader(session(id).Key, generation).Segments(t.Context()) {
		must(t, err)
		all = append(all, seg.Data...)
	}
	return all
}

// same checks that a machine's archive at the reader has exactly what the box has, byte for byte.
func (b *box) same(r *Reader) {
	b.t.Helper()
	if _, err := r.Pull(b.t.Context(), b.ID()); err != nil {
		b.t.Fatal(err)
	}
	b.equal(r.o.Dir, b.ID())
}

func (b *box) equal(dir, machine string) {
	b.t.Helper()
	a, err := archive.Open(pulled.Archive(dir, machine), archive.Options{ReadOnly: true})
	must(b.t, err)
	ours, err := b.archive.Sessions(b.t.Context())
	must(b.t, err)
	theirs, err := a.Sessions(b.t.Context())
	must(b.t, err)
	if len(ours) != len(theirs) {
		b.t.Fatalf("%d sessions, want %d", len(theirs), len(ours))
	}
	for i, s := range ours {
		got := theirs[i]
		if got.Session != s.Session || len(got.Generations) != len(s.Generations) || !bytes.Equal(got.State, s.State) {
			b.t.Errorf("session %+v\nwant %+v", got, s)
			continue
		}
		for n, g := range s.Generations {
			if got.Generations[n].Sum != g.Sum || got.Generations[n].Tip.Offset != g.Tip.Offset {
				b.t.Errorf("session %s, generation %d: %+v, want %+v", s.ID, n+1, got.Generations[n], g)
			}
			read(b.t, a, s.ID, n+1)
		}
	}
	report, err := a.Verify(b.t.Context(), nil)
	if must(b.t, err); len(report.Damage) > 0 {
		b.t.Error(report.Damage)
	}
}

func identity(t testing.TB) *age.X25519Identity {
	t.Helper()
	i, err := age.GenerateX25519Identity()
	must(t, err)
	return i
}

// TestAFreshReaderHasEverything pushes sessions in many steps, and reads them with the identity alone.
func TestAFreshReaderHasEverything(t *testing.T) {
	rounds := testkit.Cases(t, 50, 80)
	s, me := newMemory(), identity(t)
	b := newBox(t, s, me)
	follower := readerAt(t, s, me, t.TempDir())
	b.limit = 1 << 20 // several packs
	b.start()
	b.grow("empty", nil)
	b.grow("large", talk(1, testkit.Cases(t, 2<<20, 9<<20)))
	for n := range rounds {
		b.grow(fmt.Sprint("s", n%7), talk(uint64(n), 3000+n))
		if n == 40 {
			was := b.content["s1"] // the file is rewritten in its middle
			next := append(append(bytes.Clone(was[:8000]), "{}\n"...), was[8000:]...)
			b.add("s1", 2, 0, next)
			b.content["s1"] = next
		}
		if n%20 == 10 {
			_, err := b.archive.Save(t.Context(), nil, []archive.Change{{Session: session("s3"), New: fmt.Appendf(nil, "state %d", n), Old: stateOf(t, b.archive, "s3")}})
			must(t, err)
		}
		b.push()
		if n%30 == 5 {
			b.same(follower)
		}
	}
	if got := b.push(); got.Packs != 0 || got.Bytes != 0 {
		t.Errorf("a push of nothing: %+v", got)
	}
	b.same(follower)
	fresh := readerAt(t, s, me, t.TempDir())
	b.same(fresh)
	if c, err := fresh.Check(t.Context(), -1); err != nil || len(c.Problems) > 0 || c.Read < rounds || c.Read != c.Packs {
		t.Errorf("check: %+v, %v", c, err)
	}
	if c, err := b.Check(t.Context()); err != nil || len(c.Problems) > 0 || c.Packs < rounds {
		t.Errorf("check: %+v, %v", c, err)
	}
}

func stateOf(t testing.TB, a *archive.Archive, id string) []byte {
	t.Helper()
	s, err := a.Session(t.Context(), session(id).Key)
	must(t, err)
	return s.State
}

// TestRequestsOfAPush counts what a push costs.
func TestRequestsOfAPush(t *testing.T) {
	s, me := newMemory(), identity(t)
	b := newBox(t, s, me)
	count := func() string { r := fmt.Sprint(s.requests); clear(s.requests); return r }
	for n := range 40 {
		b.grow(fmt.Sprint("s", n), talk(uint64(n), 5000))
	}
	b.push()
	if got := count(); got != "map[put:2]" { // pack, head
		t.Error("the first push:", got)
	}
	for n := range 40 {
		b.grow(fmt.Sprint("s", n), talk(uint64(n), 5000))
	}
	b.push()
	if got := count(); got != "map[get:1 put:2]" { // the head before, pack, head
		t.Error("a push of 40 sessions:", got)
	}
	b.push()
	if got := count(); got != "map[]" {
		t.Error("a push of nothing:", got)
	}
	b.start()
	b.push()
	if got := count(); got != "map[]" {
		t.Error("a push of nothing by another process:", got)
	}
	r := readerAt(t, s, me, t.TempDir())
	b.same(r)
	if got := count(); got != "map[get:3 list:1]" { // head, packs, two packs
		t.Error("the first pull:", got)
	}
	b.same(r)
	if got := count(); got != "map[get:1]" { // head
		t.Error("a pull of nothing:", got)
	}
}

// TestPacksAreMerged: gc makes one pack of many small ones, which is the same to readers that have some, all or none of them,
// at any time of the grace period.
func TestPacksAreMerged(t *testing.T) {
	s, me := newMemory(), identity(t)
	b := newBox(t, s, me)
	half := readerAt(t, s, me, t.TempDir())
	for n := range manySmall {
		b.grow(fmt.Sprint("s", n%5), talk(uint64(n), 500))
		b.push()
		if n == manySmall/2 {
			b.same(half)
		}
	}
	follower := readerAt(t, s, me, t.TempDir())
	b.same(follower)
	if c, err := b.GC(t.Context(), GCOptions{Grace: time.Hour}); err != nil || c.Rewritten != manySmall || c.Packs != 1 || c.Waiting != manySmall || c.Deleted != 0 {
		t.Errorf("gc: %+v, %v", c, err)
	}
	clear(s.requests)
	b.same(readerAt(t, s, me, t.TempDir()))
	if got := fmt.Sprint(s.requests); got != "map[get:2 list:1]" { // head, packs, one pack
		t.Error("a fresh reader:", got)
	}
	if c, err := b.GC(t.Context(), GCOptions{}); err != nil || c.Rewritten != 0 || c.Deleted != manySmall || len(s.named("/m/")) != 1 {
		t.Errorf("gc after the grace period: %+v, %v", c, err)
	}
	b.grow("s1", talk(1000, 500))
	b.push()
	for what, r := range map[string]*Reader{"half": half, "all": follower, "none": readerAt(t, s, me, t.TempDir())} {
		r = readerAt(t, s, me, r.o.Dir) // another process
		b.same(r)
		if c, err := r.Check(t.Context(), -1); err != nil || len(c.Problems) > 0 || c.Read != 2 {
			t.Errorf("%s: check: %+v, %v", what, c, err)
		}
	}
}

// TestRequestsOfARefresh counts what a reader of several machines asks for.
func TestRequestsOfARefresh(t *testing.T) {
	s, me := newMemory(), identity(t)
	dir := t.TempDir()
	var all []*box
	refresh := func() string {
		t.Helper()
		clear(s.requests)
		r := readerAt(t, s, me, dir) // another process
		names, _, err := r.Names(t.Context())
		must(t, err)
		for _, name := range names {
			_, err := r.Pull(t.Context(), name)
			must(t, err)
		}
		for _, b := range all {
			b.equal(dir, b.ID())
		}
		return fmt.Sprint(s.requests)
	}
	for n := range 3 {
		b := newBox(t, s, me)
		for k := range 20 {
			b.grow("s", talk(uint64(n*100+k), 500))
			b.push()
		}
		all = append(all, b)
	}
	if got := refresh(); got != "map[get:63 list:4]" { // the heads; of each machine: head, packs, 20 packs
		t.Error("the first pull:", got)
	}
	if got := refresh(); got != "map[list:1]" {
		t.Error("nothing is new:", got)
	}
	all[2].grow("s", talk(7, 500))
	all[2].push()
	if got := refresh(); got != "map[get:2 list:1]" { // head and pack
		t.Error("a pack of one machine is new:", got)
	}
	must(t, os.Remove(pulled.Archive(dir, all[1].ID())))
	if got := refresh(); got != "map[get:21 list:2]" { // head and packs
		t.Error("a pulled archive is gone:", got)
	}
	must(t, os.WriteFile(pulled.Archive(dir, all[0].ID()), bytes.Repeat([]byte("damaged "), 4096), 0o600))
	clear(s.requests)
	r := readerAt(t, s, me, dir)
	_, _, err := r.Names(t.Context())
	must(t, err)
	if p, err := r.Pull(t.Context(), all[0].ID()); err != nil || !p.Repaired || s.requests["get"] != 21 {
		t.Errorf("a pulled archive is damaged: %+v, %v, %v", p, err, s.requests)
	}
	all[0].equal(dir, all[0].ID())
}

// TestEveryRequestOfAPushCanFail fails each request of a push before or after it was done, kills the process, does the same to
// the push that makes up for it, and pushes again: a fresh reader has everything, the machine keeps its name.
func TestEveryRequestOfAPushCanFail(t *testing.T) {
	cut := func(s *memory, b *box, at int, lost bool) bool {
		mended := s.cut(at, lost)
		_, err := b.Push(t.Context())
		hit := mended() >= at && at > 0
		if hit && !errors.Is(err, ErrBusy) {
			t.Errorf("request %d failed, the push: %v", at, err)
		}
		b.start() // the process was killed
		return hit
	}
	for _, first := range []bool{true, false} {
		most := map[bool]int{true: 2, false: 3}[first] // the head before, pack, head
		for _, lost := range []bool{false, true} {
			for at := 1; at <= most; at++ {
				for _, again := range testkit.Numbers(t, 6, 1) { // 0: the second push is not cut
					s, me := newMemory(), identity(t)
					b := newBox(t, s, me)
					b.grow("a", talk(1, 50_000))
					if !first {
						b.push()
						b.grow("a", talk(2, 50_000))
						b.grow("b", talk(3, 50_000))
					}
					name := b.ID()
					if !cut(s, b, at, lost) {
						t.Errorf("there is no request %d", at)
					}
					b.grow("c", talk(4, 1000))
					cut(s, b, again, lost)
					b.push()
					if b.ID() != name || len(b.said) > 0 {
						t.Errorf("request %d, answer lost %v: the machine has a new name: %q", at, lost, b.said)
					}
					b.same(readerAt(t, s, me, t.TempDir()))
				}
			}
		}
	}
}

// TestACloneTakesANewName copies a machine's directory: the second one to push notices it.
func TestACloneTakesANewName(t *testing.T) {
	s, me := newMemory(), identity(t)
	b := newBox(t, s, me)
	b.grow("a", talk(1, 50_000))
	b.push()
	b.Close()
	clone := &box{t: t, store: s, dir: t.TempDir(), reader: me, content: map[string][]byte{}}
	must(t, os.CopyFS(clone.dir, os.DirFS(b.dir)))
	var err error
	clone.archive, err = archive.Open(filepath.Join(clone.dir, "archive.db"), archive.Options{})
	must(t, err)
	clone.start()
	b.start()
	if clone.ID() != b.ID() {
		t.Fatal("the control: it is no clone")
	}
	clone.grow("clone", talk(2, 50_000))
	b.grow("b", talk(3, 50_000))
	b.push()
	p := clone.push()
	if clone.ID() == b.ID() || p.Renewed == "" || len(clone.said) != 1 || !strings.Contains(clone.said[0], "copy of the other") {
		t.Errorf("the clone: %+v, said %q", p, clone.said)
	}
	b.grow("b", talk(4, 50_000))
	if p := b.push(); p.Renewed != "" {
		t.Errorf("the original: %+v", p)
	}
	for _, one := range []*box{b, clone} {
		one.same(readerAt(t, s, me, t.TempDir()))
	}
}

// TestAnotherArchiveTakesANewName replaces the archive by a new one, and by an older copy.
func TestAnotherArchiveTakesANewName(t *testing.T) {
	s, me := newMemory(), identity(t)
	b := newBox(t, s, me)
	b.grow("a", talk(1, 50_000))
	b.push()
	old, err := os.ReadFile(b.archive.Path())
	must(t, err)
	b.grow("a", talk(2, 50_000))
	b.push()
	whole, first := bytes.Clone(b.content["a"]), b.ID()
	for what, replace := range map[string]func(){
		"a new one":     func() { must(t, os.Remove(b.archive.Path())); b.content = map[string][]byte{} },
		"an older copy": func() { must(t, os.WriteFile(b.archive.Path(), old, 0o600)); b.content = map[string][]byte{} },
	} {
		was := b.ID()
		replace()
		b.grow("a", talk(9, 1000))
		if p := b.push(); p.Renewed == "" || b.ID() == was {
			t.Errorf("%s: %+v", what, p)
		}
		b.same(readerAt(t, s, me, t.TempDir()))
	}
	r := readerAt(t, s, me, t.TempDir())
	_, err = r.Pull(t.Context(), first)
	must(t, err)
	a, err := archive.Open(pulled.Archive(r.o.Dir, first), archive.Options{ReadOnly: true})
	must(t, err)
	if !bytes.Equal(read(t, a, "a", 0), whole) {
		t.Error("what was pushed before is lost")
	}
}

// TestStoreWentBack: after a store has lost what was pushed last, the machine and readers that have seen more say so; under a new name
// all is pushed again.
func TestStoreWentBack(t *testing.T) {
	s, me := newMemory(), identity(t)
	b := newBox(t, s, me)
	b.grow("a", talk(1, 50_000))
	b.push()
	before := maps.Clone(s.objects)
	b.grow("a", talk(2, 50_000))
	b.push()
	b.grow("a", talk(3, 50_000))
	b.push()
	first, dir := b.ID(), t.TempDir()
	b.same(readerAt(t, s, me, dir))
	clear(s.objects)
	maps.Copy(s.objects, before)

	b.grow("a", talk(4, 50_000))
	if _, err := b.Push(t.Context()); !errors.Is(err, ErrBadCopy) {
		t.Errorf("the machine: %v", err)
	}
	if _, err := readerAt(t, s, me, dir).Pull(t.Context(), first); !errors.Is(err, ErrBadCopy) {
		t.Errorf("its reader: %v", err)
	}
	must(t, b.renew())
	b.push()
	for _, dir := range []string{dir, t.TempDir()} {
		b.same(readerAt(t, s, me, dir))
	}
}

// TestKeys reads with a wrong identity, and with new ones after the recipients have changed.
func TestKeys(t *testing.T) {
	s, me, other := newMemory(), identity(t), identity(t)
	b := newBox(t, s, me)
	b.grow("a", talk(1, 50_000))
	b.push()
	dir := t.TempDir()
	if _, err := readerAt(t, s, other, dir).Pull(t.Context(), b.ID()); !errors.Is(err, ErrKey) {
		t.Errorf("a wrong identity: %v", err)
	}
	b.same(readerAt(t, s, me, dir)) // nothing is spoiled by it
	b.reader = other
	b.start()
	b.push()
	if _, err := readerAt(t, s, other, t.TempDir()).Pull(t.Context(), b.ID()); !errors.Is(err, ErrKey) {
		t.Errorf("the new identity before gc: %v", err)
	}
	if c, err := b.GC(t.Context(), GCOptions{All: true}); err != nil || c.Rewritten != 2 || c.Packs != 1 || len(c.Kept) > 0 {
		t.Fatalf("gc: %+v, %v", c, err)
	}
	b.same(readerAt(t, s, other, t.TempDir()))
	if _, err := readerAt(t, s, me, t.TempDir()).Pull(t.Context(), b.ID()); !errors.Is(err, ErrKey) {
		t.Errorf("the old identity after gc: %v", err)
	}
	for name, data := range s.objects {
		if bytes.Contains(data, []byte("claude")) || bytes.Contains(data, []byte(label)) {
			t.Errorf("%s has plain text", name)
		}
	}
}

// careless replaces objects that exist.
type careless struct{ *memory }

func (c careless) Put(ctx context.Context, name string, data []byte, _ bool) error {
	return c.memory.Put(ctx, name, data, false)
}

// TestBegin accepts a new store and one of this format, and refuses a newer one and one that ignores conditions.
func TestBegin(t *testing.T) {
	s := newMemory()
	if err := Begin(t.Context(), careless{newMemory()}); !errors.Is(err, ErrNoConditions) {
		t.Errorf("a new store that ignores conditions: %v", err)
	}
	for range 2 {
		must(t, Begin(t.Context(), s))
	}
	if err := Begin(t.Context(), careless{s}); !errors.Is(err, ErrNoConditions) {
		t.Errorf("a store that ignores conditions: %v", err)
	}
	s.objects[formatName] = []byte(`{"ccd":3}`)
	if err := Begin(t.Context(), s); err == nil || !strings.Contains(err.Error(), "not format 2") {
		t.Errorf("a newer format: %v", err)
	}
	s.before = func(string, string) error { return ErrDenied }
	if err := Begin(t.Context(), s); !errors.Is(err, ErrDenied) {
		t.Errorf("without a right: %v", err)
	}
}
