package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"ccd/compactor/companion"
	"ccd/internal/atomicfile"
	"ccd/internal/transcript"
)

// When a transcript is gone, the archive stays. Its companion moves to the state directory, is made again when the
// rules change, and is removed after Options.KeepAfterPurge.

// markGone records that a transcript is gone and moves its companion to the state directory. A session without a state is
// read before its companion is made.
func (d *Daemon) markGone(ctx context.Context, s *session) error {
	d.Log.Info("transcript gone; the archive keeps it", "session", s.ID)
	before := d.companion(s)
	err := d.reload(ctx, s)
	if err != nil {
		return err
	}
	if s.archivedPath == "" {
		delete(d.owners, s.Path)
		delete(d.sessions, s.Key) // the file was created and deleted before any byte was archived
		return nil
	}
	s.state.Gone, s.state.GoneAt = true, time.Now().UTC()
	if s.state.Options == "" && exists(before) {
		s.state.Companion = before
	}
	next := s.state
	from, to := next.Companion, d.companion(s)
	if from != "" && from != to && d.CompanionDir == "" {
		if err := companion.Copy(from, to); err != nil && !errors.Is(err, fs.ErrPermission) { // treat another user's as missing
			return err
		}
		if next.Written, err = stat(to); err != nil {
			next.Written, to = Stat{}, "" // it was gone too: `ccd show` makes it again
		}
		next.Companion = to
	}
	return d.store(ctx, s, nil, next, nil)
}

// knowsAgent reports whether the agent's records can be read. The configuration of an agent may have been removed.
func (d *Daemon) knowsAgent(agent string) bool {
	_, ok := d.Agents.Lookup(agent)
	return ok || agent == transcript.Messages
}

// expired reports whether the companion of a session whose transcript is gone has been kept for KeepAfterPurge, counted
// from when the transcript was deleted or the companion was last written. A pinned session's companion does not expire.
func (d *Daemon) expired(s *session, now time.Time) bool {
	if d.KeepAfterPurge <= 0 || s.state.Labels.Pinned || !s.state.Gone || s.state.Companion == "" {
		return false
	}
	since := s.state.GoneAt
	if written := time.Unix(0, s.state.Written.ModTime); written.After(since) {
		since = written
	}
	return now.Sub(since) > d.KeepAfterPurge
}

// expire removes the companions that have expired. `ccd show` can make them again from the archive. A failed removal is
// repeated after the next scan.
func (d *Daemon) expire(ctx context.Context, now time.Time) {
	for _, s := range d.sessions {
		if ctx.Err() != nil || s.busy || !d.expired(s, now) {
			continue
		}
		d.heartbeat()
		err := d.expireOne(ctx, s, now)
		if err != nil {
			err = fmt.Errorf("expire companion of session %s: %w", s.ID, err)
		}
		d.result(d.asOffer(s), err)
	}
}

func (d *Daemon) expireOne(ctx context.Context, s *session, now time.Time) error {
	if err := d.reload(ctx, s); err != nil || !d.expired(s, now) { // another process was faster
		return err
	}
	next := s.state
	next.Companion, next.Written = "", Stat{}
	d.Log.Info("companion removed: keep_after_purge has passed", "session", s.ID)
	return d.store(ctx, s, nil, next, nil)
}

// cleanUp removes what a crash left beside companions.
func (d *Daemon) cleanUp(ctx context.Context) {
	cleaned := map[string]bool{}
	for _, s := range d.sessions {
		dir := filepath.Dir(d.companion(s))
		if ctx.Err() != nil || cleaned[dir] || s.Class == transcript.Attachment {
			continue
		}
		d.heartbeat()
		cleaned[dir] = true
		if err := atomicfile.Clean(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.Log.Warn("cannot remove temporary files of a crash", "dir", dir, "err", err)
		}
	}
}
