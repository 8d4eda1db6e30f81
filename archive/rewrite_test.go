package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/internal/mark"
	"ccd/internal/testkit"
)

// rewritten is a session that its client writes anew at each change: one JSON value, on one line or on many.
type rewritten struct {
	pretty   bool
	updated  int
	messages []string // each as it stands in the file
	rand     *rand.Rand
}

// message returns an invented message of about 2 KB.
func (w *rewritten) message() string {
	var text strings.Builder
	for text.Len() < 1900 {
		fmt.Fprintf(&text, "%s %x ", []string{"the daemon reads", "go test ./archive", "func main() {", "error: no such file"}[w.rand.IntN(4)], w.rand.Uint64())
	}
	m := map[string]any{"id": fmt.Sprintf("%016x", w.rand.Uint64()), "type": "gemini", "content": text.String(), "tokens": map[string]int{"input": w.rand.IntN(90000), "output": 512}}
	b, err := json.Marshal(m)
	if w.pretty {
		b, err = json.MarshalIndent(m, "    ", "  ")
	}
	if err != nil {
		panic(err)
	}
	return string(b)
}

// change adds a message or changes one, the last one more often than not, and returns how many bytes are new.
func (w *rewritten) change() (changed int) {
	m := w.message()
	w.updated++
	switch n := len(w.messages); w.rand.IntN(8) {
	case 0:
		w.messages[w.rand.IntN(n)] = m
	case 1, 2:
		w.messages[n-1] = m
	default:
		w.messages = append(w.messages, m)
	}
	return len(m)
}

// file is the file as it stands.
func (w *rewritten) file() []byte {
	open, between, end := `{"sessionId":"s","lastUpdated":"%020d","messages":[`, ",", "]}"
	if w.pretty {
		open, between, end = "{\n  \"sessionId\": \"s\",\n  \"lastUpdated\": \"%020d\",\n  \"messages\": [\n    ", ",\n    ", "\n  ]\n}"
	}
	return fmt.Appendf(nil, open+"%s%s", w.updated, strings.Join(w.messages, between), end)
}

// used is the bytes of the archive's file that hold something.
func used(t *testing.T, a *Archive) int64 {
	t.Helper()
	z, err := a.Size(context.Background())
	must(t, err)
	return z.File - z.Free
}

// A file of some MB that is written anew at each change costs what has changed, and each state of it comes back.
func TestRewritesCostWhatHasChanged(t *testing.T) {
	t.Parallel()
	rewrites, most := testkit.Cases(t, 8, 1000), testkit.Cases(t, 1<<20, 4<<20)
	for _, pretty := range []bool{false, true} {
		t.Run(fmt.Sprint("pretty ", pretty), func(t *testing.T) {
			a := open(t)
			w := &rewritten{pretty: pretty, rand: rand.New(rand.NewPCG(1, 2))}
			for size := 0; size < most; size += len(w.messages[len(w.messages)-1]) {
				w.messages = append(w.messages, w.message())
			}
			s := session("rewritten.json")
			fill(t, a, s, 1, w.file(), whole)
			first, changed, sums := used(t, a), 0, map[int]mark.Hash{}
			for gen := 2; gen <= 1+rewrites; gen++ {
				changed += w.change()
				data := w.file()
				sums[gen] = mark.Sum(data)
				fill(t, a, s, gen, data, whole)
			}
			growth, limit := used(t, a)-first, int64(changed+rewrites*24<<10)
			t.Logf("%d rewrites of %d bytes changed %d; the first one takes %d in the archive, all others %d", rewrites, most, changed, first, growth)
			if growth > limit || limit > first*int64(rewrites)/4 {
				t.Errorf("the archive grew by %d bytes, at most %d are right", growth, limit)
			}
			for gen, sum := range sums {
				if gen%29 != 0 && gen != 1+rewrites {
					continue
				}
				if got, _, err := everything(a.Reader(s.Key, gen)); err != nil || mark.Sum(got) != sum {
					t.Errorf("generation %d: %d bytes, %v", gen, len(got), err)
				}
			}
		})
	}
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
