package daemon

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/compactor/sidecar"
)

// shut makes a directory one in which nothing can be removed, as a sandbox does with what is not named in it, until open
// is called. Root may write into every directory: for root another thing stands in its place.
func shut(t *testing.T, dir string) (open func()) {
	t.Helper()
	undo := func() error { return os.Chmod(dir, 0o700) }
	err := os.Chmod(dir, 0o500)
	if os.Geteuid() == 0 {
		if found, _ := filepath.Glob(filepath.Join(dir, "*.jsonl")); len(found) > 0 {
			t.Skip("NOTICE: root may write into every directory, and transcripts stand in this one")
		}
		undo = func() error { return errors.Join(os.Remove(dir), os.Rename(dir+".aside", dir)) }
		err = errors.Join(os.Rename(dir, dir+".aside"), os.WriteFile(dir, nil, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	opened := false
	open = func() {
		if opened {
			return
		}
		opened = true
		if err := undo(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(open)
	return open
}

// A companion in an earlier place that cannot be removed fails no session: the new one is written, the old one is noted
// and told once for all of them, and goes when that can be done.
func TestEarlierCompanionThatStays(t *testing.T) {
	tree := t.TempDir()
	for name, dirs := range map[string][2]string{"into a tree": {"", tree}, "out of a tree": {tree, ""}} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			var log bytes.Buffer
			h.o.Log = slog.New(slog.NewTextHandler(&log, nil))
			h.o.CompanionDir = dirs[0]
			for n := range 3 {
				h.write(h.path(n), turns(n, n+12))
			}
			h.once()
			var old []string
			for _, s := range h.daemon().sessions {
				old = append(old, s.state.Companion)
			}
			open := shut(t, filepath.Dir(old[0]))
			h.o.CompanionDir = dirs[1]
			h.once()
			h.once()
			for _, s := range h.daemon().sessions {
				if at := sidecar.Path(s.Session, dirs[1]); s.state.Companion != at || !exists(at) {
					t.Errorf("the companion is %q, want %q", s.state.Companion, at)
				}
				if len(s.state.Earlier) != 1 || !slices.Contains(old, s.state.Earlier[0]) {
					t.Errorf("noted %q", s.state.Earlier)
				}
			}
			if n := strings.Count(log.String(), "cannot remove companions"); n != 2 { // of two daemons
				t.Errorf("logged %d times by two daemons:\n%s", n, log.String())
			}
			open()
			h.once()
			for _, s := range h.daemon().sessions {
				if len(s.state.Earlier) > 0 || !exists(s.state.Companion) {
					t.Errorf("noted %q once they could be removed", s.state.Earlier)
				}
			}
			for _, p := range old {
				if exists(p) {
					t.Errorf("%s is left", p)
				}
			}
		})
	}
}

// Back to where it was before, a companion is not one of an earlier place, and what another session has in such a place
// is not touched.
func TestEarlierPlaceInUse(t *testing.T) {
	s := State{Companion: "/tree/a", Earlier: []string{"/beside/a", "/tree/a"}}
	for to, want := range map[string][]string{"/beside/a": {"/tree/a"}, "/tree/a": {"/beside/a"}, "": {"/beside/a", "/tree/a"}} {
		if got := s.earlier(to); !slices.Equal(got, want) {
			t.Errorf("to %q: %q, want %q", to, got, want)
		}
	}
	h := newHouse(t)
	for n := range 2 {
		h.write(h.path(n), turns(n, n+12))
	}
	h.once()
	d := h.daemon()
	one, two := d.sessions[key(h.path(0))], d.sessions[key(h.path(1))]
	one.state.Earlier = []string{two.state.Companion}
	d.cleanUp(t.Context())
	if !exists(two.state.Companion) || len(one.state.Earlier) > 0 {
		t.Errorf("another session's companion: there %v, noted %q", exists(two.state.Companion), one.state.Earlier)
	}
}

// An earlier companion that may not even be read is another user's, and no concern of this one: nothing is noted or told.
func TestEarlierCompanionOfAnotherUser(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("NOTICE: root may read everything")
	}
	h := newHouse(t)
	var log bytes.Buffer
	h.o.Log = slog.New(slog.NewTextHandler(&log, nil))
	h.write(h.path(1), turns(0, 12))
	h.once()
	old := h.daemon().sessions[key(h.path(1))].state.Companion
	if err := os.Chmod(old, 0); err != nil {
		t.Fatal(err)
	}
	h.o.CompanionDir = t.TempDir()
	h.once()
	s := h.daemon().sessions[key(h.path(1))]
	if s.state.Companion == old || !exists(s.state.Companion) || len(s.state.Earlier) > 0 || log.Len() > 0 || !exists(old) {
		t.Errorf("companion %q, noted %q, told %q", s.state.Companion, s.state.Earlier, &log)
	}
}
