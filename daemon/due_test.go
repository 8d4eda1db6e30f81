package daemon

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"ccd/internal/redact"
	"ccd/internal/testkit"
	"ccd/internal/testkit/gen"
	"ccd/watcher"
)

// TestWhenACompanionIsDue has what makes a session's companion due, one after the other, on one that was just written.
func TestWhenACompanionIsDue(t *testing.T) {
	h := newHouse(t)
	h.o.Watch.RefreshIdle = 30 * time.Second
	h.write(h.path(1), turns(0, 12))
	h.once()
	for name, c := range map[string]struct {
		change func(*Daemon, *session)
		quiet  time.Duration
		want   bool
	}{
		"nothing new":               {func(*Daemon, *session) {}, time.Hour, false},
		"a quarter is new":          {func(_ *Daemon, s *session) { s.state.Covers.Offset, s.state.At.Offset = 4000, 5000 }, 0, true},
		"less than a quarter":       {func(_ *Daemon, s *session) { s.state.Covers.Offset, s.state.At.Offset = 4000, 4999 }, 0, false},
		"a little, quiet for 30 s":  {func(_ *Daemon, s *session) { s.state.At.Offset++ }, 30 * time.Second, true},
		"a little, quiet for less":  {func(_ *Daemon, s *session) { s.state.At.Offset++ }, 29 * time.Second, false},
		"the companion is gone":     {func(d *Daemon, s *session) { s.state.Companion += ".gone" }, 0, true},
		"other options":             {func(_ *Daemon, s *session) { s.state.Options = "00000000" }, 0, true},
		"another generation":        {func(_ *Daemon, s *session) { s.state.At.Generation++ }, 0, true},
		"a summary came":            {func(_ *Daemon, s *session) { s.state.Covers = Place{} }, 0, true},
		"no trigger has ever fired": {func(_ *Daemon, s *session) { s.state.Trigger, s.state.Options = "", "00000000" }, time.Hour, false},
		"it fired once, and no longer does": {func(_ *Daemon, s *session) {
			s.state.Trigger, s.state.At.Offset = "threshold", 2*s.state.At.Offset
		}, 0, true},
	} {
		d := h.daemon()
		var s *session
		for _, known := range d.sessions {
			s = known
		}
		s.offer.Quiet = c.quiet
		c.change(d, s)
		if got := s.due(d); got != c.want {
			t.Errorf("%s: due %t, want %t", name, got, c.want)
		}
	}
	// The control: without its companion the same session is due.
	d := h.daemon()
	for _, s := range d.sessions {
		testkit.Must(t, os.Remove(s.state.Companion))
		if !s.due(d) {
			t.Error("a session without its companion is not due")
		}
	}
}

// TestFollowedSaysTheSame: the companion and the state of a session that came in pieces, cut anywhere, torn lines at rest among them, are
// those of one reading of all.
func TestFollowedSaysTheSame(t *testing.T) {
	var text bytes.Buffer
	testkit.Must(t, gen.Write(&text, gen.Claude, 5, 300_000))
	all := `{"type":"user","uuid":"q0","message":{"role":"user","content":"Deploy with password=hunter2-Kq81xZ7 and AKIAIOSFODNN7EXAMPLX, please"}}` + "\n" + strings.ReplaceAll(text.String(), "}\n", "} \n")
	h := newHouse(t)
	var err error
	if h.o.Agents.Redact, err = redact.New(redact.Config{}); err != nil {
		t.Fatal(err)
	}
	d := h.daemon()
	rng := rand.New(rand.NewPCG(testkit.Seed(), 46))
	followed := 0
	for at := 0; at < len(all); {
		n := min(len(all)-at, 1+rng.IntN(60_000))
		quiet := []time.Duration{0, 0, 0, h.o.Watch.Settle, h.o.Watch.RefreshIdle}[rng.IntN(5)]
		if end := strings.Index(all[at+n:], "} \n"); end >= 0 && rng.IntN(3) == 0 { // a whole line that goes on
			n += end + 1
			quiet = h.o.Watch.Settle
		}
		h.append(h.path(1), all[at:at+n])
		if at += n; at == len(all) {
			quiet = h.o.Watch.RefreshIdle
		}
		if err := d.synced(watcher.Offer{Path: h.path(1), Root: d.Watch.Roots[0], Quiet: quiet, Live: true}); err != nil {
			t.Fatal(err)
		}
		if s := d.sessions[d.owners[h.path(1)]]; s.read != nil && s.read.model != nil {
			followed++
		}
	}
	if followed < 3 {
		t.Errorf("the model was kept %d times: this test sees nothing", followed)
	}
	h.samePass(h.path(1), all)
	s := d.sessions[d.owners[h.path(1)]]
	grown := s.state
	s.read = nil
	if _, err := d.readArchived(context.Background(), s, true); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(s.state.Encode(), grown.Encode()) {
		t.Errorf("followed %+v\nread at once %+v", grown, s.state)
	}
}
