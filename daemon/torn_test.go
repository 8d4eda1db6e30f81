package daemon

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ccd/internal/testkit"
	"ccd/watcher"
)

// rest syncs a file that is at rest.
func (h *house) rest(d *Daemon, path string) *session {
	h.t.Helper()
	o := watcher.Offer{Path: path, Root: d.Watch.Roots[0], Quiet: atRest}
	testkit.Must(h.t, d.synced(o))
	s := d.sessions[d.owners[path]]
	if s.statSource(); !s.upToDate(d) {
		h.t.Fatalf("%s is at rest, and not current after a sync: each scan would read it", path)
	}
	return s
}

// TestTornLineGoesOn: a torn line that comes in many pieces, each of them at rest, is archived piece by piece,
// and becomes one record; then all is as after one pass.
func TestTornLineGoesOn(t *testing.T) {
	h := newHouse(t)
	before, after := turns(0, 12), turn(12)
	h.write(h.path(1), before)
	d := h.daemon()
	records := h.rest(d, h.path(1)).state.Records
	written := before
	for len(after) > 40 {
		h.append(h.path(1), after[:40])
		written, after = written+after[:40], after[40:]
		s := h.rest(d, h.path(1))
		if got := h.restore(key(h.path(1))); got != written {
			t.Fatalf("%d bytes of %d are archived", len(got), len(written))
		}
		torn := 1
		if strings.HasSuffix(written, "\n") {
			torn = 0
		}
		if want := records + strings.Count(strings.TrimPrefix(written, before), "\n") + torn; s.state.Records != want || s.state.Broken != torn {
			t.Fatalf("%d bytes: %d records, %d broken; want %d, %d", len(written), s.state.Records, s.state.Broken, want, torn)
		}
		if written == before+turn(12)[:40] {
			h.samePass(h.path(1), written) // torn
		}
	}
	h.append(h.path(1), after)
	h.rest(d, h.path(1))
	h.samePass(h.path(1), turns(0, 13))
	if got, want := h.rest(d, h.path(1)).state.Records, records+4; got != want {
		t.Errorf("%d records, want %d", got, want)
	}
}

// TestEveryByteAtRest: files of every kind that were offered while they grew, and then no more until they rested.
func TestEveryByteAtRest(t *testing.T) {
	h := newHouse(t)
	d := h.daemon()
	spilled := filepath.Join(h.home, ".claude", "projects", "-work", key(h.path(1)).ID, "tool-results", "b1.txt")
	for path, text := range map[string]string{
		h.path(1): turn(0) + `{"torn`,
		h.path(2): turn(0) + `{"whole":1}`,
		h.path(3): turn(0) + "\xe2\x82",
		h.path(4): turn(0) + `{"long":"` + strings.Repeat("x", 9<<20),
		spilled:   "one line\nand half of ano",
	} {
		h.write(path, text)
		o := watcher.Offer{Path: path, Root: d.Watch.Roots[0]} // it never rests: max_wait is over
		testkit.Must(t, d.synced(o))
		k := d.owners[path]
		if got := h.restore(k); len(got) >= len(text) {
			t.Fatalf("%s: all is archived of a file that is written: this test cannot fail", path)
		}
		h.rest(d, path)
		if got := h.restore(k); got != text {
			t.Errorf("%s: %d bytes of %d are archived", path, len(got), len(text))
		}
		h.append(path, "\"}\n")
		h.rest(d, path)
		if got := h.restore(k); got != text+"\"}\n" {
			t.Errorf("%s: %d bytes of %d are archived after the line ended", path, len(got), len(text)+3)
		}
	}
}

// TestPackedEveryByte: a compressed transcript is taken whole although it never rested: its checksum says that it ends there.
func TestPackedEveryByte(t *testing.T) {
	h := newHouse(t)
	d := h.daemon()
	path := filepath.Join(h.home, ".codex", "sessions", "2026", "03", "01", "rollout-2026-03-01T09-00-00-00000000-0000-4000-8000-000000000009.jsonl.zst")
	enc, err := zstd.NewWriter(nil)
	testkit.Must(t, err)
	defer enc.Close()
	for _, text := range []string{`{"type":"session_meta","payload":{}}` + "\n" + `{"to`, `{"type":"session_meta","payload":{}}` + "\n" + `{"torn":1}` + "\n" + "\xe2"} {
		h.write(path, string(enc.EncodeAll([]byte(text), nil)))
		testkit.Must(t, d.synced(watcher.Offer{Path: path, Root: d.Watch.Roots[1]}))
		if got := h.restore(d.owners[path]); got != text {
			t.Errorf("%q is archived, the file holds %q", got, text)
		}
	}
}

// rewriteMiddle changes a byte in the middle of a file, and neither its length nor its times.
func rewriteMiddle(t *testing.T, path string) (now string) {
	t.Helper()
	before, err := os.Stat(path)
	testkit.Must(t, err)
	b := testkit.Read(t, path)
	if len(b) < 16<<10 {
		t.Fatalf("%d bytes: head and tail are all of them", len(b))
	}
	copy(b[len(b)/2:], "?")
	testkit.Must(t, os.WriteFile(path, b, 0o600))
	testkit.Must(t, os.Chtimes(path, before.ModTime(), before.ModTime()))
	return string(b)
}

// TestRewriteInPlace: a rewrite that length, times and fingerprints do not show is found when the source's turn comes,
// by a pass as by a daemon that runs, and becomes a generation of its own.
func TestRewriteInPlace(t *testing.T) {
	h := newHouse(t)
	was := turns(0, 16)
	h.write(h.path(1), was)
	h.write(h.path(2), was)
	h.once()
	generations := func(path string) int {
		s, err := h.o.Archive.Session(context.Background(), key(path))
		testkit.Must(t, err)
		return len(s.Generations)
	}
	checks := func(want int, at func(d *Daemon)) {
		t.Helper()
		now := rewriteMiddle(t, h.path(1))
		h.once()
		if n := generations(h.path(1)); n != want-1 {
			t.Fatalf("%d generations before the source's turn came: this test cannot fail", n)
		}
		d := h.daemon()
		for _, s := range d.sessions {
			s.state.Checked = s.state.Checked.Add(-recheckCycle)
		}
		at(d)
		if n := generations(h.path(1)); n != want || h.restore(key(h.path(1))) != now {
			t.Errorf("%d generations, want %d of which the last is the file", n, want)
		}
		if n := generations(h.path(2)); n != 1 {
			t.Errorf("the other file has %d generations", n)
		}
		for _, s := range h.daemon().sessions {
			if rewritten := s.Path == h.path(1); s.state.Rewritten.IsZero() == rewritten {
				t.Errorf("%s: rewritten %v", s.Path, s.state.Rewritten)
			}
		}
	}
	checks(2, func(d *Daemon) {
		if r, err := d.Once(context.Background(), func(done, all int64) {}); err != nil || len(r.Failed) > 0 {
			t.Fatalf("once: %v, %v", err, r.Failed)
		}
	})
	copy := []byte(was)
	copy[len(copy)/2] = '!'
	h.write(h.path(1), string(copy)) // as it may be seen by its times: at once
	h.once()
	if n := generations(h.path(1)); n != 3 || h.restore(key(h.path(1))) != string(copy) {
		t.Errorf("touched and rewritten: %d generations", n)
	}
	checks(4, func(d *Daemon) {
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- d.Run(ctx) }()
		testkit.Eventually(t, "the daemon finds it", func() bool { return generations(h.path(1)) == 4 })
		stop()
		<-done
	})
}
