package archive

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

const canary = "sk-canary-5f0e2b7791c04d"

// planted returns transcript lines with the canary in the given lines.
func planted(seed uint64, n int, lines ...int) []byte {
	all := bytes.SplitAfter(talk(seed, n), []byte("\n"))
	for _, i := range lines {
		all[i] = []byte(fmt.Sprintf(`{"type":"user","n":%d,"text":"the key is %s, keep it"}`+"\n", i, canary))
	}
	return slices.Concat(all...)
}

// starred returns data with the canary replaced, and as many bytes at the same place of another generation.
func starred(data []byte) []byte {
	stars := strings.Repeat("*", len(canary))
	data = bytes.ReplaceAll(data, []byte(canary), []byte(stars))
	return bytes.ReplaceAll(data, []byte(canary[:5]+"_"+canary[5:]), []byte(stars+canary[len(canary)-1:]))
}

func whatever(text string) Text { return Text{Bytes: []byte(text), To: len(text), Fill: '*'} }

// holding returns the files below dir that have the text: plain, in a zstd frame at any offset, or in a block, also of an
// earlier version.
func holding(t testing.TB, dir, text string) (files []string) {
	t.Helper()
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	must(t, err)
	defer dec.Close()
	entries, err := os.ReadDir(dir)
	must(t, err)
	c := newCodec()
	for _, e := range entries {
		b := testkit.Read(t, filepath.Join(dir, e.Name()))
		found := bytes.Contains(b, []byte(text))
		for at := 0; !found; at++ {
			n := bytes.Index(b[at:], []byte{0x28, 0xb5, 0x2f, 0xfd})
			if n < 0 {
				break
			}
			at += n
			raw, _ := dec.DecodeAll(b[at:min(len(b), at+maxFrame)], nil) // what was decoded before an error counts
			found = bytes.Contains(raw, []byte(text))
		}
		s := scan{f: bytes.NewReader(b), size: int64(len(b))}
		_ = s.each(t.Context(), func(e storedEntry) error { // fails for what is no archive
			if e.kind == kindBlock {
				env, packed, err := parseEnvelope(e.record)
				must(t, err)
				raw, err := c.decode(env.Len, packed)
				must(t, err)
				found = found || bytes.Contains(raw, []byte(text))
			}
			return nil
		}, func(int64, int64) {})
		if found {
			files = append(files, e.Name())
		}
	}
	return files
}

// forgetful is an archive with the canary in many places, alone in its directory.
type forgetful struct {
	dir  string
	a    *Archive
	want map[generationOf][]byte
	ids  []transcript.Pointer // of session "one"
}

// forgetfulMade is made once for all tests, each of which uses a copy.
var forgetfulMade struct {
	once sync.Once
	f    *forgetful
	file []byte
}

func newForgetful(t *testing.T) *forgetful {
	t.Helper()
	forgetfulMade.once.Do(func() {
		f := makeForgetful(t)
		file := testkit.Read(t, f.a.Path())
		forgetfulMade.f, forgetfulMade.file = f, file
	})
	if forgetfulMade.file == nil {
		t.Fatal("the archive could not be made, see the first test that wanted it")
	}
	f := &forgetful{dir: t.TempDir(), want: maps.Clone(forgetfulMade.f.want), ids: forgetfulMade.f.ids}
	path := filepath.Join(f.dir, "archive.db")
	must(t, os.WriteFile(path, forgetfulMade.file, 0o600))
	f.a = openAt(t, path, Options{})
	return f
}

func makeForgetful(t *testing.T) *forgetful {
	t.Helper()
	f := &forgetful{dir: t.TempDir(), want: map[generationOf][]byte{}}
	f.a = openAt(t, filepath.Join(f.dir, "archive.db"), Options{})
	r := rand.New(rand.NewPCG(3, 3))
	for name, data := range map[string][]byte{
		"one": planted(1, 900<<10, 2, 40, 41, 800), "small": planted(2, 20<<10, 7), "none": talk(3, 300<<10),
		"same": planted(1, 900<<10, 2, 40, 41, 800), "last": append(talk(4, 30<<10), "the tail has "+canary...),
	} {
		fill(t, f.a, session(name), 1, data, func() int { return 1 + r.IntN(200<<10) })
		f.want[generationOf{session(name).Key, 1}] = data
	}
	again := planted(9, 200<<10, 5)
	at := bytes.Index(again, []byte(canary)) + 5 // a change inside the text, then one that makes it whole again
	for gen := 1; gen <= 4; gen++ {
		fill(t, f.a, session("again"), gen, bytes.Clone(again), whole)
		f.want[generationOf{session("again").Key, gen}] = again
		if gen == 1 {
			again = slices.Concat(again[:at], []byte("_"), again[at:])
		} else if gen == 2 {
			again = slices.Concat(again[:at], again[at+1:], talk(11, 3000))
		}
	}
	one := f.want[generationOf{session("one").Key, 1}]
	at = bytes.Index(one, []byte(canary))
	f.ids = []transcript.Pointer{
		single(one, at, len(canary)), single(one, at-20, 100), single(one, 500_000, 900), ranged(one, 0, 64), ranged(one, 64, 128),
		listed(one, transcript.Span{Off: 0, Len: 10}, transcript.Span{Off: int64(at) + 3, Len: 4}),
	}
	must(t, f.a.Publish(t.Context(), Publication{
		Key: session("one").Key, At: transcript.Cursor{Generation: 1, Offset: int64(len(one))}, Pointers: f.ids,
		Replace: func() ([]byte, error) { return []byte("state with " + canary), nil },
	}))
	sound(t, f.a)
	return f
}

func (f *forgetful) forget(t *testing.T, r Removal) Removed {
	t.Helper()
	r.Reset = func([]byte) []byte { return []byte("reset") }
	done, err := f.a.Forget(t.Context(), r, nil)
	must(t, err)
	return done
}

// exact fails unless every generation is as wanted.
func (f *forgetful) exact(t *testing.T, a *Archive) {
	t.Helper()
	all, err := a.Sessions(t.Context())
	must(t, err)
	n := 0
	for _, s := range all {
		for _, g := range s.Generations {
			of := generationOf{s.Key, g.N}
			got, _, err := everything(a.Reader(s.Key, g.N))
			if n++; err != nil || !bytes.Equal(got, f.want[of]) {
				t.Errorf("session %s, generation %d: %d bytes instead of %d, %v", s.ID, g.N, len(got), len(f.want[of]), err)
			}
		}
	}
	if n != len(f.want) {
		t.Errorf("%d generations instead of %d", n, len(f.want))
	}
	sound(t, a)
}

func TestForgetText(t *testing.T) {
	t.Parallel()
	f := newForgetful(t)
	if got := holding(t, f.dir, canary); !slices.Equal(got, []string{"archive.db"}) {
		t.Fatalf("before: %q", got) // the control
	}
	input := mark.Sum([]byte("a text with " + canary))
	must(t, f.a.KeepSummary(t.Context(), input, Summary{Text: "it has " + canary}))
	_, err := f.a.Compact(t.Context(), Removal{}, nil)
	must(t, err)
	if kept, _, err := f.a.Summaries(t.Context())(input); err != nil || kept == "" {
		t.Errorf("a summary after a collection: %q, %v", kept, err)
	}
	preview, err := f.a.Preview(t.Context(), Removal{Texts: []Text{whatever(canary)}}, nil)
	must(t, err)
	done := f.forget(t, Removal{Texts: []Text{whatever(canary)}})
	if preview.Places != done.Places || !slices.Equal(preview.Touched, done.Touched) || done.Places != 14 || len(done.IDs) != 4 {
		t.Errorf("%+v, %+v", preview, done)
	}
	for of, data := range f.want {
		f.want[of] = starred(data)
	}
	f.exact(t, f.a)
	if got := holding(t, f.dir, canary); len(got) > 0 {
		t.Errorf("still in %q", got)
	}
	for i, p := range f.ids {
		found, err := f.a.Lookup(t.Context(), p.Hash.ID())
		must(t, err)
		if kept := i == 2 || i == 4; len(found) == 1 != kept {
			t.Errorf("id %d: %d found", i, len(found))
		}
	}
	if kept, _, err := f.a.Summaries(t.Context())(input); err != nil || kept != "" {
		t.Errorf("a summary after a forget: %q, %v", kept, err)
	}
	if s, err := f.a.Session(t.Context(), session("one").Key); err != nil || string(s.State) != "reset" {
		t.Errorf("state %q, %v", s.State, err)
	}
	if _, err := f.a.Forget(t.Context(), Removal{Texts: []Text{whatever("nowhere-5512")}}, nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("a text that stands nowhere: %v", err)
	}
	must(t, os.Remove(tombstonesPath(f.a.Path())))
	must(t, openAt(t, f.a.Path(), Options{}).Append(t.Context(), session("new"), segment(1, 0, []byte("fine\n"))))
}

// What was forgotten does not come back from its transcript, whoever stores it; the same text elsewhere is another place.
func TestForgottenStaysAway(t *testing.T) {
	t.Parallel()
	f := newForgetful(t)
	was := maps.Clone(f.want)
	file := filepath.Join(t.TempDir(), "backup")
	backup(t, f.a, file)
	f.forget(t, Removal{Texts: []Text{whatever(canary)}, Sessions: []transcript.Key{session("small").Key}})
	for of, data := range f.want {
		f.want[of] = starred(data)
	}
	small, one := generationOf{session("small").Key, 1}, generationOf{session("one").Key, 1}
	delete(f.want, small)

	// The same transcript again, as a new generation that begins alike, and in portions that cut the text.
	other := openAt(t, f.a.Path(), Options{})
	fill(t, other, session("one"), 2, bytes.Clone(was[one]), whole)
	fill(t, other, session("one"), 3, bytes.Clone(was[one]), func() int { return 1 + len(canary)/2 + len(was[one])/100 })
	at := bytes.Index(was[one], []byte(canary)) + 9
	must(t, other.Append(t.Context(), session("one"), segment(4, 0, bytes.Clone(was[one][:at]))))
	must(t, other.Append(t.Context(), session("one"), segment(4, int64(at), bytes.Clone(was[one][at:]))))
	for gen := 2; gen <= 4; gen++ {
		f.want[generationOf{one.Key, gen}] = f.want[one]
	}
	stale, err := other.Save(t.Context(), []Addition{{session("last"), segment(2, 0, bytes.Clone(was[generationOf{session("last").Key, 1}]))}}, nil)
	must(t, err)
	if len(stale) != 1 {
		t.Errorf("a batch from which a text was left out is not said to be stale")
	}
	f.want[generationOf{session("last").Key, 2}] = f.want[generationOf{session("last").Key, 1}]
	if err := other.Append(t.Context(), session("small"), segment(1, 0, was[small])); !errors.Is(err, ErrForgotten) {
		t.Errorf("a forgotten session is stored again: %v", err)
	}
	child := session("child")
	child.Parent = "small"
	if err := other.Append(t.Context(), child, segment(1, 0, []byte("x\n"))); !errors.Is(err, ErrForgotten) || !other.Forgets(child) {
		t.Errorf("a file of a forgotten session is stored: %v", err)
	}
	filler := other.Filler(one.Key)
	if again := bytes.Clone(was[one]); !filler.Mask(again) || !bytes.Equal(again, f.want[one]) {
		t.Error("a filler leaves the text in the transcript")
	}

	// An import of an earlier backup, twice.
	for range 2 {
		im, err := other.Import(t.Context(), file, nil)
		must(t, err)
		if im.Sessions > 0 || len(im.Renamed) > 0 || im.Bytes > 0 || im.Pointers > 0 {
			t.Errorf("imported: %+v", im)
		}
	}
	f.exact(t, other)

	// A rebuild, which takes damaged blocks from the transcript.
	b := []byte(bytesOf(t, other.Path()))
	for at := 0; ; at += 100 << 10 {
		n := bytes.Index(b[min(at, len(b)):], []byte(magic+"B"))
		if at += n; n < 0 {
			break
		}
		b[at+60] ^= 1
	}
	must(t, os.WriteFile(other.Path(), b, 0o600))
	done, err := other.Repair(t.Context(), inPieces(func(s transcript.Session, g Generation) []byte {
		if text, ok := was[generationOf{s.Key, g.N}]; ok {
			return text
		}
		return was[generationOf{s.Key, 1}]
	}), nil)
	must(t, err)
	if done.Bytes == 0 {
		t.Error("nothing was damaged: the test sees nothing")
	}
	f.exact(t, other)

	// A second forget erases the file that was set aside.
	_, err = other.Forget(t.Context(), Removal{Texts: []Text{whatever("goroutine")}}, nil)
	must(t, err)
	for of, data := range f.want {
		f.want[of] = bytes.ReplaceAll(data, []byte("goroutine"), []byte("*********"))
	}
	if _, err := os.Stat(done.Aside); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the damaged file is still there: %v", err)
	}
	f.exact(t, other)
	fill(t, other, session("one"), 5, bytes.Clone(was[one]), whole) // the tombstones of the first forget follow the second
	f.want[generationOf{one.Key, 5}] = f.want[one]
	f.exact(t, other)
	if got := holding(t, f.dir, canary); len(got) > 0 {
		t.Errorf("back in %q", got)
	}

	// What is pasted elsewhere is archived as it is.
	fill(t, other, session("fresh"), 1, bytes.Clone(was[one]), whole)
	if got, _, err := everything(other.Reader(session("fresh").Key, 1)); err != nil || !bytes.Equal(got, was[one]) {
		t.Errorf("another session was changed, %v", err)
	}
	if got := holding(t, filepath.Dir(file), canary); len(got) != 1 { // the control
		t.Errorf("the backup was changed: %q", got)
	}
}

// Hard links of the old file keep what was forgotten, and Forget says so.
func TestForgetCountsHardLinks(t *testing.T) {
	t.Parallel()
	f := newForgetful(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Link(f.a.Path(), link); err != nil {
		t.Skip("no hard links here:", err)
	}
	if done := f.forget(t, Removal{Texts: []Text{whatever(canary)}}); done.Links != 1 {
		t.Errorf("%d links", done.Links)
	}
	if got := holding(t, filepath.Dir(link), canary); len(got) != 1 {
		t.Errorf("the link was changed: %q", got)
	}
}

// A rewrite that is interrupted ends at once and leaves the old archive and no other file. What it has noted of what is forgotten is
// there once, however often it is run.
func TestInterruptedRewrite(t *testing.T) {
	t.Parallel()
	f := newForgetful(t)
	noted := int64(0)
	for _, at := range []int64{0, 250, 450, 550, 800, 900} {
		for what, rewrite := range map[string]func(context.Context, Removal, Progress) (Removed, error){"forget": f.a.Forget, "compact": f.a.Compact} {
			ctx, cancel := context.WithCancel(t.Context())
			later := 0
			_, err := rewrite(ctx, Removal{Texts: []Text{whatever(canary)}}, func(done, _ int64) {
				if ctx.Err() != nil {
					later++
				} else if done >= at {
					cancel()
				}
			})
			cancel()
			if !errors.Is(err, context.Canceled) || later > 4 { // a few entries are looked up together
				t.Errorf("%s, interrupted at %d: goes on %d times, %v", what, at, later, err)
			}
			if info, err := os.Stat(tombstonesPath(f.a.Path())); err == nil {
				if noted == 0 {
					noted = info.Size()
				} else if noted != info.Size() {
					t.Errorf("%s, interrupted at %d: %d bytes of tombstones, %d before", what, at, info.Size(), noted)
				}
			}
		}
	}
	f.exact(t, f.a)
	alone(t, f.dir, "archive.db", "archive.db.forgotten", "archive.lock")
	if noted == 0 {
		t.Error("no tombstones")
	}
}

// Nothing in the archive, or in the file of tombstones, is a hash of a forgotten text or of bytes with it.
func TestTombstonesTellNothing(t *testing.T) {
	t.Parallel()
	a := open(t)
	line := []byte("pin 4711\nmore\n")
	seg := segment(1, 0, bytes.Clone(line))
	seg.End.Back.N = seg.End.Offset
	must(t, a.Append(t.Context(), session("s"), seg))
	must(t, a.Publish(t.Context(), Publication{
		Key: session("s").Key, At: transcript.Cursor{Generation: 1, Offset: int64(len(line))},
		Pointers: []transcript.Pointer{single(line, 4, 4)},
	}))
	sums := map[string]mark.Hash{"text": mark.Sum([]byte("4711")), "generation": mark.Sum(line), "fingerprint": seg.End.Back.Sum}
	count := func(name string) (n int) {
		sum := sums[name]
		for _, path := range []string{a.Path(), tombstonesPath(a.Path())} {
			b, _ := os.ReadFile(path)
			n += bytes.Count(b, sum[:8]) + bytes.Count(b, []byte(base64.StdEncoding.EncodeToString(sum[:])))
		}
		return n
	}
	if count("text") == 0 || count("fingerprint") == 0 {
		t.Fatal("before: the test sees nothing")
	}
	_, err := a.Forget(t.Context(), Removal{Texts: []Text{whatever("4711")}}, nil)
	must(t, err)
	for name := range sums {
		if count(name) > 0 {
			t.Errorf("the archive has the hash of the %s", name)
		}
	}
}

// TestForgetKilled: a kill at any moment leaves the old archive or the new one, and a second try ends it.
func TestForgetKilled(t *testing.T) {
	t.Parallel()
	f := newForgetful(t)
	good := testkit.Read(t, f.a.Path())
	r := rand.New(rand.NewPCG(5, uint64(time.Now().UnixNano())))
	was := map[generationOf][]byte{}
	for of, data := range f.want {
		was[of] = data
	}
	old, fresh := 0, 0
	for i := range testkit.Cases(t, 2, 40) {
		must(t, os.WriteFile(f.a.Path(), good, 0o600))
		c, _ := start(t, "forget:"+canary, f.a.Path(), i)
		time.AfterFunc(time.Duration(r.IntN(400_000))*time.Microsecond, func() { _ = c.Process.Kill() })
		_ = c.Wait()
		a := openAt(t, f.a.Path(), Options{})
		f.want = was
		if len(holding(t, f.dir, canary)) == 0 {
			fresh++
		} else if old++; true {
			f.exact(t, a)
			_, err := a.Forget(t.Context(), Removal{Texts: []Text{whatever(canary)}}, nil)
			must(t, err)
		}
		f.want = map[generationOf][]byte{}
		for of, data := range was {
			f.want[of] = starred(data)
		}
		f.exact(t, a)
		if got := holding(t, f.dir, canary); len(got) > 0 {
			t.Fatalf("round %d: still in %q", i, got)
		}
	}
	t.Logf("%d kills: %d before, %d after", old+fresh, old, fresh)
}

// A reader and an append that have begun before the file was replaced give right bytes or an error.
func TestReadWhileReplaced(t *testing.T) {
	t.Parallel()
	f := newForgetful(t)
	one := generationOf{session("one").Key, 1}
	var got []byte
	n := 0
	r := f.a.Reader(one.Key, 1)
	_, err := r.generation(t.Context())
	must(t, err)
	for p, err := range r.portions(t.Context(), 0, int64(len(f.want[one]))) {
		must(t, err)
		if got = append(got, p.data...); n == 0 {
			other := openAt(t, f.a.Path(), Options{})
			_, err := other.Compact(t.Context(), Removal{Sessions: []transcript.Key{session("again").Key, session("last").Key}}, nil)
			must(t, err)
		}
		n++
	}
	if n < 2 || !bytes.Equal(got, f.want[one]) {
		t.Errorf("%d portions, %d bytes instead of %d", n, len(got), len(f.want[one]))
	}
	plans, err := f.a.plans(t.Context(), Addition{session("one"), segment(1, int64(len(got)), []byte("x\n"))})
	must(t, err)
	_, err = openAt(t, f.a.Path(), Options{}).Compact(t.Context(), Removal{}, nil)
	must(t, err)
	if err := f.a.update(t.Context(), 0, plans[0].commit); !errors.Is(err, ErrStale) {
		t.Errorf("an append that was planned on another file: %v", err)
	}
	sound(t, f.a)
}

// Texts that overlap an earlier one go too.
func TestForgetOverlapping(t *testing.T) {
	t.Parallel()
	a := open(t)
	must(t, a.Append(t.Context(), session("s"), segment(1, 0, []byte("x ZZabcd1234YYmore x\n"))))
	for _, text := range []string{"abcd1234", "ZZ********YYmore"} {
		_, err := a.Forget(t.Context(), Removal{Texts: []Text{whatever(text)}}, nil)
		must(t, err)
	}
	must(t, a.Append(t.Context(), session("s"), segment(2, 0, []byte("x ZZabcd1234YYmore x\n"))))
	for gen := 1; gen <= 2; gen++ {
		if got, _, err := everything(a.Reader(session("s").Key, gen)); err != nil || string(got) != "x "+strings.Repeat("*", 16)+" x\n" {
			t.Errorf("generation %d: %q, %v", gen, got, err)
		}
	}
}

// An import that a forget overtakes begins again.
func TestImportBesideAForget(t *testing.T) {
	t.Parallel()
	f := newForgetful(t)
	file := filepath.Join(t.TempDir(), "backup")
	backup(t, f.a, file)
	other := openAt(t, filepath.Join(t.TempDir(), "archive.db"), Options{})
	must(t, other.Append(t.Context(), session("mine"), segment(1, 0, []byte("mine has "+canary+"\n"))))
	once := false
	_, err := other.Import(t.Context(), file, func(int64, int64) {
		if !once {
			once = true
			_, err := openAt(t, other.Path(), Options{}).Forget(t.Context(), Removal{Texts: []Text{whatever(canary)}}, nil)
			must(t, err)
		}
	})
	must(t, err)
	f.want[generationOf{session("mine").Key, 1}] = starred([]byte("mine has " + canary + "\n")) // the others are other places
	f.exact(t, other)
}

// TestRandomRemovals mixes forgets, compactions, imports and damage: what is left stays exact, and what was forgotten
// stays away.
func TestRandomRemovals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(17, uint64(time.Now().UnixNano())))
	f := &forgetful{dir: t.TempDir(), want: map[generationOf][]byte{}}
	f.a = openAt(t, filepath.Join(f.dir, "archive.db"), Options{})
	secrets := map[string]bool{} // whether it was forgotten
	for i := range 300 {
		secrets[fmt.Sprintf("secret-%03d-%016x", i, r.Uint64())] = false
	}
	pick := func(forgotten bool) (text string) {
		for text, is := range secrets {
			if is == forgotten {
				return text
			}
		}
		return ""
	}
	was := map[generationOf][]byte{} // the transcripts
	some := func() (of generationOf) {
		for of = range f.want {
			break
		}
		return of
	}
	made := 0
	add := func() {
		made++
		var text bytes.Buffer
		for _, line := range bytes.SplitAfter(talk(r.Uint64(), 2000+r.IntN(400_000)), []byte("\n")) {
			if text.Write(line); r.IntN(20) == 0 {
				fmt.Fprintf(&text, "{%q:%q}\n", pick(false), pick(true)) // a forgotten one is another place now
			}
		}
		of := generationOf{session(fmt.Sprint("s", made)).Key, 1}
		fill(t, f.a, session(of.ID), 1, bytes.Clone(text.Bytes()), whole)
		f.want[of], was[of] = bytes.Clone(text.Bytes()), bytes.Clone(text.Bytes())
	}
	restore := func() { // what damage took, from the transcripts
		r, err := f.a.Repair(t.Context(), inPieces(func(s transcript.Session, g Generation) []byte { return was[generationOf{s.Key, g.N}] }), nil)
		must(t, err)
		if r.Aside != "" { // else no page in use was met
			must(t, os.Remove(r.Aside))
		}
		all, err := f.a.Sessions(t.Context())
		must(t, err)
		have := map[transcript.Key]int64{}
		for _, s := range all {
			have[s.Key] = s.Tip().Offset
		}
		for of := range f.want {
			must(t, f.a.Append(t.Context(), session(of.ID), segment(1, have[of.Key], bytes.Clone(was[of][have[of.Key]:]))))
		}
	}
	add()
	done := map[string]int{}
	operations := testkit.Cases(t, 8, 60)
	for range operations {
		what := []string{"add", "add", "add", "forget", "forget", "session", "compact", "import", "damage"}[r.IntN(9)]
		done[what]++
		switch what {
		case "add":
			add()
		case "forget":
			text := pick(false)
			if text == "" {
				continue
			}
			_, err := f.a.Forget(t.Context(), Removal{Texts: []Text{whatever(text)}}, nil)
			if errors.Is(err, ErrNotFound) { // it stood nowhere
				continue
			}
			must(t, err)
			secrets[text] = true
			for of, data := range f.want {
				f.want[of] = bytes.ReplaceAll(data, []byte(text), bytes.Repeat([]byte("*"), len(text)))
			}
		case "session":
			if of := some(); len(f.want) > 1 {
				_, err := f.a.Forget(t.Context(), Removal{Sessions: []transcript.Key{of.Key}}, nil)
				must(t, err)
				delete(f.want, of)
			}
		case "compact":
			if of := some(); len(f.want) > 3 {
				_, err := f.a.Compact(t.Context(), Removal{Sessions: []transcript.Key{of.Key}}, nil)
				must(t, err)
				delete(f.want, of)
			}
		case "import":
			file := filepath.Join(t.TempDir(), "backup")
			backup(t, f.a, file)
			if of := some(); len(f.want) > 1 {
				_, err := f.a.Compact(t.Context(), Removal{Sessions: []transcript.Key{of.Key}}, nil)
				must(t, err)
			}
			_, err := f.a.Import(t.Context(), file, nil)
			must(t, err)
		case "damage":
			b := testkit.Read(t, f.a.Path())
			for range 3 {
				b[8192+r.IntN(len(b)-8192)] ^= 1 << r.IntN(8)
			}
			must(t, os.WriteFile(f.a.Path(), b, 0o600))
			f.a = openAt(t, f.a.Path(), Options{})
			restore()
		}
	}
	f.exact(t, f.a)
	t.Logf("%d operations: %v; %d sessions left", operations, done, len(f.want))
}
