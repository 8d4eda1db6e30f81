package archive

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCommon: two archives that got the bytes in other pieces know how many are the same, and decode little to know it.
func TestCommon(t *testing.T) {
	ctx := context.Background()
	data := talk(1, 5<<20)
	r := rand.New(rand.NewPCG(1, 1))
	for i, k := range []int{0, 100 << 10, 3<<20 + 17, 5 << 20} {
		for _, branch := range []int{0, 2 << 20} {
			a, b := open(t), open(t)
			s := session("s")
			fill(t, a, s, 1, data, func() int { return 1 + r.IntN(300<<10) })
			other := slices.Concat(data[:k], bytes.ToUpper(talk(uint64(i+2), branch)))
			fill(t, b, s, 1, append(other, '\n'), whole)
			mine, theirs := a.Reader(s.Key, 1), b.Reader(s.Key, 0)
			want := int64(k)
			for want < int64(min(len(data), len(other)+1)) && data[want] == append(other, '\n')[want] {
				want++
			}
			got, err := mine.Common(ctx, theirs)
			if err != nil || got != want {
				t.Errorf("%d bytes and %d others: %d, %v, want %d", k, branch, got, err, want)
			}
			if k > 0 && mine.decoded > 4<<20 {
				t.Errorf("%d bytes and %d others: decoded %d bytes", k, branch, mine.decoded)
			}
		}
	}
	a, b, c := open(t), open(t), open(t)
	s := session("s")
	changed := func(data []byte, at int) []byte {
		data = bytes.Clone(data)
		data[at] ^= 1
		return data
	}
	edited := changed(data, 2<<20)
	fill(t, a, s, 1, data, whole)
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
