package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
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

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// box is a machine with an archive.
type box struct {
	*Machine
	t       testing.TB
	store   Store
	dir     string
	archive *archive.Archive
	reader  *age.X25519Identity
	said    []string
	limit   int
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
		Key: transcript.Key{Agent: "claude-code", ID: id}, Class: transcript.Main, Path: "/home/me/.claude/projects/p/" + id + ".jsonl",
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
	if _, err := r.Pull(b.t.Context(), b.ID(), ""); err != nil {
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
	s, me := newMemory(), identity(t)
	b := newBox(t, s, me)
	follower := readerAt(t, s, me, t.TempDir())
	b.limit = 1 << 20 // several packs
	b.start()
	b.grow("empty", nil)
	b.grow("large", talk(1, testkit.Cases(t, 2<<20, 9<<20)))
	for n := range 80 { // more than a head lists
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
	if len(s.named("/c/")) == 0 {
		t.Error("there is no catalogue")
	}
	if c, err := fresh.Check(t.Context(), -1); err != nil || len(c.Problems) > 0 || c.Read < 80 || c.Read != c.Packs {
		t.Errorf("check: %+v, %v", c, err)
	}
	if c, err := b.Check(t.Context()); err != nil || len(c.Problems) > 0 || c.Packs < 80 {
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
	if got := count(); got != "map[put:2]" { // pack, head
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
	if got := count(); got != "map[get:3]" { // head, two packs
		t.Error("the first pull:", got)
	}
	b.same(r)
	if got := count(); got != "map[get:1]" { // head
		t.Error("a pull of nothing:", got)
	}
}

// TestManyCataloguesBecomeOne keeps what a new reader asks for, and the head, from growing with the number of pushes.
func TestManyCataloguesBecomeOne(t *testing.T) {
	s, me := newMemory(), identity(t)
	b := newBox(t, s, me)
	for n := range maxLoose + 1 {
		b.grow("s", talk(uint64(n), 500))
		b.push()
	}
	for len(b.meta.Catalogues) < maxLoose { // as after more pushes
		object, err := b.coder.sealJSON(catalogue{})
		must(t, err)
		name := fmt.Sprintf("%x", hash(object))
		must(t, b.upload(t.Context(), catalogueObject(b.ID(), name), object))
		b.meta.Catalogues = append(b.meta.Catalogues, ref{name, int64(len(object))})
	}
	b.grow("s", talk(100, 500))
	b.push()
	if got := len(b.meta.Catalogues); got != 1 {
		t.Errorf("%d catalogues", got)
	}
	b.same(readerAt(t, s, me, t.TempDir()))
	if c, err := b.GC(t.Context(), GCOptions{}); err != nil || c.Deleted != maxLoose || len(s.named("/c/")) != 1 {
		t.Errorf("gc: %+v, %v", c, err)
	}
	b.same(readerAt(t, s, me, t.TempDir()))
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
			_, err := r.Pull(t.Context(), name, "")
			must(t, err)
		}
		for _, b := range all {
			b.equal(dir, b.ID())
		}
		return fmt.Sprint(s.requests)
	}
	for n := range 3 {
		b := newBox(t, s, me)
		for k := range maxLoose + 1 { // one catalogue, no loose pack
			b.grow("s", talk(uint64(n*100+k), 500))
			b.push()
		}
		all = append(all, b)
	}
	if got := refresh(); got != "map[get:201 list:1]" { // of each machine: head, catalogue, 65 packs
		t.Error("the first pull:", got)
	}
	if got := refresh(); got != "map[list:1]" {
		t.Error("nothing is new:", got)
	}
	all[2].grow("s", talk(7, 500))
	all[2].push()
	if got := refresh(); got != "map[get:2 list:1]" { // head and pack; the catalogue is kept
		t.Error("a pack of one machine is new:", got)
	}
	kept, err := filepath.Glob(filepath.Join(dir, all[2].ID()+".kept", "*"))
	must(t, err)
	for _, file := range kept {
		must(t, os.WriteFile(file, []byte("torn"), 0o600))
	}
	all[2].grow("s", talk(8, 500))
	all[2].push()
	if got := refresh(); got != "map[get:3 list:1]" || len(kept) != 1 {
		t.Errorf("%d kept catalogues are spoiled: %s", len(kept), got)
	}
	must(t, os.Remove(pulled.Archive(dir, all[1].ID())))
	if got := refresh(); got != "map[get:66 list:1]" { // head and packs
		t.Error("a pulled archive is gone:", got)
	}
	must(t, os.WriteFile(pulled.Archive(dir, all[0].ID()), bytes.Repeat([]byte("damaged "), 4096), 0o600))
	clear(s.requests)
	r := readerAt(t, s, me, dir)
	_, _, err = r.Names(t.Context())
	must(t, err)
	if _, err := r.Pull(t.Context(), all[0].ID(), ""); s.requests["get"] == 0 {
		t.Error("a pulled archive is damaged, and pull does not look:", err)
	}
	must(t, os.Remove(pulled.Archive(dir, all[0].ID())))
	must(t, os.Remove(filepath.Join(dir, all[0].ID()+".json")))
	delete(s.objects, s.named("/c/")[0])
	if c, err := readerAt(t, s, me, dir).Check(t.Context(), 0); err != nil || len(c.Problems) != 1 || !errors.Is(c.Problems[0], ErrBadCopy) {
		t.Errorf("check, with a catalogue only here: %+v, %v", c, err)
	}
}

// TestRequestsOfOneSession counts what it takes to read one session of a machine that was not pulled.
func TestRequestsOfOneSession(t *testing.T) {
	s, me := newMemory(), identity(t)
	b := newBox(t, s, me)
	for n := range 10 {
		for k := range 4 {
			b.grow(fmt.Sprint("s", n*4+k), talk(uint64(n*4+k), 500))
		}
		b.push()
	}
	clear(s.requests)
	dir := t.TempDir()
	r := readerAt(t, s, me, dir)
	names, _, err := r.Names(t.Context())
	must(t, err)
	if p, err := r.Pull(t.Context(), names[0], "s22"); err != nil || p.Sessions != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if got := fmt.Sprint(s.requests); got != "map[get:2 list:1]" { // head, and the one pack
		t.Error(got)
	}
	r = readerAt(t, s, me, dir)
	_, _, err = r.Names(t.Context())
	must(t, err)
	b.same(r) // the others are not taken for read
}

// TestRewritesPushWhatChanged rewrites a file with little new in it.
func TestRewritesPushWhatChanged(t *testing.T) {
	s, me := newMemory(), identity(t)
	b := newBox(t, s, me)
	data := talk(1, 1<<20)
	b.grow("s", data)
	first := b.push()
	data = append(append(bytes.Clone(data[:700<<10]), talk(2, 5000)...), data[700<<10+3000:]...)
	b.add("s", 2, 0, data)
	if second := b.push(); second.Sent > first.Sent/10 {
		t.Errorf("the rewrite sent %d bytes, the whole file %d", second.Sent, first.Sent)
	}
	b.same(readerAt(t, s, me, t.TempDir()))
}

var errCut = fmt.Errorf("%w: connection reset", ErrBusy)

// TestEveryRequestOfAPushCanFail fails each request of a push before or after it was done, kills the process, and pushes
// again: a fresh reader has everything, the machine keeps its name, nothing is uploaded under a name that exists.
func TestEveryRequestOfAPushCanFail(t *testing.T) {
	for _, lost := range []bool{false, true} {
		for at := 1; at <= 4; at++ { // pack and head, of the first push and of a later one
			s, me := newMemory(), identity(t)
			b := newBox(t, s, me)
			b.grow("a", talk(1, 50_000))
			if at > 2 {
				b.push()
				b.grow("a", talk(2, 50_000))
				b.grow("b", talk(3, 50_000))
			}
			n, hit := 0, false
			fail := func(string, string) error {
				if n++; n == 1+(at-1)%2 {
					hit = true
					return errCut
				}
				return nil
			}
			if lost {
				s.after = fail
			} else {
				s.before = fail
			}
			name := b.ID()
			_, err := b.Push(t.Context())
			if s.before, s.after = nil, nil; !hit || !errors.Is(err, ErrBusy) {
				t.Errorf("request %d failed, the push: %v", at, err)
			}
			b.start() // the process was killed
			b.grow("c", talk(4, 1000))
			b.push()
			if b.ID() != name || len(b.said) > 0 {
				t.Errorf("request %d, answer lost %v: the machine has a new name: %q", at, lost, b.said)
			}
			b.same(readerAt(t, s, me, t.TempDir()))
		}
	}
}

// TestAPartOfAPack reads one session of a large pack without the others, exactly or not at all.
func TestAPartOfAPack(t *testing.T) {
	s, me := newMemory(), identity(t)
	b := newBox(t, s, me)
	for n := range 40 {
		b.grow(fmt.Sprintf("s%02d", n), talk(uint64(n), 120_000))
	}
	b.push()
	name := s.named("/p/")[0]
	whole := s.objects[name]
	for _, id := range testkit.Sample(t, []string{"s00", "s17", "s39"}, 1) {
		clear(s.requests)
		clear(s.bytes)
		dir := t.TempDir()
		_, err := readerAt(t, s, me, dir).Pull(t.Context(), b.ID(), id)
		must(t, err)
		if s.requests["get"] > 4 || s.bytes["get"] > int64(len(whole))/4 || len(whole) < 1<<20 { // head, and of the pack its header, its end and a frame
			t.Errorf("%s: %v requests, %v bytes of a pack of %d", id, s.requests, s.bytes, len(whole))
		}
		a, err := archive.Open(pulled.Archive(dir, b.ID()), archive.Options{ReadOnly: true})
		must(t, err)
		if !bytes.Equal(read(t, a, id, 0), b.content[id]) {
			t.Error(id, "has other bytes")
		}
	}
	for what, change := range map[string]func([]byte) []byte{
		"its header": func(b []byte) []byte { b[30] ^= 1; return b }, "the frame": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"its end": func(b []byte) []byte { b[len(b)-20] ^= 1; return b }, "shorter": func(b []byte) []byte { return b[:len(b)-1] },
	} {
		s.objects[name] = change(bytes.Clone(whole))
		if _, err := readerAt(t, s, me, t.TempDir()).Pull(t.Context(), b.ID(), "s20"); !errors.Is(err, ErrBadCopy) {
			t.Errorf("changed %s: %v", what, err)
		}
	}
	s.objects[name] = whole
	for at := 2; at <= 4; at++ {
		n := 0
		s.before = func(string, string) error {
			if n++; n == at {
				return errCut
			}
			return nil
		}
		if _, err := readerAt(t, s, me, t.TempDir()).Pull(t.Context(), b.ID(), "s20"); !errors.Is(err, ErrBusy) || errors.Is(err, ErrBadCopy) {
			t.Errorf("request %d failed: %v", at, err)
		}
	}
	s.before = nil
	if _, err := readerAt(t, s, identity(t), t.TempDir()).Pull(t.Context(), b.ID(), "s20"); !errors.Is(err, ErrKey) {
		t.Errorf("another identity: %v", err)
	}
}

// TestPatience tries again after failures that may pass, and gives up on others.
func TestPatience(t *testing.T) {
	s, me := newMemory(), identity(t)
	quick := Patience{Tries: 4, Pause: time.Microsecond, Limit: time.Minute, Rate: 1 << 30}
	b := newBox(t, Patient(s, quick), me)
	b.grow("a", talk(1, 50_000))
	tried, done := 0, 0
	s.before = func(string, string) error {
		if tried++; tried%3 == 1 {
			return errCut
		}
		return nil
	}
	s.after = func(string, string) error {
		if done++; done%2 == 1 {
			return errCut
		}
		return nil
	}
	b.push()
	s.after, s.before = nil, nil
	b.same(readerAt(t, s, me, t.TempDir()))
	for _, fault := range []error{ErrDenied, ErrBusy} {
		b.grow("a", talk(2, 1000))
		clear(s.requests)
		s.before = func(string, string) error { return fault }
		if _, err := b.Push(t.Context()); !errors.Is(err, fault) || s.requests["put"] != map[error]int{ErrDenied: 1, ErrBusy: 4}[fault] {
			t.Errorf("%v: %v after %v", fault, err, s.requests)
		}
	}
	hang := Patient(hanging{s}, Patience{Tries: 2, Pause: time.Microsecond, Limit: time.Millisecond, Rate: 1 << 40})
	if _, _, err := hang.Get(t.Context(), "x", 0, -1); !errors.Is(err, ErrBusy) {
		t.Errorf("a request that hangs: %v", err)
	}
}

// hanging never answers.
type hanging struct{ Store }

func (hanging) Get(ctx context.Context, _ string, _, _ int64) ([]byte, string, error) {
	<-ctx.Done()
	return nil, "", ctx.Err()
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
	_, err = r.Pull(t.Context(), first, "")
	must(t, err)
	a, err := archive.Open(pulled.Archive(r.o.Dir, first), archive.Options{ReadOnly: true})
	must(t, err)
	if !bytes.Equal(read(t, a, "a", 0), whole) {
		t.Error("what was pushed before is lost")
	}
}

// TestKeys reads with a wrong identity, and with new ones after the recipients have changed.
func TestKeys(t *testing.T) {
	s, me, other := newMemory(), identity(t), identity(t)
	b := newBox(t, s, me)
	b.grow("a", talk(1, 50_000))
	b.push()
	dir := t.TempDir()
	if _, err := readerAt(t, s, other, dir).Pull(t.Context(), b.ID(), ""); !errors.Is(err, ErrKey) {
		t.Errorf("a wrong identity: %v", err)
	}
	b.same(readerAt(t, s, me, dir)) // nothing is spoiled by it
	b.reader = other
	b.start()
	b.push()
	if _, err := readerAt(t, s, other, t.TempDir()).Pull(t.Context(), b.ID(), ""); !errors.Is(err, ErrKey) {
		t.Errorf("the new identity before gc: %v", err)
	}
	if c, err := b.GC(t.Context(), GCOptions{All: true}); err != nil || c.Rewritten != 1 || c.Packs != 1 || len(c.Kept) > 0 {
		t.Fatalf("gc: %+v, %v", c, err)
	}
	b.same(readerAt(t, s, other, t.TempDir()))
	if _, err := readerAt(t, s, me, t.TempDir()).Pull(t.Context(), b.ID(), ""); !errors.Is(err, ErrKey) {
		t.Errorf("the old identity after gc: %v", err)
	}
	for name, data := range s.objects {
		if bytes.Contains(data, []byte("claude")) || bytes.Contains(data, []byte(label)) {
			t.Errorf("%s has plain text", name)
		}
	}
}

// careless ignores one of the conditions.
type careless struct {
	*memory
	match, none bool
}

func (c careless) Put(ctx context.Context, name string, data []byte, when Condition) (string, error) {
	if when.Tag != "" && c.match || when.Tag == "" && c.none {
		return "tag", nil
	}
	return c.memory.Put(ctx, name, data, when)
}

// TestBegin accepts a new store and one of this format, and refuses a newer one and one that ignores conditions.
func TestBegin(t *testing.T) {
	s := newMemory()
	for range 2 {
		must(t, Begin(t.Context(), s))
	}
	for _, c := range []careless{{memory: s, match: true}, {memory: s, none: true}} {
		if err := Begin(t.Context(), c); !errors.Is(err, ErrNoConditions) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	s.objects[formatName] = []byte(`{"ccd":2}`)
	if err := Begin(t.Context(), s); err == nil || !strings.Contains(err.Error(), "not format 1") {
		t.Errorf("a newer format: %v", err)
	}
	s.before = func(string, string) error { return ErrDenied }
	if err := Begin(t.Context(), s); !errors.Is(err, ErrDenied) {
		t.Errorf("without a right: %v", err)
	}
}
