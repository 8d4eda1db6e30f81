package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// rotten is an archive for a test that damages it, and what it should give back.
type rotten struct {
	path     string
	data     [][]byte
	pointers []transcript.Pointer // of session 0
	again    [][]byte             // generations of a session that was rewritten
}

// rottenMade is made once for all tests, each of which damages a copy.
var rottenMade struct {
	once sync.Once
	ro   rotten
	file []byte
}

func newRotten(t *testing.T) rotten {
	t.Helper()
	rottenMade.once.Do(func() {
		ro := makeRotten(t, filepath.Join(t.TempDir(), "archive.db"))
		file := testkit.Read(t, ro.path)
		rottenMade.ro, rottenMade.file = ro, file
	})
	if rottenMade.file == nil {
		t.Fatal("the archive could not be made, see the first test that wanted it")
	}
	ro := rottenMade.ro
	ro.path = filepath.Join(t.TempDir(), "archive.db")
	must(t, os.WriteFile(ro.path, rottenMade.file, 0o600))
	return ro
}

func makeRotten(t *testing.T, path string) rotten {
	t.Helper()
	ro := rotten{path: path}
	a := openAt(t, path, Options{})
	r := rand.New(rand.NewPCG(8, 8))
	for i := range 3 {
		data := talk(uint64(50+i), 400<<10)
		ro.data = append(ro.data, data)
		fill(t, a, session(fmt.Sprint("r", i)), 1, data, func() int { return 1 + r.IntN(150<<10) })
	}
	again := talk(90, 300<<10)
	for gen := 1; gen <= 4; gen++ {
		fill(t, a, session("again"), gen, again, whole)
		ro.again = append(ro.again, again)
		again = slices.Concat(again[:1000], talk(uint64(90+gen), 2000), again[1000:])
	}
	for i := range 8 {
		ro.pointers = append(ro.pointers, single(ro.data[0], i*50_000, 1000))
	}
	ro.pointers = append(ro.pointers, ranged(ro.data[0], 3, 60))
	err := a.Publish(context.Background(), Publication{
		Key: session("r0").Key, At: transcript.Cursor{Generation: 1, Offset: int64(len(ro.data[0]))}, Pointers: ro.pointers,
		Replace: func() ([]byte, error) { return []byte("state"), nil },
	})
	must(t, err)
	sound(t, a)
	return ro
}

// outcome counts what reads of a damaged archive gave.
type outcome struct{ right, refused, wrong int }

func (o *outcome) add(ok bool, err error) {
	switch {
	case err != nil:
		o.refused++
	case ok:
		o.right++
	default:
		o.wrong++
	}
}

// check reads everything out of a damaged archive.
func (ro rotten) check(a *Archive) (o outcome) {
	ctx := context.Background()
	for i, want := range ro.data {
		k := session(fmt.Sprint("r", i)).Key
		got, _, err := everything(a.Reader(k, 1))
		o.add(bytes.Equal(got, want), err)
		got, err = a.Reader(k, 1).Span(ctx, transcript.Span{Off: 7, Len: 350_000})
		o.add(bytes.Equal(got, want[7:350_007]), err)
		s, err := a.Session(ctx, k)
		if err == nil && s.Generations[0].Sum != mark.Sum(want) {
			err = s.Lost
		}
		o.add(err == nil && s.Tip().Offset == int64(len(want)) && s.Generations[0].Sum == mark.Sum(want), err)
	}
	for i, want := range ro.again {
		r := a.Reader(session("again").Key, i+1)
		got, _, err := everything(r)
		o.add(bytes.Equal(got, want), err)
		got, err = r.Span(ctx, transcript.Span{Off: 500, Len: 9000})
		o.add(bytes.Equal(got, want[500:9500]), err)
	}
	for _, p := range ro.pointers {
		found, err := a.Lookup(ctx, p.Hash.ID())
		if err == nil && len(found) == 0 {
			err = ErrNotFound
		}
		if err != nil {
			o.add(false, err)
			continue
		}
		var got []byte
		for piece, rawErr := range a.Raw(ctx, found[0]) {
			got = append(got, piece.Data...)
			err = rawErr
		}
		span := p.Parts[0].Span
		o.add(bytes.Equal(got, ro.data[0][span.Off:span.End()]), err)
	}
	return o
}

// flips yields where a bit is flipped while the body of the loop runs, half of them where bbolt keeps its pages together.
// Whatever the body does to the file, it is sound again at the next flip and after the loop.
func (ro rotten) flips(t *testing.T) iter.Seq[int64] {
	r := rand.New(rand.NewPCG(testkit.Seed(), 77))
	return func(yield func(at int64) bool) {
		good := testkit.Read(t, ro.path)
		for i, more := 0, true; more; i++ {
			at := r.Int64N(int64(len(good)))
			if i%2 == 0 {
				at = at&^4095 | r.Int64N(96)
			}
			bad := bytes.Clone(good)
			bad[at] ^= 1 << r.IntN(8)
			must(t, os.WriteFile(ro.path, bad, 0o600))
			more = yield(at)
			must(t, os.WriteFile(ro.path, good, 0o600))
		}
	}
}

// Whatever bit is flipped, nothing wrong is given out, and what is sound is given. Verify sees what is refused, and
// meets no error that is no damage.
func TestFlippedBitsAreNeverServed(t *testing.T) {
	t.Parallel()
	ro := newRotten(t)
	var sum outcome
	n, damaged, gaps, rests := 0, 0, 0, 0
	least := testkit.Cases(t, 4, 600)
	for at := range ro.flips(t) {
		n++
		a := openAt(t, ro.path, Options{})
		o := ro.check(a)
		if o.wrong > 0 {
			t.Errorf("a flipped bit at %d: %d wrong answers", at, o.wrong)
		}
		if o.refused > 0 {
			damaged++
		}
		g, r := ro.pastDamage(t, a, at)
		gaps, rests = gaps+g, rests+r
		report, err := a.Verify(t.Context(), nil)
		if o.refused > 0 && err == nil && len(report.Damage) == 0 {
			t.Errorf("a flipped bit at %d: %d refused, and Verify sees nothing", at, o.refused)
		}
		sum.right += o.right
		sum.refused += o.refused
		if seen := damaged > 0 && gaps > 0 && rests > 0; n >= least && (seen || n >= 1000) {
			break
		}
	}
	t.Logf("%d flips, %d of them met: %d right answers, %d refused, 0 wrong", n, damaged, sum.right, sum.refused)
	if damaged == 0 || gaps == 0 || rests == 0 {
		t.Errorf("%d flips were met, %d gaps and %d sound segments behind one: the test sees nothing", damaged, gaps, rests)
	}
	if o := ro.check(openAt(t, ro.path, Options{})); o.refused+o.wrong > 0 {
		t.Errorf("after all was mended: %+v", o)
	}
}

// pastDamage reads from both ends what is not damaged. It fails the test unless each byte is given in its place or told to
// be damaged. It counts the gaps, and the segments behind one.
func (ro rotten) pastDamage(t *testing.T, a *Archive, at int64) (gaps, rests int) {
	t.Helper()
	for i, want := range ro.data {
		gap := false
		look := func(seg transcript.Segment, err error, in bool) (known bool) {
			if err != nil && !errors.As(err, new(*DamageError)) {
				t.Fatalf("a flipped bit at %d: %v", at, err)
			}
			if err != nil && seg.End.Offset == 0 {
				return false // nothing is known of this generation
			}
			from, to := seg.Start.Offset, seg.End.Offset
			if !in || err == nil && !bytes.Equal(seg.Data, want[from:to]) {
				t.Fatalf("a flipped bit at %d: bytes %d to %d are wrong or in the wrong place", at, from, to)
			}
			if err != nil {
				gap = true
				gaps++
			} else if gap && len(seg.Data) > 0 {
				rests++
			}
			return true
		}
		k, next := session(fmt.Sprint("r", i)).Key, int64(0)
		for seg, err := range a.Reader(k, 1).SegmentsPastDamage(t.Context()) {
			if !look(seg, err, seg.Start.Offset == next) {
				break
			}
			if next = seg.End.Offset; next == int64(len(want)) && seg.Rest {
				break
			}
		}
	}
	return gaps, rests
}

// Blocks that are intact and in the wrong order are found by the hash of the generation, before the last bytes are given.
func TestBlocksInTheWrongOrder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "archive.db")
	a := openAt(t, path, Options{})
	data := bytes.ReplaceAll(noise(1, 4<<20), []byte("\n"), []byte("x")) // one line: frames of maxFrame
	must(t, a.Append(t.Context(), session("s"), segment(1, 0, data)))
	must(t, a.update(t.Context(), 0, func(tx *bolt.Tx) error {
		s := generationOf{session("s").Key, 1}
		g, err := getGeneration(tx, s)
		must(t, err)
		one, two := &g.Blocks[0], &g.Blocks[1]
		if one.Len != two.Len {
			t.Fatalf("%d and %d bytes", one.Len, two.Len)
		}
		one.ID, two.ID = two.ID, one.ID
		return putGeneration(tx, s, g)
	}))
	if got, _, err := everything(a.Reader(session("s").Key, 1)); !errors.As(err, new(*DamageError)) || len(got) == 4<<20 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if r, err := a.Verify(t.Context(), nil); err != nil || len(r.Damage) != 1 {
		t.Errorf("Verify: %v, %v", r.Damage, err)
	}
}

func TestFlipTestSeesWrongBytes(t *testing.T) {
	t.Parallel()
	ro := newRotten(t)
	good := testkit.Read(t, ro.path)
	for _, block := range packedBlocks(good, "r1") {
		for at := block; at < min(block+1000, len(good)); at += 37 { // zstd decodes some of them to other bytes
			bad := bytes.Clone(good)
			bad[at] ^= 1
			must(t, os.WriteFile(ro.path, bad, 0o600))
			a := openAt(t, ro.path, Options{})
			a.unchecked = true
			_, err := a.Reader(session("r1").Key, 1).Span(t.Context(), transcript.Span{Len: int64(len(ro.data[1]))})
			if err == nil && ro.check(a).wrong > 0 {
				return
			}
		}
	}
	t.Error("without hashes no flip gave wrong bytes: the test cannot see them")
}

// packedBlocks returns where the packed bytes of a session are in the file, of blocks in use and of earlier ones. Its
// last one is in use.
func packedBlocks(file []byte, session string) (all []int) {
	for at := 0; ; {
		n := bytes.Index(file[at:], []byte(session+"\x00\x01")) // an envelope; the zstd frame is after it
		if n < 0 {
			return all
		}
		at += n + 4
		if n := bytes.Index(file[at:], []byte("\x28\xb5\x2f\xfd")); n >= 0 {
			all = append(all, at+n+20)
		}
	}
}

// Writing to a damaged archive gives an error or works; what was sound stays so.
func TestWritesToADamagedArchive(t *testing.T) {
	t.Parallel()
	ro := newRotten(t)
	more := talk(60, 400<<10)
	bigger := ro
	bigger.data = slices.Clone(ro.data)
	bigger.data[1] = slices.Concat(ro.data[1], more)
	n, failed := 0, 0
	most := testkit.Cases(t, 3, 300)
	for at := range ro.flips(t) {
		a, now := openAt(t, ro.path, Options{}), bigger
		if err := a.Append(t.Context(), session("r1"), segment(1, int64(len(ro.data[1])), more)); err != nil {
			failed++
			now = ro
			if s, err := a.Session(t.Context(), session("r1").Key); err == nil && s.Tip().Offset > int64(len(ro.data[1])) {
				t.Errorf("a flipped bit at %d: Append failed and has appended", at)
			}
		}
		if o := now.check(openAt(t, ro.path, Options{})); o.wrong > 0 {
			t.Errorf("a flipped bit at %d, then a write: %d wrong answers", at, o.wrong)
		}
		if n++; n == most {
			break
		}
	}
	t.Logf("%d writes went through, %d failed", n-failed, failed)
}

func FuzzUnpack(f *testing.F) {
	a := openAt(f, filepath.Join(f.TempDir(), "archive.db"), Options{})
	for _, raw := range [][]byte{nil, []byte("x"), talk(1, 2000), noise(1, 300)} {
		packed, err := a.codec.pack(raw)
		must(f, err)
		f.Add(envelope{generationOf: generationOf{session("s").Key, 1}, Len: int64(len(raw)), Sum: mark.Sum(raw)}.enclose(packed), int64(len(raw)))
	}
	f.Fuzz(func(t *testing.T, record []byte, n int64) {
		raw, err := a.unpack(block{Len: n, ID: 1}, seal(kindBlock, 1, blockKey(1), record))
		if e, _, bad := parseEnvelope(record); err == nil && (bad != nil || mark.Sum(raw) != e.Sum) {
			t.Fatalf("%d bytes passed", len(raw))
		}
	})
}

func FuzzPointer(f *testing.F) {
	data := talk(1, 9000)
	for _, p := range []transcript.Pointer{single(data, 1, 2), ranged(data, 0, 2), listed(data, transcript.Span{Off: 9, Len: 3}, transcript.Span{Off: 2, Len: 1})} {
		f.Add(pointerKey(p), encodePointer(session("s").Key, 2, p))
	}
	f.Fuzz(func(t *testing.T, key, record []byte) {
		p, err := decodePointer(key, record)
		if err != nil {
			return
		}
		again, err := decodePointer(pointerKey(p.Pointer), encodePointer(p.Key, p.Generation, p.Pointer))
		if err != nil || fmt.Sprint(again) != fmt.Sprint(p) {
			t.Fatalf("%v, %v; want %v", again, err, p)
		}
	})
}
