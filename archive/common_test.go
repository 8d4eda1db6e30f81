package archive

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"ccd/internal/testkit"
)

// TestCommon: two archives that got the bytes in other pieces know how many are the same, and decode little to know it.
func TestCommon(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	data := talk(1, 4<<20)
	r := rand.New(rand.NewPCG(1, 1))
	a, s := open(t), session("s")
	fill(t, a, s, 1, data, func() int { return 1 + r.IntN(300<<10) })
	type branch struct{ at, more int }
	var all []branch
	for _, at := range []int{0, 100 << 10, 3<<20 + 17, 4 << 20} {
		all = append(all, branch{at, 0}, branch{at, 1 << 20})
	}
	for i, c := range testkit.Sample(t, all, 2) {
		b := openAt(t, filepath.Join(t.TempDir(), "archive.db"), Options{})
		other := append(slices.Concat(data[:c.at], bytes.ToUpper(talk(uint64(i+2), c.more))), '\n')
		fill(t, b, s, 1, other, whole)
		want := int64(c.at)
		for want < int64(min(len(data), len(other))) && data[want] == other[want] {
			want++
		}
		mine := a.Reader(s.Key, 1)
		got, err := mine.Common(ctx, b.Reader(s.Key, 0))
		if err != nil || got != want {
			t.Errorf("%+v: %d, %v, want %d", c, got, err, want)
		}
		if c.at > 0 && mine.decoded > 3<<20 {
			t.Errorf("%+v: decoded %d bytes", c, mine.decoded)
		}
	}
	b, c := open(t), open(t)
	changed := func(data []byte, at int) []byte {
		data = bytes.Clone(data)
		data[at] ^= 1
		return data
	}
	edited := changed(data, 2<<20)
	fill(t, a, s, 2, edited, whole)
	fill(t, b, s, 1, edited, whole)
	fill(t, c, s, 1, changed(data, 2<<20-40000), whole)
	fill(t, c, s, 2, changed(edited, 2<<20-40000), whole)
	if got, err := a.Reader(s.Key, 2).Common(ctx, c.Reader(s.Key, 2)); err != nil || got != 2<<20-40000 {
		t.Errorf("the same edits of other bytes: %d, %v", got, err)
	}
	for generation, want := range map[int]int64{1: 2 << 20, 2: int64(len(data))} {
		if got, err := a.Reader(s.Key, generation).Common(ctx, b.Reader(s.Key, 0)); err != nil || got != want {
			t.Errorf("generation %d: %d, %v, want %d", generation, got, err, want)
		}
	}
	a = open(t)
	if _, err := a.Reader(session("s").Key, 1).Common(ctx, a.Reader(session("s").Key, 1)); !errors.Is(err, ErrNotFound) {
		t.Errorf("a session that is not archived: %v", err)
	}
}
