package daemon

import (
	"os"
	"testing"
	"time"

	"ccd/internal/mark"
	"ccd/internal/testkit"
)

// A companion whose transcript is gone is kept for KeepAfterPurge, in both places where it may stand. What is not ours is
// never removed, and the archive keeps everything.
func TestCompanionsOfPurgedTranscriptsExpire(t *testing.T) {
	for name, dir := range map[string]string{"in the state directory": "", "in a tree": "tree"} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			if dir != "" {
				h.o.CompanionDir = t.TempDir()
			}
			h.o.KeepAfterPurge = 24 * time.Hour
			for n := range 3 {
				h.write(h.path(n), turns(n, n+12))
			}
			h.once()
			for n := 1; n < 3; n++ {
				testkit.Must(t, os.Remove(h.path(n)))
			}
			h.once()
			d := h.daemon()
			gone, foreign := d.sessions[key(h.path(1))], d.sessions[key(h.path(2))]
			kept, theirs := d.sessions[key(h.path(0))].state.Companion, foreign.state.Companion
			text := testkit.Read(t, gone.state.Companion)
			testkit.Must(t, os.WriteFile(theirs, []byte("mine\n"), 0o600))
			for wait, want := range map[time.Duration]bool{0: true, 23 * time.Hour: true, 25 * time.Hour: false} {
				if got := !d.expired(gone, time.Now().Add(wait)); got != want {
					t.Errorf("after %v it is kept: %v, want %v", wait, got, want)
				}
			}
			at := gone.state.Companion
			if d.expire(t.Context(), time.Now().Add(23*time.Hour)); !exists(at) {
				t.Fatal("it is removed before its time")
			}
			if d.expire(t.Context(), time.Now().Add(25*time.Hour)); exists(at) {
				t.Fatal("it is kept after its time")
			}
			if !exists(kept) || !exists(theirs) {
				t.Errorf("kept: that of a transcript that is there %v, one that is not ours %v", exists(kept), exists(theirs))
			}
			h.resolves(mark.IDs(string(text)))
			h.once()
			if exists(at) {
				t.Error("the next pass makes it again")
			}
			if s := h.daemon().sessions[key(h.path(1))]; s.state.Companion != "" || !s.state.Gone {
				t.Errorf("the archive has companion %q, gone %v", s.state.Companion, s.state.Gone)
			}
		})
	}
}
