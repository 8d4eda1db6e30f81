package daemon

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"ccd/compactor/sidecar"
	"ccd/internal/atomicfile"
	"ccd/internal/transcript"
)

// earlier returns the companions to remove if the session's companion is at path ("" for none).
func (s State) earlier(path string) []string {
	all := slices.Clone(s.Earlier)
	if s.Companion != "" && !slices.Contains(all, s.Companion) {
		all = append(all, s.Companion)
	}
	return slices.DeleteFunc(all, func(p string) bool { return p == path })
}

// removeEarlier removes the session's companions from earlier places. If one cannot be removed, because its directory
// is read-only for instance, the session does not fail: the path stays in its state.
func (d *Daemon) removeEarlier(s *session) {
	stay := slices.DeleteFunc(slices.Clone(s.state.Earlier), func(path string) bool {
		if d.inUse(path) {
			return true
		}
		if _, err := sidecar.Ours(path); errors.Is(err, fs.ErrPermission) {
			return true // another user's: the archive was copied from there
		}
		err := sidecar.Remove(path)
		if err != nil && !d.warnedEarlier {
			d.warnedEarlier = true // log it once: a read-only tree may contain many
			d.Log.Warn("cannot remove companions from an earlier place; run ccd doctor --fix", "err", err)
		}
		return err == nil
	})
	if len(stay) != len(s.state.Earlier) {
		s.state.Earlier = stay
		d.batch.note(s)
	}
}

// storeMoved stores next as the session's state, then removes the companions from places that it has left.
func (d *Daemon) storeMoved(ctx context.Context, s *session, next State) error {
	if err := d.store(ctx, s, nil, func() (State, error) { return next, nil }); err != nil {
		return err
	}
	d.removeEarlier(s)
	return nil
}

// inUse reports whether path is the place of a session's companion now.
func (d *Daemon) inUse(path string) bool {
	for _, s := range d.sessions {
		if s.state.Companion == path {
			return true
		}
	}
	return false
}

// cleanUp removes, once after the start, what a crash or an earlier daemon left beside companions.
func (d *Daemon) cleanUp(ctx context.Context) {
	if d.cleanedUp {
		return
	}
	d.cleanedUp = true
	cleaned := map[string]bool{}
	for _, s := range d.sessions {
		if ctx.Err() != nil {
			return
		}
		d.heartbeat()
		if dir := filepath.Dir(d.companion(s)); !cleaned[dir] && s.Class != transcript.Attachment {
			cleaned[dir] = true
			if err := atomicfile.Clean(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
				d.Log.Warn("cannot remove temporary files of a crash", "dir", dir, "err", err)
			}
		}
		if len(s.state.Earlier) > 0 && !s.busy {
			d.removeEarlier(s)
		}
	}
}
