package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"ccd/archive"
	"ccd/internal/testkit"
	"ccd/watcher"
)

// manySmall writes small transcripts and returns their texts by path.
func (h *house) manySmall(n int) map[string]string {
	texts := map[string]string{}
	for i := range n {
		text := strings.Repeat(fmt.Sprintf(`{"type":"user","uuid":"%d","message":{"role":"user","content":"%d"}}`+"\n", i, i*i), 60)
		texts[h.path(i)] = text
		h.write(h.path(i), text)
	}
	return texts
}

func (h *house) hasAll(texts map[string]string) (n int) {
	for path, want := range texts {
		s, err := h.o.Archive.Session(context.Background(), key(path))
		if err == nil && len(s.Generations) == 1 && h.restore(key(path)) == want {
			n++
		}
	}
	return n
}

// transactions returns how many transactions the archive's file has seen.
func (h *house) transactions() uint64 {
	h.t.Helper()
	raw := testkit.Read(h.t, h.o.Archive.Path())
	return max(binary.NativeEndian.Uint64(raw[64:]), binary.NativeEndian.Uint64(raw[4096+64:])) // of both meta pages
}

// A batch fails when a companion is due, or when a second segment comes: the session is synced again, without a tracker that
// is not there.
func TestFailedBatchAtACompanion(t *testing.T) {
	h := newHouse(t)
	ctx := t.Context()
	due := turns(0, 12) // long enough for a companion
	h.write(h.path(99), due[:len(due)/2])
	h.once()
	info, err := os.Stat(h.o.Archive.Path())
	testkit.Must(t, err)
	full, err := archive.Open(h.o.Archive.Path(), archive.Options{MaxSize: info.Size()})
	testkit.Must(t, err)
	room := h.o.Archive
	texts := h.manySmall(10)
	for path := range texts {
		h.append(path, strings.Repeat(fmt.Sprintf(`{"type":"user","message":{"role":"user","content":"%x"}}`+"\n", sha256.Sum256([]byte(path))), 200))
		raw := testkit.Read(t, path)
		texts[path] = string(raw)
	}
	h.write(h.path(99), due)
	h.o.Archive = full
	d := h.daemon()
	failed := 0
	d.result = func(_ watcher.Offer, err error) {
		if err != nil {
			failed++
		}
	}
	for path := range texts {
		d.bring(ctx, watcher.Offer{Path: path, Root: h.o.Watch.Roots[0], Quiet: atRest})
	}
	d.bring(ctx, watcher.Offer{Path: h.path(99), Root: h.o.Watch.Roots[0], Quiet: atRest})
	if failed == 0 {
		t.Error("the disk has enough space: this test cannot fail")
	}
	h.o.Archive = room
	h.once()
	texts[h.path(99)] = due
	if n := h.hasAll(texts); n != len(texts) {
		t.Errorf("%d of %d transcripts are archived", n, len(texts))
	}
	if h.companion(h.path(99)) == "" {
		t.Error("no companion")
	}
}

// TestFewCommitsForOneAppend: new bytes of a live session are stored in one transaction, and what lists show of them in
// another one. A companion costs more.
func TestFewCommitsForOneAppend(t *testing.T) {
	h := newHouse(t)
	h.o.Watch.RefreshIdle = time.Hour
	h.write(h.path(1), turns(0, 30)) // so long that two turns are less than a quarter of it
	h.once()
	h.running()
	text := turns(0, 30)
	for n, quiet := range []bool{true, true, false} {
		next := turn(30 + n)
		if !quiet {
			next = turns(32, 60)
		}
		before := h.transactions()
		h.append(h.path(1), next)
		text += next
		testkit.Eventually(t, "the turn is archived", func() bool {
			s := h.stored(h.path(1))
			return s.At.Offset == int64(len(text)) && s.Read == s.At && (quiet || s.Covers == s.At)
		})
		if made := h.transactions() - before; made > 2 == quiet {
			t.Errorf("append %d, %d bytes: %d commits", n, len(next), made)
		}
	}
}
