package daemon

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"

	"ccd/internal/testkit"
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
		if err := os.Remove(s.state.Companion); err != nil {
			t.Fatal(err)
		}
		if !s.due(d) {
			t.Error("a session without its companion is not due")
		}
	}
}

// TestFollowingTakesFewPasses: all companions of a session that grows without a rest, and what lists show of it, read at most
// 20 times its length, and lists never lag by more than a sixteenth of it. What the session's state says does not depend on the steps.
func TestFollowingTakesFewPasses(t *testing.T) {
	h := newHouse(t)
	h.o.Watch.RefreshIdle = time.Hour
	d, text, read, last := h.daemon(), "", int64(0), Place{}
	var s *session
	offer := func(quiet time.Duration) {
		if err := d.synced(watcher.Offer{Path: h.path(1), Root: d.Watch.Roots[0], Quiet: quiet}); err != nil {
			t.Fatal(err)
		}
		if s = d.sessions[d.owners[h.path(1)]]; s.state.Read != last {
			last = s.state.Read
			read += last.Offset
		}
	}
	for n, all := 0, testkit.Cases(t, 240, 4400); n < all; n += 2 {
		next := turns(n, n+2)
		h.append(h.path(1), next)
		text += next
		if offer(0); s.state.At.Offset-last.Offset > last.Offset/16 {
			t.Fatalf("%d bytes of %d are read", last.Offset, s.state.At.Offset)
		}
	}
	if size := int64(len(text)); read > 20*size || read < 3*size {
		t.Errorf("%d bytes were read of %d", read, size)
	}
	if offer(h.o.Watch.RefreshIdle); last != s.state.At {
		t.Errorf("at rest, %d bytes of %d are read", last.Offset, s.state.At.Offset)
	}
	grown := s.state
	if _, err := d.readArchived(context.Background(), s); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(s.state.Encode(), grown.Encode()) {
		t.Errorf("followed %+v\nread at once %+v", grown, s.state)
	}
}
