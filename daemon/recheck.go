package daemon

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"ccd/archive"
	"ccd/internal/mark"
	"ccd/watcher"
)

const (
	recheckCycle = 7 * 24 * time.Hour // each source is compared with the archive in full, and the archive read, once per cycle
	recheckBytes = 64 << 20           // limit for one scan; the last file is read whole
	recheckFile  = 64 << 10           // counted for a file at least
)

// recheck reads some sources in full and compares their hash with the archived one, longest unchecked first. If they differ,
// the source was rewritten in a way that its length and fingerprints do not show, and it is archived again as a new
// generation. The archived bytes are read too, also those of sources that are gone, so that damage is noticed while there is a
// source to repair it from.
func (d *Daemon) recheck(ctx context.Context, now time.Time) {
	var due []*session
	for _, s := range d.sessions {
		if s.raw != nil && !s.busy && s.state.SkipReason == "" && now.Sub(s.state.Checked) > recheckCycle && d.watched(s.Session) {
			due = append(due, s)
		}
	}
	slices.SortFunc(due, func(a, b *session) int {
		return cmp.Or(a.state.Checked.Compare(b.state.Checked), cmp.Compare(a.ID, b.ID))
	})
	left, checked := int64(recheckBytes), batch{}
	for _, s := range due {
		if left <= 0 {
			break
		}
		left -= max(2*s.state.At.Offset, recheckFile)
		same, err := d.recheckSession(ctx, s, now)
		if err == nil {
			err = d.readThrough(ctx, s)
		}
		if ctx.Err() != nil {
			break
		}
		d.damaged = d.damaged || errors.As(err, new(*archive.DamageError))
		s.state.Checked = now
		switch {
		case err != nil: // in memory only, so that the others get their turn first
			d.Log.Warn("cannot compare transcript with the archive", "path", s.Path, "err", err)
		case same:
			checked.note(s)
		default:
			d.sync(ctx, d.asOffer(s))
		}
	}
	d.save(ctx, &checked)
}

// readThrough reads the archived bytes of a session, which fails if they are damaged.
func (d *Daemon) readThrough(ctx context.Context, s *session) error {
	d.heartbeat()
	if s.state.At.Generation == 0 {
		return nil
	}
	for _, err := range d.Archive.Reader(s.Key, s.state.At.Generation).Segments(ctx) {
		if d.heartbeat(); err != nil {
			return err
		}
	}
	return nil
}

// recheckSession compares a source with the archived bytes. If the source was rewritten, the next sync archives it from the
// start, as a new generation.
func (d *Daemon) recheckSession(ctx context.Context, s *session, now time.Time) (same bool, err error) {
	s.statSource()
	if same, err = d.sourceUnchanged(ctx, s); err != nil {
		return false, err
	}
	if same {
		s.state.Checked = now
		return true, nil
	}
	if !s.Unlined() { // such an agent always rewrites its file
		d.Log.Warn("transcript rewritten in place; archived again as a new generation", "path", s.Path, "session", s.ID)
	}
	s.rewrite()
	return false, nil
}

// sourceUnchanged reports whether the session's file begins with the archived bytes. It leaves a missing or shorter
// file to sync.
func (d *Daemon) sourceUnchanged(ctx context.Context, s *session) (same bool, err error) {
	a, err := d.Archive.Last(ctx, s.Key)
	if errors.Is(err, archive.ErrNotFound) || err == nil && len(a.Generations) == 0 {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	last := a.Generations[len(a.Generations)-1]
	left, sum, filler := last.Tip.Offset, sha256.New(), d.Archive.Filler(s.Key)
	for seg, err := range d.original(ctx, s.Session) {
		if watcher.NotExist(err) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		filler.Mask(seg.Data)
		n := min(left, int64(len(seg.Data)))
		sum.Write(seg.Data[:n])
		if left -= n; left == 0 {
			break
		}
	}
	return left > 0 || mark.Hash(sum.Sum(nil)) == last.Sum, nil
}
