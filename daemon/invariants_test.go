package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/compactor/companion"
	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// look is what must not change of a file.
type look struct {
	Stat
	sum mark.Hash
}

func lookAt(t *testing.T, path string) look {
	t.Helper()
	b := testkit.Read(t, path)
	st, err := stat(path)
	testkit.Must(t, err)
	return look{st, mark.Sum(b)}
}

// Invariant 1. The system calls themselves are traced by cmd/ccd's TestNoOriginalIsOpenedForWriting.
func TestOriginalsAreNeverWritten(t *testing.T) {
	h := newHouse(t)
	h.write(h.path(1), turns(0, 12))
	h.write(h.path(2), turns(0, 3)+`{"torn`)
	testkit.Must(t, os.Chmod(h.path(2), 0o400))
	before := []look{lookAt(t, h.path(1)), lookAt(t, h.path(2))}
	h.once()
	h.companion(h.path(1)) // there was something to write
	after := []look{lookAt(t, h.path(1)), lookAt(t, h.path(2))}
	for i := range before {
		if before[i] != after[i] {
			t.Errorf("transcript %d changed: %+v, was %+v", i+1, after[i], before[i])
		}
	}
	h.append(h.path(1), "x") // control: the look sees a write
	if lookAt(t, h.path(1)) == before[0] {
		t.Error("a write is not seen: this test cannot fail")
	}
}

// Invariant 2: every ID of every companion is in the archive's index before the companion is in place, also when any
// step in between fails.
func TestArchiveBeforeCompanion(t *testing.T) {
	h := newHouse(t)
	h.write(h.path(1), turns(0, 12))
	d := h.daemon()
	s := syncTo(t, d, h.path(1), "before publication")
	made, _, err := d.makeCompanion(context.Background(), s)
	testkit.Must(t, err)
	ids := mark.IDs(string(made.Text))
	if len(ids) == 0 || len(ids) != len(made.Pointers) {
		t.Fatalf("%d IDs in the text, %d pointers", len(ids), len(made.Pointers))
	}
	crash := errors.New("crash between index and rename")
	err = d.store(context.Background(), s, made.Pointers, State{}, func() error { return crash })
	if !errors.Is(err, crash) {
		t.Fatalf("store = %v, want the crash", err)
	}
	if _, err := os.Stat(strings.TrimSuffix(h.path(1), ".jsonl") + companion.Suffix); err == nil {
		t.Fatal("a companion stands although its publication failed")
	}
	h.resolves(ids)
	h.once()
	h.resolves(mark.IDs(h.companion(h.path(1))))
	if err := h.lookup(mark.Sum([]byte("nothing of ours")).ID()); err == nil {
		t.Error("an ID that nobody published resolves: this test cannot fail")
	}
}

// syncTo reads a transcript without publishing, and returns its session.
func syncTo(t *testing.T, d *Daemon, path, what string) *session {
	t.Helper()
	offer := watcher.Offer{Path: path, Root: d.Watch.Roots[0], Quiet: atRest}
	s := d.register(t.Context(), offer)
	if s == nil {
		t.Fatalf("%s: no session", what)
	}
	if err := d.withRecords(context.Background(), s, func() error { return nil }); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return s
}

func (h *house) resolves(ids []mark.ID) {
	h.t.Helper()
	if len(ids) == 0 {
		h.t.Error("no IDs: this test cannot fail")
	}
	for _, id := range ids {
		if err := h.lookup(id); err != nil {
			h.t.Errorf("ID %s: %v", id, err)
		}
	}
}

// lookup fetches an original by its ID and checks that its bytes are what the ID says.
func (h *house) lookup(id mark.ID) error {
	found, err := h.o.Archive.Lookup(context.Background(), mark.ID(id))
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return errors.New("not in the index")
	}
	for _, f := range found {
		if f.Hash.ID() != id {
			return errors.New("resolves to another hash")
		}
		for _, err := range h.o.Archive.Raw(context.Background(), f) {
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Invariant 3: neither the time, nor the place of the state, nor how the bytes arrived changes a companion.
func TestCompanionIsAPureFunction(t *testing.T) {
	at := newHouse(t)
	at.write(at.path(1), turns(0, 16))
	at.once()
	want := at.companion(at.path(1))

	grown := newHouse(t)
	for n := range 16 {
		text := turn(n)
		cut := len(text) * (n + 1) / 20
		grown.append(grown.path(1), text[:cut])
		grown.once()
		grown.append(grown.path(1), text[cut:])
		if n%3 == 0 {
			grown.once()
		}
	}
	grown.once()
	if got := grown.companion(grown.path(1)); got != want {
		t.Errorf("grown in pieces, the companion differs:\n%s", firstDifference(want, got))
	}

	rewritten := func(grows bool) string { // in place; the story is that of both lives of the file
		other := newHouse(t)
		other.write(other.path(1), turns(40, 60))
		other.once()
		other.write(other.path(2), turns(0, 9)) // another session
		if grows {
			other.write(other.path(1), turns(0, 5))
			other.once()
		}
		other.write(other.path(1), turns(0, 16))
		other.once()
		return other.companion(other.path(1))
	}
	if whole, grown := rewritten(false), rewritten(true); grown != whole || whole == want {
		t.Errorf("rewritten, the companion differs:\n%s", firstDifference(whole, grown))
	}

	control := newHouse(t)
	control.o.Compaction.Host = "elsewhere"
	control.write(control.path(1), turns(0, 16))
	control.once()
	if control.companion(control.path(1)) == want {
		t.Error("another option gives the same companion: this test cannot fail")
	}
}

func firstDifference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return "- " + as[i] + "\n+ " + bs[i]
		}
	}
	return "one is longer"
}

// Invariant 4.
func TestRestoreIsExact(t *testing.T) {
	h := newHouse(t)
	one := turns(0, 12)
	two := "{\"type\":\"user\"\r\n\xff\xfe\x00 not JSON\n\n" + turn(1) + `{"torn":`
	h.write(h.path(1), one)
	h.write(h.path(2), two)
	h.write(h.path(3), strings.Replace(one, "invoice", "Invoice", 1)) // the control
	h.once()
	for _, path := range []string{h.path(1), h.path(2), h.path(3)} {
		testkit.Must(t, os.Remove(path))
	}
	h.once()
	if got := h.restore(key(h.path(1))); got != one {
		t.Error("session 1 comes back changed")
	}
	if got := h.restore(key(h.path(2))); got != two {
		t.Errorf("session 2 comes back changed: %q", firstDifference(two, got))
	}
	if h.restore(key(h.path(3))) == one {
		t.Error("a changed letter is not seen: this test cannot fail")
	}
	moved := filepath.Join(h.o.StateDir, "companions", "claude-code", "projects", "-work", key(h.path(1)).ID+companion.Suffix)
	b := testkit.Read(t, moved)
	h.resolves(mark.IDs(string(b)))
	if _, err := h.o.Archive.Session(context.Background(), transcript.Key{Agent: "claude-code", ID: "none"}); err == nil {
		t.Error("a session that never was is found: this test cannot fail")
	}
}
