package archive

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// rotten is an archive for a test that damages it, and what it should give back.
type rotten struct {
	path     string
	data     [][]byte
	pointers []transcript.Pointer // of session 0
	again    [][]byte             // generations of a session that was rewritten
}

func newRotten(t *testing.T) rotten {
	t.Helper()
	ro := rotten{path: filepath.Join(t.TempDir(), "archive.db")}
	a := openAt(t, ro.path, Options{})
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
	if err != nil {
		t.Fatal(err)
	}
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
		off := 200_000 + 7*i
		got, err = a.Reader(k, 1).Span(ctx, transcript.Span{Off: int64(off), Len: 5000})
		o.add(bytes.Equal(got, want[off:off+5000]), err)
		s, err := a.Session(ctx, k)
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
		found, err := a.Lookup(ctx, string(p.Hash.ID()))
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

// flips runs fn for n single flipped bits, half of them where bbolt keeps its pages together.
func (ro rotten) flips(t *testing.T, n int, fn func(at int64)) {
	t.Helper()
	f, err := os.OpenFile(ro.path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(77, uint64(n)))
	for i := range n {
		at := r.Int64N(info.Size())
		if i%2 == 0 {
			at = at&^4095 | r.Int64N(96)
		}
		var b [1]byte
		if _, err := f.ReadAt(b[:], at); err != nil {
			t.Fatal(err)
		}
		flipped := b[0] ^ 1<<r.IntN(8)
		if _, err := f.WriteAt([]byte{flipped}, at); err != nil {
			t.Fatal(err)
		}
		fn(at)
		if _, err := f.WriteAt(b[:], at); err != nil {
			t.Fatal(err)
		}
	}
}

// testCount is how often a test tries, as the variable says in the environment.
func testCount(variable string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	return otherwise
}

func flipCount() int {
	if testing.Short() {
		return testCount("ARCHIVE_TEST_FLIPS", 60)
	}
	return testCount("ARCHIVE_TEST_FLIPS", 100)
}

func TestFlippedBitsAreNeverServed(t *testing.T) {
	ro := newRotten(t)
	var sum outcome
	damaged := 0
	ro.flips(t, flipCount(), func(at int64) {
		a := openAt(t, ro.path, Options{})
		o := ro.check(a)
		if o.wrong > 0 {
			t.Errorf("a flipped bit at %d: %d wrong answers", at, o.wrong)
		}
		if o.refused > 0 {
			damaged++
		}
		ro.checkStored(t, a, at)
		r, err := a.Verify(context.Background(), nil)
		if o.refused > 0 && err == nil && len(r.Damage) == 0 {
			t.Errorf("a flipped bit at %d: %d refused, and Verify sees nothing", at, o.refused)
		}
		sum.right += o.right
		sum.refused += o.refused
	})
	t.Logf("%d flips, %d of them met: %d right answers, %d refused, 0 wrong", flipCount(), damaged, sum.right, sum.refused)
	if damaged == 0 {
		t.Error("no flip was met: the test sees nothing")
	}
	if o := ro.check(openAt(t, ro.path, Options{})); o.refused+o.wrong > 0 {
		t.Errorf("after all was mended: %+v", o)
	}
}

// checkStored fails the test unless CheckStored says of each original what decoding and hashing it says.
func (ro rotten) checkStored(t *testing.T, a *Archive, at int64) {
	t.Helper()
	var all []Found
	for _, p := range ro.pointers {
		all = append(all, Found{Pointer: p, Key: session("r0").Key, Generation: 1})
	}
	bad, _, err := a.CheckStored(t.Context(), all, math.MaxInt64)
	for _, f := range all {
		decoded := a.Reader(f.Key, 1).CheckPointer(t.Context(), f.Pointer)
		said := slices.ContainsFunc(bad, func(o Found) bool { return o.Hash == f.Hash })
		if errors.As(decoded, new(*DamageError)) != said {
			t.Errorf("a flipped bit at %d: decoding gives %v, CheckStored %v, %v", at, decoded, said, err)
		}
	}
}

// A checksum finds each flipped bit of a block, and a block that is another one's.
func TestChecksum(t *testing.T) {
	a := openAt(t, filepath.Join(t.TempDir(), "archive.db"), Options{})
	raw := talk(1, 3000)
	sum := mark.Sum(raw)
	stored := a.pack(raw, envelope{Key: session("s").Key, Generation: 1, Len: 3000}, sum)
	matches := func(sum mark.Hash) bool {
		var c checksum
		c.begin(sum, stored[:700])
		c.add(stored[700:])
		return c.matches()
	}
	if !matches(sum) || matches(mark.Sum(nil)) {
		t.Fatalf("%v, %v", matches(sum), matches(mark.Sum(nil)))
	}
	for i := range 8 * len(stored) {
		stored[i/8] ^= 1 << (i % 8)
		if matches(sum) {
			t.Fatalf("bit %d is not covered", i)
		}
		stored[i/8] ^= 1 << (i % 8)
	}
}

// Blocks that are intact and in the wrong order are found by the hash of the generation, before the last bytes are given.
func TestBlocksInTheWrongOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	a := openAt(t, path, Options{})
	data := []byte(fmt.Sprintf("%x", noise(1, 3<<20))) // one line: frames of maxFrame
	must(t, a.Append(t.Context(), session("s"), segment(1, 0, data[:4<<20])))
	must(t, a.update(t.Context(), 0, func(tx *bolt.Tx) error {
		s := newStream(1, 1)
		one, err := findBlock(tx, s, 0)
		must(t, err)
		two, err := findBlock(tx, s, maxFrame)
		must(t, err)
		if one.Len != two.Len {
			t.Fatalf("%d and %d bytes", one.Len, two.Len)
		}
		one.Off, two.Off = two.Off, one.Off
		must(t, putBlock(tx, s, one))
		return putBlock(tx, s, two)
	}))
	if got, _, err := everything(a.Reader(session("s").Key, 1)); !errors.As(err, new(*DamageError)) || len(got) == 4<<20 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if r, err := a.Verify(t.Context(), nil); err != nil || len(r.Damage) != 1 {
		t.Errorf("Verify: %v, %v", r.Damage, err)
	}
}

func TestFlipTestSeesWrongBytes(t *testing.T) {
	ro := newRotten(t)
	wrong := 0
	ro.flips(t, 1500, func(int64) {
		if wrong > 0 {
			return
		}
		a := openAt(t, ro.path, Options{})
		a.unchecked = true
		wrong += ro.check(a).wrong
	})
	if wrong == 0 {
		t.Error("without hashes no flip gave wrong bytes: the test cannot see them")
	}
}

// Writing to a damaged archive gives an error or works; what was sound stays so.
func TestWritesToADamagedArchive(t *testing.T) {
	ro := newRotten(t)
	good, err := os.ReadFile(ro.path)
	if err != nil {
		t.Fatal(err)
	}
	more := talk(60, 400<<10)
	var failed, done int
	ro.flips(t, flipCount()/2, func(at int64) {
		a := openAt(t, ro.path, Options{})
		err := a.Append(context.Background(), session("r1"), segment(1, int64(len(ro.data[1])), more))
		if err == nil {
			done++
		} else {
			failed++
		}
		bigger := ro
		bigger.data = slices.Clone(ro.data)
		if err == nil {
			bigger.data[1] = slices.Concat(ro.data[1], more)
		} else if s, err := a.Session(context.Background(), session("r1").Key); err == nil && s.Tip().Offset > int64(len(ro.data[1])) {
			t.Errorf("a flipped bit at %d: Append failed and has appended", at)
		}
		if o := bigger.check(openAt(t, ro.path, Options{})); o.wrong > 0 {
			t.Errorf("a flipped bit at %d, then a write: %d wrong answers", at, o.wrong)
		}
		if err := os.WriteFile(ro.path, good, 0o600); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("%d writes went through, %d failed", done, failed)
}

// bbolt recurses through branch pages: a page that leads to itself must not end in a stack overflow.
func TestBranchPageCycle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	a := openAt(t, path, Options{})
	fill(t, a, session("s"), 1, noise(1, 6<<20), whole)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cycles := 0
	page := os.Getpagesize()
	for at := 2 * page; at+page <= len(raw); at += page {
		p := raw[at : at+page]
		id := binary.NativeEndian.Uint64(p)
		if id != uint64(at/page) || binary.NativeEndian.Uint16(p[8:]) != 1 || binary.NativeEndian.Uint16(p[10:]) == 0 {
			continue
		}
		for i := range int(binary.NativeEndian.Uint16(p[10:])) {
			binary.NativeEndian.PutUint64(p[16+16*i+8:], id)
		}
		cycles++
	}
	if cycles == 0 {
		t.Fatal("the archive has no branch page")
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	a = openAt(t, path, Options{})
	for range 2 {
		if _, _, err := everything(a.Reader(session("s").Key, 1)); !errors.As(err, new(*DamageError)) {
			t.Errorf("read through a cycle: %v", err)
		}
	}
	if err := a.SetState(context.Background(), session("s"), nil); !errors.As(err, new(*DamageError)) {
		t.Errorf("write through a cycle: %v", err)
	}
}

// A file that shrinks under an open archive faults where it is read.
func TestTruncatedFile(t *testing.T) {
	ro := newRotten(t)
	info, err := os.Stat(ro.path)
	if err != nil {
		t.Fatal(err)
	}
	for size := info.Size(); size > 0; size -= 64<<10 + 17 {
		if err := os.Truncate(ro.path, size); err != nil {
			t.Fatal(err)
		}
		if o := ro.check(openAt(t, ro.path, Options{})); o.wrong > 0 {
			t.Errorf("cut to %d bytes: %d wrong answers", size, o.wrong)
		}
	}
}

func TestSealBindsTheKey(t *testing.T) {
	v := seal([]byte("key"), []byte("record"))
	if got, err := unseal([]byte("key"), v); string(got) != "record" || err != nil {
		t.Errorf("unseal = %q, %v", got, err)
	}
	if _, err := unseal([]byte("kez"), v); err == nil {
		t.Error("a record was read under another's key")
	}
	if _, err := unseal([]byte("key"), v[:5]); err == nil {
		t.Error("a record without a seal was read")
	}
}

func TestForeignBucket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := openAt(t, path, Options{}).Sessions(context.Background()); err == nil {
		t.Error("a database of another program reads as an archive")
	}
}

func FuzzUnpack(f *testing.F) {
	a := openAt(f, filepath.Join(f.TempDir(), "archive.db"), Options{})
	for _, raw := range [][]byte{nil, []byte("x"), talk(1, 2000), noise(1, 300)} {
		f.Add(a.pack(raw, envelope{}, mark.Sum(raw)), int64(len(raw)))
	}
	f.Fuzz(func(t *testing.T, stored []byte, n int64) {
		raw, err := a.unpack(block{Len: n, Sum: mark.Sum([]byte("never"))}, stored, nil)
		if err == nil && string(raw) != "never" {
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

func FuzzCutterPortions(f *testing.F) {
	f.Add(uint64(1), 3<<20, 100<<10, uint64(2))
	f.Add(uint64(3), 5<<20, 1, uint64(9))
	f.Fuzz(func(t *testing.T, seed uint64, size, lineLen int, portions uint64) {
		size, lineLen = size&(8<<20-1), lineLen&(4<<20-1)+1
		r := rand.New(rand.NewPCG(seed, 0))
		data := bytes.Repeat([]byte("x"), size)
		for at := r.IntN(lineLen); at < size; at += 1 + r.IntN(lineLen) {
			data[at] = '\n'
		}
		var one, many cutter
		want := one.cut(0, data)
		var got []int64
		p := rand.New(rand.NewPCG(portions, 0))
		for at := 0; at < size; {
			n := min(1+p.IntN(1<<p.IntN(23)), size-at)
			got = append(got, many.cut(int64(at), data[at:at+n])...)
			at += n
		}
		if !slices.Equal(got, want) || one != many {
			t.Fatalf("cuts %v in portions, %v at once", got, want)
		}
		last := int64(0)
		for _, at := range want {
			if at <= last || at-last > maxFrame {
				t.Fatalf("a frame from %d to %d", last, at)
			}
			last = at
		}
		if int64(size)-last > maxFrame {
			t.Fatalf("a tail from %d to %d", last, size)
		}
	})
}
