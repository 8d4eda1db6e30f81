package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/compactor/sidecar"
	"ccd/internal/mark"
)

// standing is a companion as it stands, inode and all.
type standing struct {
	info os.FileInfo
	text string
}

func stands(t *testing.T, path string) standing {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return standing{info, string(b)}
}

// untouched reports whether the same file stands there still.
func (was standing) untouched(is standing) bool {
	return os.SameFile(was.info, is.info) && was.info.ModTime().Equal(is.info.ModTime()) && was.text == is.text
}

// older makes the states in the archive, and the companions, what an older version of the rules has left.
func (h *house) older() {
	h.t.Helper()
	d := h.daemon()
	for _, s := range d.sessions {
		if s.state.Companion == "" {
			h.t.Fatalf("session %s has no companion", s.ID)
		}
		s.state.Options = mark.Sum([]byte("older rules")).String()
		text := strings.Replace(stands(h.t, s.state.Companion).text, "\nrules: ", "\nrules: 1\nwas: ", 1)
		if err := os.WriteFile(s.state.Companion, []byte(text), 0o600); err != nil {
			h.t.Fatal(err)
		}
		written, err := stat(s.state.Companion)
		if err != nil {
			h.t.Fatal(err)
		}
		s.state.Written = written
		d.batch.note(s)
	}
	d.save(h.t.Context())
}

// A companion of older rules is made anew once, and only once: beside its transcript, and in the state directory where
// the transcript is gone. One that somebody has removed there stays removed.
func TestOlderRulesAreRewrittenOnce(t *testing.T) {
	h := newHouse(t)
	for n := range 3 {
		h.write(h.path(n), turns(n, n+12))
	}
	h.once()
	want := h.companion(h.path(1))
	for n := 1; n < 3; n++ {
		if err := os.Remove(h.path(n)); err != nil {
			t.Fatal(err)
		}
	}
	h.once()
	beside := strings.TrimSuffix(h.path(0), ".jsonl") + sidecar.Suffix
	kept, removed := "", ""
	for _, s := range h.daemon().sessions {
		switch s.Key {
		case key(h.path(1)):
			kept = s.state.Companion
		case key(h.path(2)):
			removed = s.state.Companion
		}
	}
	if !strings.HasPrefix(kept, filepath.Join(h.o.StateDir, "companions")) {
		t.Fatalf("the companion of a session that is gone stands at %q", kept)
	}
	first := stands(t, kept)
	h.once()
	if !first.untouched(stands(t, kept)) {
		t.Fatal("rewritten although nothing has changed")
	}
	h.older()
	if err := os.Remove(removed); err != nil {
		t.Fatal(err)
	}
	old := []standing{stands(t, beside), stands(t, kept)}
	if !strings.Contains(old[1].text, "\nrules: 1\n") {
		t.Fatal("no companion of older rules: this test cannot fail")
	}
	h.once()
	now := []standing{stands(t, beside), stands(t, kept)}
	for i := range now {
		if old[i].untouched(now[i]) || strings.Contains(now[i].text, "rules: 1\n") {
			t.Errorf("companion %d is still the older one", i)
		}
	}
	if now[1].text != want {
		t.Errorf("made anew, it differs from what it was:\n%s", firstDifference(want, now[1].text))
	}
	h.resolves(mark.IDs(now[1].text))
	h.once()
	for i, path := range []string{beside, kept} {
		if !now[i].untouched(stands(t, path)) {
			t.Errorf("companion %d was written again", i)
		}
	}
	if exists(removed) {
		t.Error("what somebody removed is back")
	}
}
