package daemon

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"ccd/archive"
	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
	"ccd/watcher"
)

const leak = "token-90c3d1f7a2b84e56"

func leaked() string {
	return strings.Replace(turn(7), "Please check", "The token is "+leak+". Please check", 1)
}

func (h *house) forget() archive.Removed {
	h.t.Helper()
	r := archive.Removal{Texts: []archive.Text{{Bytes: []byte(leak), To: len(leak), Fill: '*'}}}
	preview, err := h.o.Archive.Preview(context.Background(), r, nil)
	testkit.Must(h.t, err)
	removed, err := h.daemon().Forget(context.Background(), r, preview, nil)
	testkit.Must(h.t, err)
	return removed
}

// clean fails the test if the archive or the companion of a session has the forgotten text.
func (h *house) clean(path, text string) {
	h.t.Helper()
	if got := h.restore(key(path)); got != strings.ReplaceAll(text, leak, strings.Repeat("*", len(leak))) {
		h.t.Errorf("the archive has %d other bytes", len(got))
	}
	if s := h.companion(path); strings.Contains(s, leak) || !strings.Contains(s, "***") {
		h.t.Error("the companion has the text, or lacks the session")
	}
	if r, err := h.o.Archive.Verify(context.Background(), nil); err != nil || len(r.Damage) > 0 {
		h.t.Errorf("verify: %v, %v", err, r.Damage)
	}
}

// A daemon that runs while another process forgets a text does not write it again.
func TestForgetBesideADaemon(t *testing.T) {
	h := newHouse(t)
	path, text := h.path(1), turns(0, 4)+leaked()
	h.write(path, text)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	d := h.daemon()
	go func() { ended <- d.Run(ctx) }()
	companion := strings.TrimSuffix(path, ".jsonl") + ".ccd.md"
	testkit.Eventually(t, "the companion has the text", func() bool {
		b, err := os.ReadFile(companion)
		return err == nil && strings.Contains(string(b), leak)
	})
	h.forget()
	h.clean(path, text)
	more := turns(8, 14)
	h.append(path, more)
	testkit.Eventually(t, "the companion covers more", func() bool {
		b, err := os.ReadFile(companion)
		return err == nil && strings.Contains(string(b), "invoice 13")
	})
	stop()
	<-ended
	h.clean(path, text+more)
}

// The weekly comparison with the transcript takes what was forgotten for equal.
func TestRecheckAfterForget(t *testing.T) {
	h := newHouse(t)
	path, text := h.path(1), turns(0, 4)+leaked()
	h.write(path, text)
	h.once()
	if n := h.forget().Places; n != 1 {
		t.Fatalf("%d places", n)
	}
	d := h.daemon()
	for _, s := range d.sessions {
		s.state.Checked = s.state.Checked.Add(-2 * recheckCycle)
	}
	d.result = func(_ watcher.Offer, err error) {
		if err != nil {
			t.Error(err)
		}
	}
	d.recheck(t.Context(), time.Now())
	h.once()
	if s := h.stored(path); s.At.Generation != 1 || s.Checked.IsZero() {
		t.Errorf("%+v", s)
	}
	h.clean(path, text)
}

// A session without a companion, whose transcript is gone, keeps what lists show of it.
func TestForgetInAGoneSession(t *testing.T) {
	h := newHouse(t)
	h.o.Compaction.Threshold = 1 << 30
	path := h.path(1)
	h.write(path, leaked())
	h.once()
	testkit.Must(t, os.Remove(path))
	h.once()
	was := h.stored(path)
	h.forget()
	if s := h.stored(path); !was.Gone || s.Companion != "" || !strings.HasPrefix(s.Ask, "The token is ***") || s.Model != was.Model {
		t.Errorf("%+v", s)
	}
}

// An original in a session that is removed, which the companion of another session names, can still be restored.
func TestCompanionsOutliveEqualSessions(t *testing.T) {
	h := newHouse(t)
	for n := range 2 {
		h.write(h.path(n), outputs(12, 240))
		h.once()
	}
	ids := mark.IDs(h.companion(h.path(0)))
	h.resolves(ids)
	gone := key(h.path(1))
	if named, err := h.daemon().naming(t.Context(), []transcript.Key{gone}); err != nil || len(named) == 0 {
		gone = key(h.path(0)) // the index has the first one that was archived
	}
	if named, err := h.daemon().naming(t.Context(), []transcript.Key{gone}); err != nil || len(named) == 0 {
		t.Fatalf("the companions have no ID in common: this test cannot fail (%v)", err)
	}
	d := h.daemon()
	r := archive.Removal{Sessions: []transcript.Key{gone}}
	if _, err := d.Forget(t.Context(), r, archive.Removed{Sessions: r.Sessions}, nil); err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		if key(h.path(n)) != gone {
			h.resolves(mark.IDs(h.companion(h.path(n))))
		}
	}
}
