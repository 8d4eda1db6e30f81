package daemon

import (
	"os"
	"testing"
	"time"

	"ccd/compactor"
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
		"nothing new": {func(*Daemon, *session) {}, time.Hour, false},
		"an eighth of a long session is new": {func(_ *Daemon, s *session) {
			s.state.Covers.Offset = 8 * s.state.Written.Size
			s.state.At.Offset = 9 * s.state.Written.Size
		}, 0, true},
		"less than an eighth": {func(_ *Daemon, s *session) {
			s.state.Covers.Offset = 8 * s.state.Written.Size
			s.state.At.Offset = 9*s.state.Written.Size - 1
		}, 0, false},
		"a quarter of its size is new in a short session": {func(_ *Daemon, s *session) {
			s.state.Covers.Offset = s.state.Written.Size
			s.state.At.Offset = s.state.Written.Size + s.state.Written.Size/4
		}, 0, true},
		"less than a quarter": {func(_ *Daemon, s *session) {
			s.state.Covers.Offset = s.state.Written.Size
			s.state.At.Offset = s.state.Written.Size + s.state.Written.Size/4 - 1
		}, 0, false},
		"a little, quiet for 30 s":  {func(_ *Daemon, s *session) { s.state.At.Offset++ }, 30 * time.Second, true},
		"a little, quiet for less":  {func(_ *Daemon, s *session) { s.state.At.Offset++ }, 29 * time.Second, false},
		"the companion is gone":     {func(d *Daemon, s *session) { s.state.Companion += ".gone" }, 0, true},
		"other options":             {func(_ *Daemon, s *session) { s.state.Options = "00000000" }, 0, true},
		"another generation":        {func(_ *Daemon, s *session) { s.state.At.Generation++ }, 0, true},
		"a summary came":            {func(_ *Daemon, s *session) { s.renew = true }, 0, true},
		"no trigger has ever fired": {func(_ *Daemon, s *session) { s.state.Trigger, s.state.Options = "", "00000000" }, time.Hour, false},
		"it fired once, and no longer does": {func(_ *Daemon, s *session) {
			s.state.Trigger, s.state.At.Offset = "threshold", s.state.At.Offset+s.state.Written.Size
		}, 0, true},
	} {
		d := h.daemon()
		var s *session
		for _, known := range d.sessions {
			s = known
		}
		s.compactor = compactor.New(h.o.Compaction, s.Session) // nothing in it: no trigger of its own
		c.change(d, s)
		if got := s.due(d, watcher.Offer{Quiet: c.quiet}); got != c.want {
			t.Errorf("%s: due %t, want %t", name, got, c.want)
		}
	}
	// The control: without its companion the same session is due.
	d := h.daemon()
	for _, s := range d.sessions {
		s.compactor = compactor.New(h.o.Compaction, s.Session)
		if err := os.Remove(s.state.Companion); err != nil {
			t.Fatal(err)
		}
		if !s.due(d, watcher.Offer{}) {
			t.Error("a session without its companion is not due")
		}
	}
}
