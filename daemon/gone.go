package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"ccd/archive"
	"ccd/compactor/sidecar"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// When a transcript is gone, the archive stays. Its companion moves to the state directory, is made again when the
// rules change, and is removed after Options.KeepAfterPurge.

// syncGone syncs a session whose transcript is gone.
func (d *Daemon) syncGone(ctx context.Context, s *session) error {
	if !s.state.Gone {
		return d.markGone(ctx, s)
	}
	if err := d.track(ctx, s); err != nil {
		return err
	}
	return d.rebuildCompanion(ctx, s)
}

// markGone records that a transcript is gone and moves its companion to the state directory.
func (d *Daemon) markGone(ctx context.Context, s *session) error {
	d.Log.Info("transcript gone; the archive keeps it", "session", s.ID)
	delete(d.owners, s.Path)
	err := d.reload(ctx, s)
	if errors.Is(err, archive.ErrNotFound) {
		delete(d.sessions, s.Key) // the file was created and deleted before any byte was archived
		return nil
	}
	if err != nil {
		return err
	}
	if len(s.raw) == 0 {
		return d.rebuildState(ctx, s)
	}
	s.state.Gone, s.state.GoneAt = true, time.Now().UTC()
	next := s.state
	if from, to := s.state.Companion, d.companion(s); from != "" && from != to && d.CompanionDir == "" {
		if err := sidecar.Copy(from, to); err != nil && !errors.Is(err, fs.ErrPermission) { // treat another user's as missing
			return err
		}
		if next.Written, err = stat(to); err != nil {
			next.Written, to = Stat{}, "" // it was gone too: `ccd show` makes it again
		}
		next.Earlier = next.earlier(to)
		next.Companion = to
	}
	return d.storeMoved(ctx, s, next)
}

// rebuildState makes the missing state of a session whose transcript is gone from the archived bytes, and its companion
// if one is due. If those bytes are damaged, the state says only that the transcript is gone.
func (d *Daemon) rebuildState(ctx context.Context, s *session) error {
	tip, before := s.cursor, d.companion(s)
	err := d.track(ctx, s)
	defer s.untrack()
	if err != nil && !errors.As(err, new(*archive.DamageError)) {
		return err
	}
	s.missing, s.state.Gone, s.state.GoneAt = true, true, time.Now().UTC()
	if err != nil {
		s.cursor = tip
		return d.storeMoved(ctx, s, s.state)
	}
	s.updateState(0)
	if !s.due(d, watcher.Offer{}) {
		return d.storeMoved(ctx, s, s.state)
	}
	if exists(before) {
		s.state.Companion = before
	}
	_, err = d.publish(ctx, s)
	return err
}

// outdated reports whether the companion of a session whose transcript is gone was made by other rules or options than
// the current ones. A companion that the user deleted is not made again, and without its agent's configuration none can
// be.
func (d *Daemon) outdated(s *session) bool {
	return d.knowsAgent(s.Agent) && s.state.Gone && s.state.Companion != "" && s.Class != transcript.Attachment && s.state.SkipReason == "" &&
		(s.renew || s.state.Options != d.hash(s)) && exists(s.state.Companion)
}

// knowsAgent reports whether the agent's records can be read. The configuration of an agent may have been removed.
func (d *Daemon) knowsAgent(agent string) bool {
	_, ok := d.Agents.Lookup(agent)
	return ok || agent == transcript.Messages
}

// rebuildCompanion makes the companion of a session whose transcript is gone again, from the archive.
func (d *Daemon) rebuildCompanion(ctx context.Context, s *session) error {
	if !d.outdated(s) { // another process was faster
		return nil
	}
	s.updateState(0)
	if s.state.UnknownFormat { // an older ccd wrote the companion, this one does not know the format
		d.markUnsaved(s)
		return nil
	}
	_, err := d.publish(ctx, s)
	if err == nil {
		s.untrack()
		delete(d.owners, s.Path) // the file is not expected back
	}
	return err
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
func (d *Daemon) expire(ctx context.Context, now time.Time) error {
	for _, s := range d.sessions {
		if ctx.Err() != nil || !d.expired(s, now) {
			continue
		}
		d.heartbeat()
		if err := d.expireOne(ctx, s, now); err != nil {
			return fmt.Errorf("expire companion of session %s: %w", s.ID, err)
		}
	}
	return nil
}

func (d *Daemon) expireOne(ctx context.Context, s *session, now time.Time) error {
	if err := d.reload(ctx, s); err != nil || !d.expired(s, now) { // another process was faster
		return err
	}
	next := s.state
	next.Earlier = next.earlier("")
	next.Companion, next.Written = "", Stat{}
	d.Log.Info("companion removed: keep_after_purge has passed", "session", s.ID)
	return d.storeMoved(ctx, s, next)
}
