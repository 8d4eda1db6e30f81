package daemon

import (
	"context"
	"fmt"
	"time"
)

// expired reports whether the companion of a session whose transcript is gone has been kept for long enough: since the
// transcript went, or since it was last written.
func (d *Daemon) expired(s *session, now time.Time) bool {
	if d.KeepAfterPurge <= 0 || !s.state.Gone || s.state.Companion == "" {
		return false
	}
	since := s.state.GoneAt
	if written := time.Unix(0, s.state.Written.ModTime); written.After(since) {
		since = written
	}
	return now.Sub(since) > d.KeepAfterPurge
}

// expire removes the companions that have been kept for long enough; the archive has what they were made from, and
// `ccd show` makes one anew. What fails is tried again after the next scan.
func (d *Daemon) expire(ctx context.Context, now time.Time) error {
	for _, s := range d.sessions {
		if ctx.Err() != nil || !d.expired(s, now) {
			continue
		}
		d.alive()
		if err := d.expireOne(ctx, s, now); err != nil {
			return fmt.Errorf("expire companion of session %s: %w", s.ID, err)
		}
	}
	return nil
}

func (d *Daemon) expireOne(ctx context.Context, s *session, now time.Time) error {
	if err := d.reread(ctx, s); err != nil || !d.expired(s, now) { // another process was faster
		return err
	}
	next := s.state
	next.Earlier = next.earlier("")
	next.Companion, next.Written = "", Stat{}
	d.Log.Info("companion removed, its transcript is long gone", "session", s.ID)
	return d.depart(ctx, s, next)
}
