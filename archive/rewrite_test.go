package archive

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"testing"

	"ccd/internal/testkit"
)

// used is the bytes of the archive's file that hold something.
func used(t *testing.T, a *Archive) int64 {
	t.Helper()
	z, err := a.Size(context.Background())
	must(t, err)
	return z.File - z.Free
}

// Each state of a file of several segments comes back, whatever is left of the one before.
func TestRewritesOfAnyKind(t *testing.T) {
	t.Parallel()
	a, s := open(t), session("s.json")
	mb := testkit.Cases(t, 256<<10, 1<<20)
	data := noise(1, 5*mb)
	states := [][]byte{
		data,
		slices.Concat(data[:1000], noise(2, 3000), data[1000:]),     // inserted
		slices.Concat(data[:3*mb], data[3*mb+70_000:], noise(3, 9)), // taken out
		data[:100],       // truncated
		noise(4, 40_000), // another file
		nil,              // empty
		data,             // and back
		scattered(data, 1),
	}
	if testkit.Full() {
		states = append(states, scattered(data, 2))
	}
	for i, state := range states {
		before := used(t, a)
		fill(t, a, s, i+1, state, func() int { return 4 * mb })
		if cost := used(t, a) - before; i > 0 && i < 4 && cost > 128<<10 {
			t.Errorf("state %d cost %d bytes", i, cost)
		}
	}
	more := noise(5, 5000) // the last one goes on
	must(t, a.Append(context.Background(), s, segment(len(states), int64(len(data)), more)))
	states[len(states)-1] = slices.Concat(states[len(states)-1], more)
	for i, want := range states {
		r := a.Reader(s.Key, i+1)
		if got, _, err := everything(r); err != nil || !bytes.Equal(got, want) {
			t.Errorf("state %d: %d bytes of %d, %v", i, len(got), len(want), err)
		}
	}
	sound(t, a)
	file := filepath.Join(t.TempDir(), "copy")
	backup(t, a, file)
	if got, _, err := everything(openAt(t, file, Options{}).Reader(s.Key, 3)); err != nil || !bytes.Equal(got, states[2]) {
		t.Errorf("from the backup: %d bytes, %v", len(got), err)
	}
}

// scattered returns data with a byte changed in every KB or so.
func scattered(data []byte, by byte) []byte {
	changed := bytes.Clone(data)
	for at := 0; at < len(changed); at += 1100 {
		changed[at] += by
	}
	return changed
}
