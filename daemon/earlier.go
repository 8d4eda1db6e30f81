package daemon

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"ccd/compactor/sidecar"
)

// earlier are the places of companions that go when the session's stands at path, "" where it has none then.
func (s State) earlier(path string) []string {
	all := slices.Clone(s.Earlier)
	if s.Companion != "" && !slices.Contains(all, s.Companion) {
		all = append(all, s.Companion)
	}
	return slices.DeleteFunc(all, func(p string) bool { return p == path })
}

// removeEarlier removes the session's companions from earlier places. What cannot be removed, for the directory may not be
// written to any longer, is no failure of the session: it stays noted.
func (d *Daemon) removeEarlier(s *session) {
	stay := slices.DeleteFunc(slices.Clone(s.state.Earlier), func(path string) bool {
		if d.occupied(path) {
			return true
		}
		if _, err := sidecar.Ours(path); errors.Is(err, fs.ErrPermission) {
			return true // another user's: the archive came from there
		}
		err := sidecar.Remove(path)
		if err != nil && !d.earlierTold {
			d.earlierTold = true // once for all of them: a tree that may not be written to holds many
			d.Log.Warn("companions of an earlier place cannot be removed and stay: ccd doctor --fix removes them", "err", err)
		}
		return err == nil
	})
	if len(stay) != len(s.state.Earlier) {
		s.state.Earlier = stay
		d.unsaved[s] = true // not keep: nothing else of it was looked at
	}
}

// depart takes next for the session's state, and then removes its companion from where it has none in next.
func (d *Daemon) depart(ctx context.Context, s *session, next State) error {
	if err := d.store(ctx, s, nil, func() (State, error) { return next, nil }); err != nil {
		return err
	}
	d.removeEarlier(s)
	return nil
}

// occupied reports whether a session's companion stands at path now.
func (d *Daemon) occupied(path string) bool {
	for _, s := range d.sessions {
		if s.state.Companion == path {
			return true
		}
	}
	return false
}

// vacateAll tries once in the daemon's life to remove what one before it could not.
func (d *Daemon) vacateAll(ctx context.Context) {
	if d.vacated {
		return
	}
	d.vacated = true
	for _, s := range d.sessions {
		if ctx.Err() == nil && len(s.state.Earlier) > 0 {
			d.alive()
			d.removeEarlier(s)
		}
	}
}
