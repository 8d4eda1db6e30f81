package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/testkit"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// geminiSession is a transcript of Gemini CLI, which is written anew at each change: one JSON value, on one line or on many.
func geminiSession(t *testing.T, messages []string, pretty bool) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `{"sessionId":"1f0c2d3e","projectHash":"9c11","startTime":"2026-09-14T08:00:00.000Z","lastUpdated":"2026-09-14T08:%02d:%02d.220Z","messages":[`,
		len(messages)/60%60, len(messages)%60)
	for i, text := range messages {
		if i > 0 {
			b.WriteByte(',')
		}
		kind := []string{"user", "gemini"}[i%2]
		fmt.Fprintf(&b, `{"id":"m-%d","timestamp":"2026-09-14T08:00:04.548Z","type":%q,"content":%q}`, i, kind, text)
	}
	b.WriteString("]}")
	if !pretty {
		return b.String()
	}
	var out bytes.Buffer
	testkit.Must(t, json.Indent(&out, []byte(b.String()), "", "  "))
	return out.String()
}

// withGemini adds a root of Gemini CLI, and returns the path of a session below it.
func (h *house) withGemini() (path string) {
	root := watcher.Root{Agent: "gemini-cli", Path: filepath.Join(h.home, ".gemini", "tmp")}
	h.o.Watch.Roots = append(h.o.Watch.Roots, root)
	return filepath.Join(root.Path, "p", "chats", "session-2026-09-14T08-00-1f0c2d3e.json")
}

func invented(r *rand.Rand) string {
	var b strings.Builder
	for b.Len() < 1500 {
		fmt.Fprintf(&b, "the nightly export of ledger %x writes whole cents. ", r.Uint64())
	}
	return b.String()
}

// A session that its client writes anew at each change costs the archive what has changed and the frame around it, IDs and
// states included, and each state of it is a generation that comes back.
func TestRewrittenSessionsCostWhatHasChanged(t *testing.T) {
	rewrites := testkit.Cases(t, 8, 25)
	for _, pretty := range testkit.Sample(t, []bool{false, true}, 1) {
		h := newHouse(t)
		path := h.withGemini()
		r := rand.New(rand.NewPCG(4, 4))
		var messages, states []string
		for range 100 {
			messages = append(messages, invented(r))
		}
		var before, changed int64
		d := h.daemon()
		for i := range 1 + rewrites {
			if i > 0 {
				messages = append(messages, invented(r))
				changed += int64(len(messages[len(messages)-1]))
			}
			states = append(states, geminiSession(t, messages, pretty))
			h.write(path, states[i])
			testkit.Must(t, d.synced(watcher.Offer{Path: path, Root: d.Watch.Roots[2], Quiet: h.o.Watch.Settle, Live: true}))
			if i == 0 {
				before = h.used()
			}
		}
		growth, most := h.used()-before, changed+int64(rewrites)*8<<10
		t.Logf("pretty %v: %d bytes changed, the archive grew by %d", pretty, changed, growth)
		if growth > most || most > int64(rewrites*len(states[0]))/8 {
			t.Errorf("pretty %v: the archive grew by %d bytes, at most %d are right", pretty, growth, most)
		}
		k := d.owners[path]
		for i, want := range states {
			if got := h.generation(k, i+1); got != want {
				t.Errorf("pretty %v, state %d: %d bytes of %d", pretty, i, len(got), len(want))
			}
		}
	}
}

// A file that its agent rewrites is not archived each second, but when it has settled.
func TestRewrittenSessionsSettle(t *testing.T) {
	h := newHouse(t)
	path, d := h.withGemini(), h.daemon()
	for i, quiet := range []time.Duration{0, 0, 0, h.o.Watch.Settle} {
		h.write(path, geminiSession(t, []string{"message " + strings.Repeat("x", i)}, true))
		testkit.Must(t, d.synced(watcher.Offer{Path: path, Root: d.Watch.Roots[2], Quiet: quiet, Live: true}))
	}
	if n := d.sessions[d.owners[path]].cursor.Generation; n != 2 {
		t.Errorf("%d generations", n)
	}
}

// used is the bytes of the archive's file that hold something.
func (h *house) used() int64 {
	h.t.Helper()
	z, err := h.o.Archive.Size(context.Background())
	testkit.Must(h.t, err)
	return z.File - z.Free
}

// generation returns the bytes of a session's generation.
func (h *house) generation(k transcript.Key, n int) string {
	h.t.Helper()
	var b strings.Builder
	for seg, err := range h.o.Archive.Reader(k, n).Segments(context.Background()) {
		testkit.Must(h.t, err)
		b.Write(seg.Data)
	}
	return b.String()
}

// A rewritten session is read from its file: what was stored of it before is not read as a transcript once more, and may
// be damaged.
func TestRewriteOfADamagedSession(t *testing.T) {
	h := newHouse(t)
	path := h.withGemini()
	r := rand.New(rand.NewPCG(5, 5))
	messages := []string{invented(r), invented(r), invented(r)}
	h.write(path, geminiSession(t, messages, true))
	h.once()
	db, err := bolt.Open(h.o.Archive.Path(), 0o600, nil)
	if err == nil {
		err = db.Update(func(tx *bolt.Tx) error {
			blocks := tx.Bucket([]byte("blocks"))
			k, v := blocks.Cursor().First()
			v = bytes.Clone(v)
			v[len(v)/2] ^= 1
			return blocks.Put(k, v)
		})
	}
	testkit.Must(t, errors.Join(err, db.Close()))
	want := geminiSession(t, append(messages, invented(r)), true)
	h.write(path, want)
	h.once()
	d := h.daemon()
	if got := h.generation(d.sessions[transcript.Key{Agent: "gemini-cli", ID: "session-2026-09-14T08-00-1f0c2d3e.json"}].Key, 2); got != want {
		t.Errorf("%d bytes of %d", len(got), len(want))
	}
}

// A live file that was rewritten with the same length, the same head and the same end is taken at once.
func TestRewriteOfEqualLengthIsSeenByItsTime(t *testing.T) {
	h := newHouse(t)
	text := turns(0, 80)
	h.write(h.path(1), text)
	h.once()
	d := h.daemon()
	changed := strings.Replace(text, "turn 40", "turn 4O", 1)
	if i := len(text) / 2; changed == text {
		changed = text[:i] + strings.Replace(text[i:], "e", "o", 1)
	}
	h.write(h.path(1), changed)
	offer := watcher.Offer{Path: h.path(1), Root: d.Watch.Roots[0], Quiet: time.Second, Live: true}
	testkit.Must(t, d.synced(offer))
	if got := h.restore(key(h.path(1))); got != changed {
		t.Error("the archive has not what the file holds")
	}
}
