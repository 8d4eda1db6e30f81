package archive

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

// A rewritten file has the blocks before its first change in common with what it was, however both were stored.
func TestCommon(t *testing.T) {
	t.Parallel()
	data := talk(1, 4<<20)
	r := rand.New(rand.NewPCG(1, 1))
	a, s := open(t), session("s")
	fill(t, a, s, 1, data, func() int { return 1 + r.IntN(300<<10) })
	for i, at := range []int{0, 100 << 10, 3<<20 + 17, len(data) - 1} {
		other := bytes.Clone(data)
		other[at] ^= 1
		fill(t, a, s, 2+i, other, whole)
		got, err := a.Reader(s.Key, 1).Common(t.Context(), a.Reader(s.Key, 2+i))
		if err != nil || got > int64(at) || got < int64(at)-maxFrame {
			t.Errorf("changed at %d: %d, %v", at, got, err)
		}
	}
	if _, err := a.Reader(session("none").Key, 1).Common(t.Context(), a.Reader(s.Key, 1)); !errors.Is(err, ErrNotFound) {
		t.Errorf("a session that is not archived: %v", err)
	}
}
