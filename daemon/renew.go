package daemon

import (
	"context"

	"ccd/internal/transcript"
)

// outdated reports whether the companion of a session whose transcript is gone was made by other rules, or with other
// options, than hold now. One that somebody has removed stays removed.
func (d *Daemon) outdated(s *session) bool {
	return s.state.Gone && s.state.Companion != "" && s.Class != transcript.Attachment && s.state.Skipped == "" &&
		s.state.Options != d.hash(s) && exists(s.state.Companion)
}

// renew makes the companion of a session anew whose transcript is gone, from its fold of what the archive holds.
func (d *Daemon) renew(ctx context.Context, s *session) error {
	if !d.outdated(s) { // another process was faster
		return nil
	}
	s.update(0)
	if s.state.Foreign { // known to rules that understood less
		d.keep(s)
		return nil
	}
	_, err := d.publish(ctx, s)
	if err == nil {
		s.unfold()
		delete(d.owners, s.Path) // nothing more is to be looked for
	}
	return err
}
