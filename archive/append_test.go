package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// frames returns the frames of a generation, and the size of the pieces behind them.
func frames(t testing.TB, a *Archive, s transcript.Session, gen int) (frames []block, tail int64) {
	t.Helper()
	g, err := a.Reader(s.Key, gen).generation(t.Context())
	must(t, err)
	for _, b := range g.Blocks {
		if b.Off >= g.Cut.Start {
			tail += b.Len
		} else {
			frames = append(frames, b) // a shared one has the same ID
		}
	}
	return frames, tail
}

func TestRestoreIsExactHoweverItWasCut(t *testing.T) {
	t.Parallel()
	long := slices.Concat(talk(1, 300<<10), bytes.Repeat([]byte("x"), 5<<20), []byte("\n"), talk(2, 200<<10), []byte("no line end"))
	type content struct {
		name string
		data []byte
	}
	for _, c := range append(testkit.Sample(t, []content{
		{"lines", talk(3, 2<<20)},
		{"noise", noise(1, 2<<20+9)},
		{"a long line", long},
		{"blank lines", bytes.Repeat([]byte("\n"), 2<<20+9)},
		{"CRLF", bytes.ReplaceAll(talk(4, 1<<20), []byte("\n"), []byte("\r\n"))},
	}, 2), content{"one byte", []byte("x")}, content{"one line end", []byte("\n")}, content{"empty", nil}) {
		name, data := c.name, c.data
		t.Run(name, func(t *testing.T) {
			a := open(t)
			r := rand.New(rand.NewPCG(5, 5))
			portions := []func() int{
				whole,
				func() int { return 1 + r.IntN(700<<10) },
				func() int { return 300<<10 + r.IntN(4<<20) },
			}
			var first []block
			for i, step := range portions {
				s := session(fmt.Sprint("s", i))
				fill(t, a, s, 1, data, step)
				got, end, err := everything(a.Reader(s.Key, 1))
				if err != nil || !bytes.Equal(got, data) {
					t.Fatalf("portions %d: %d bytes came back of %d, %v", i, len(got), len(data), err)
				}
				held, err := a.Session(context.Background(), s.Key)
				must(t, err)
				if held.Tip() != end || held.Generations[0].Sum != mark.Sum(data) || held.Session != s {
					t.Errorf("Session = %+v, end %+v", held, end)
				}
				all, tail := frames(t, a, s, 1)
				if i == 0 {
					first = all
				}
				if diff := cmp.Diff(first, all); diff != "" {
					t.Errorf("portions %d are cut otherwise (-whole +portions):\n%s", i, diff)
				}
				if tail > maxFrame {
					t.Errorf("the tail has %d bytes", tail)
				}
			}
		})
	}
}

func TestAppendComparesTheTip(t *testing.T) {
	t.Parallel()
	a := open(t)
	ctx := context.Background()
	s := session("s")
	one := segment(0, 0, []byte("one\n")) // the zero cursor begins generation 1
	one.End.Generation = 1
	must(t, a.Append(ctx, s, one))
	for name, c := range map[string]struct {
		seg transcript.Segment
		ok  bool
	}{
		"again":               {segment(1, 0, []byte("one\n")), false},
		"a gap":               {segment(1, 5, []byte("x")), false},
		"generation too far":  {segment(3, 0, []byte("x")), false},
		"inside a generation": {segment(2, 4, []byte("x")), false},
	} {
		if err := a.Append(ctx, s, c.seg); !errors.Is(err, ErrStale) {
			t.Errorf("%s: %v, want ErrStale", name, err)
		}
	}
	lying := segment(1, 4, []byte("two\n"))
	lying.End.Offset++
	if err := a.Append(ctx, s, lying); err == nil || errors.Is(err, ErrStale) {
		t.Errorf("a segment that lies of its length: %v", err)
	}
	moved := s
	moved.Path += ".zst"
	moved.Packed = true
	for _, seg := range []transcript.Segment{segment(1, 4, []byte("two\n")), segment(2, 0, []byte("new life\n")), segment(2, 9, nil)} {
		must(t, a.Append(ctx, moved, seg))
	}
	got, err := a.Session(ctx, s.Key)
	if err != nil || len(got.Generations) != 2 || got.Session != moved {
		t.Fatalf("Session = %+v, %v", got, err)
	}
	for i, want := range []string{"one\ntwo\n", "new life\n"} {
		data, _, err := everything(a.Reader(s.Key, i+1))
		if string(data) != want || err != nil {
			t.Errorf("generation %d = %q, %v", i+1, data, err)
		}
	}
	if got.Tip().Generation != 2 || got.Generations[1].Tip.Back.Sum != mark.Sum(nil) {
		t.Errorf("tip = %+v", got.Tip())
	}
}

func TestSharing(t *testing.T) {
	t.Parallel()
	a := open(t)
	ctx := context.Background()
	data := talk(1, 8<<20)
	size := func() int64 {
		z, err := a.Size(ctx)
		must(t, err)
		return z.File - z.Free
	}
	fill(t, a, session("one"), 1, data, whole)
	one := size()
	fill(t, a, session("copy"), 1, data, func() int { return 1 << 20 })
	two := size()
	fill(t, a, session("shifted"), 1, slices.Concat(talk(9, 100_000), data), whole)
	three := size()
	t.Logf("8 MB take %d KB; the same again %d KB; behind a prefix of 100 KB %d KB", one>>10, (two-one)>>10, (three-two)>>10)
	if two-one > one/10 || three-two > one/4 {
		t.Error("copies take too much")
	}
	// Nothing else than a frame may be shared by a hash whose frame is damaged: the bytes are stored once more.
	damage := func() {
		must(t, a.update(ctx, 0, func(tx *bolt.Tx) error {
			b, k, v := first(kindBlock.bucket(tx))
			v = bytes.Clone(v)
			v[len(v)/2] ^= 1
			return b.Put(bytes.Clone(k), v)
		}))
	}
	damage()
	fill(t, a, session("after the damage"), 1, data, whole)
	got, _, err := everything(a.Reader(session("after the damage").Key, 1))
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("a copy shares a damaged frame: %v", err)
	}
	if _, _, err := everything(a.Reader(session("one").Key, 1)); !errors.As(err, new(*DamageError)) {
		t.Errorf("the damaged one: %v", err)
	}
	r, err := a.Verify(ctx, nil)
	if err != nil || len(r.Damage) != 2 || r.Damage[0].Session.Agent == "" {
		t.Errorf("Verify = %+v, %v", r, err)
	}
	damage() // again, which mends it, for the check at the end
}

func TestCutterIsForEver(t *testing.T) {
	t.Parallel()
	// Frames that are cut otherwise share nothing with those of older archives: these numbers may never change.
	var c cutter
	data := slices.Concat(talk(11, 5<<20), bytes.Repeat([]byte("q"), 3<<20), talk(12, 3<<20))
	h := sha256.New()
	for _, at := range c.cut(0, data, true) {
		fmt.Fprintln(h, at)
	}
	c = cutter{}
	for _, at := range c.cut(0, data, false) {
		fmt.Fprintln(h, at)
	}
	if got := fmt.Sprintf("%x", h.Sum(nil)[:6]); got != "325d0152c4e8" {
		t.Errorf("cuts hash to %s", got)
	}
}

// first returns the first entry of a bucket, and the bucket that it is in: a large one has a bucket of its own.
func first(b *bolt.Bucket) (in *bolt.Bucket, k, v []byte) {
	if k, v = b.Cursor().First(); v == nil {
		b = b.Bucket(k)
		k, v = b.Cursor().First()
	}
	return b, k, v
}
