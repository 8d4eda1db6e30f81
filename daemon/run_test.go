package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/compactor"
	"ccd/compactor/companion"
	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/watcher"
)

// running starts a daemon and returns a function that stops it and returns what Run returned.
func (h *house) running() (stop func() error) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	d := h.daemon()
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	stopped := false
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(time.Minute):
			return errors.New("run does not end within a minute")
		}
	}
	h.t.Cleanup(func() { _ = stop() })
	return stop
}

func (h *house) has(path, text string) func() bool {
	return func() bool {
		b, err := os.ReadFile(strings.TrimSuffix(path, ".jsonl") + companion.Suffix)
		return err == nil && strings.Contains(string(b), text)
	}
}

// covers reports whether the companion covers n bytes of its transcript.
func (h *house) covers(path string) func() bool {
	return func() bool {
		b, err := os.ReadFile(path)
		return err == nil && h.has(path, "sha256: "+mark.Sum(b).String())()
	}
}

func TestRunMendsWhatWasTakenAway(t *testing.T) {
	h := newHouse(t)
	h.write(h.path(1), turns(0, 12))
	h.running()
	testkit.Eventually(t, "the companion", h.covers(h.path(1)))
	companion := strings.TrimSuffix(h.path(1), ".jsonl") + companion.Suffix
	want := h.companion(h.path(1))
	testkit.Must(t, os.Remove(companion))
	testkit.Eventually(t, "a removed companion is written again", h.covers(h.path(1)))
	h.append(companion, "scribbled\n")
	testkit.Eventually(t, "a changed companion is written again", func() bool { return h.covers(h.path(1))() && h.companion(h.path(1)) == want })
}

func TestForeignFileIsNeverTouched(t *testing.T) {
	h := newHouse(t)
	h.write(h.path(1), turns(0, 12))
	h.write(h.path(2), turns(0, 12))
	foreign := strings.TrimSuffix(h.path(1), ".jsonl") + companion.Suffix
	h.write(foreign, "my own notes\n")
	r, err := h.daemon().Once(context.Background(), func(done, all int64) {})
	testkit.Must(t, err)
	if len(r.Failed) != 1 || !strings.Contains(r.Failed[0].Error, companion.ErrForeign.Error()) {
		t.Errorf("failed = %+v, want the foreign file", r.Failed)
	}
	if b, _ := os.ReadFile(foreign); string(b) != "my own notes\n" {
		t.Errorf("the foreign file is now %q", b)
	}
	h.companion(h.path(2)) // the other session went on
	if got := h.restore(key(h.path(1))); got != turns(0, 12) {
		t.Error("the session was not archived")
	}
}

func TestGenerationsAndMoves(t *testing.T) {
	h := newHouse(t)
	h.write(h.path(1), turns(0, 12))
	h.once()
	old := h.companion(h.path(1))
	h.write(h.path(1), turns(20, 32)) // replaced
	h.once()
	s, err := h.o.Archive.Session(context.Background(), key(h.path(1)))
	if err != nil || len(s.Generations) != 2 {
		t.Fatalf("generations = %d, %v; want 2", len(s.Generations), err)
	}
	h.resolves(mark.IDs(old)) // of the replaced life too
	to := filepath.Join(filepath.Dir(filepath.Dir(h.path(1))), "-elsewhere", filepath.Base(h.path(1)))
	testkit.Must(t, os.MkdirAll(filepath.Dir(to), 0o700))
	testkit.Must(t, os.Rename(h.path(1), to))
	h.once()
	if !strings.Contains(h.companion(to), "source: projects/-elsewhere/") {
		t.Error("the companion did not follow its transcript")
	}
	if _, err := os.Stat(strings.TrimSuffix(h.path(1), ".jsonl") + companion.Suffix); err == nil {
		t.Error("a companion is left behind")
	}
	s, err = h.o.Archive.Session(context.Background(), key(to))
	if err != nil || len(s.Generations) != 2 || s.Path != to {
		t.Errorf("after the move: %d generations at %s, %v", len(s.Generations), s.Path, err)
	}
}

// bodyTokens are the estimated tokens of what stands after a companion's front matter.
func bodyTokens(text string) int64 {
	_, body, _ := strings.Cut(text, "\n---\n")
	return companion.Tokens(body)
}

// What a shell's `ccd compact` did meanwhile is not undone by a daemon that does not know of it yet.
func TestShellAndDaemonMeetAsEquals(t *testing.T) {
	h := newHouse(t)
	h.o.Compaction.Threshold = 1 << 40
	h.write(h.path(1), turns(0, 12))
	h.once()
	d := h.daemon()
	if _, err := h.daemon().Compact(context.Background(), key(h.path(1)), CompactOptions{Manual: compactor.Manual{MaxTokens: 6000}, Write: true}); err != nil {
		t.Fatal(err)
	}
	h.append(h.path(1), turns(12, 16))
	for range 5 {
		testkit.Must(t, d.synced(watcher.Offer{Path: h.path(1), Root: d.Watch.Roots[0], Quiet: atRest}))
	}
	if !h.covers(h.path(1))() {
		t.Error("the companion that a person asked for does not follow its session")
	}
	if n := bodyTokens(h.companion(h.path(1))); n > 6000 {
		t.Errorf("%d tokens: the daemon has undone what the person asked for", n)
	}
	pin := func(was Labels) (Labels, error) { was.Pinned = true; return was, nil }
	testkit.Must(t, Label(t.Context(), h.o.Archive, key(h.path(1)), pin))
	h.append(h.path(1), turns(16, 18))
	testkit.Must(t, d.synced(watcher.Offer{Path: h.path(1), Root: d.Watch.Roots[0], Quiet: atRest}))
	if s := h.stored(h.path(1)); !s.Labels.Pinned {
		t.Error("the daemon has undone a label")
	}
}

// A copy of the agent's directory takes the sessions over when the first one is watched no more.
func TestOwnerBelowNoRootLetsGo(t *testing.T) {
	h := newHouse(t)
	h.write(h.path(1), turns(0, 12))
	h.once()
	copied := filepath.Join(h.home, "new", "projects")
	to := filepath.Join(copied, "-work", filepath.Base(h.path(1)))
	h.write(to, turns(0, 14))
	h.o.Watch.Roots = []watcher.Root{{Agent: "claude-code", Path: copied}}
	h.once()
	s, err := h.o.Archive.Session(context.Background(), key(to))
	if err != nil || s.Path != to || len(s.Generations) != 1 {
		t.Errorf("the session stands at %s with %d generations, %v", s.Path, len(s.Generations), err)
	}
	if !h.covers(to)() {
		t.Error("no companion beside the copy")
	}
}

// What a crash left is swept once it is old.
func TestLeftoversAreSwept(t *testing.T) {
	h := newHouse(t)
	h.write(h.path(1), turns(0, 12))
	left := filepath.Join(filepath.Dir(h.path(1)), ".ccd-0123456789abcdef.tmp")
	h.write(left, "half")
	h.once()
	if !exists(left) {
		t.Error("a fresh one was removed: it may be another's")
	}
	old := time.Now().Add(-48 * time.Hour)
	testkit.Must(t, os.Chtimes(left, old, old))
	h.once()
	if exists(left) {
		t.Error("an old one stays")
	}
}

// A daemon for one transcript loads only its session, and all of them if it is not archived under its own ID.
func TestNewAtLoadsOneSession(t *testing.T) {
	h := newHouse(t)
	for n := range 3 {
		h.write(h.path(n), turns(0, 2))
	}
	h.once()
	for path, want := range map[string]int{h.path(1): 1, h.path(7): 3} {
		h.append(path, turns(2, 12))
		d, err := NewAt(context.Background(), h.o, path)
		testkit.Must(t, err)
		s, ok := d.SessionAt(t.Context(), path)
		if loaded := len(d.sessions); !ok || loaded > want+1 || loaded < want {
			t.Errorf("%s: %d loaded, known %t", path, loaded, ok)
		}
		if _, err := d.Compact(context.Background(), s.Key, CompactOptions{Write: true}); err != nil {
			t.Error(err)
		}
	}
	h.samePass(h.path(1), turns(0, 12))
}
