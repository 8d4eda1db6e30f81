package daemon

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"ccd/archive"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/watcher"
)

const (
	recheckCycle = 7 * 24 * time.Hour // each source is compared in full with the archive at least once in it
	recheckBytes = 64 << 20           // read for that after one scan; the last file is read whole
	recheckFile  = 64 << 10           // that a file counts for at least
)

// recheck reads some sources in full and compares their hash with that of what is stored, those that wait longest
// first. A source that differs was rewritten in a way that its length and fingerprints do not show: it is stored again
// as a new generation. Failures of that are given to failed.
func (d *Daemon) recheck(ctx context.Context, now time.Time, quiet time.Duration, failed func(o watcher.Offer, err error)) {
	var due []*session
	for _, s := range d.sessions {
		if s.raw != nil && !s.state.Gone && s.state.Skipped == "" && s.state.Checked.Before(recheckSince(s.Key, now)) && d.watched(s.Session) {
			due = append(due, s)
		}
	}
	slices.SortFunc(due, func(a, b *session) int {
		return cmp.Or(a.state.Checked.Compare(b.state.Checked), cmp.Compare(a.ID, b.ID))
	})
	left := int64(recheckBytes)
	for _, s := range due {
		if left <= 0 || ctx.Err() != nil {
			break
		}
		left -= max(s.state.At.Offset, recheckFile)
		d.alive()
		same, err := d.compare(ctx, s)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			d.Log.Warn("transcript not compared with the archive", "path", s.Path, "err", err)
			s.state.Checked = now // not stored: the others have their turn first
			continue
		}
		if !same {
			o, err := d.restart(ctx, s, now, quiet)
			if err != nil {
				failed(o, err)
				continue
			}
		}
		s.state.Checked = now
		d.unsaved[s] = true
	}
	if _, err := d.save(ctx, false); err != nil && ctx.Err() == nil {
		d.Log.Warn("session states not stored", "err", err)
	}
}

// recheckSince is when the source's turn last came: turns are spread over the cycle by key.
func recheckSince(k transcript.Key, now time.Time) time.Time {
	sum := mark.Sum([]byte(k.Agent + "\x00" + k.ID))
	turn := int64(binary.BigEndian.Uint64(sum[:8]) % uint64(recheckCycle))
	return now.Add(-time.Duration((now.UnixNano() - turn) % int64(recheckCycle)))
}

// compare reports whether the session's file begins with the bytes that are stored. A file that is gone, or shorter, is
// left to sync.
func (d *Daemon) compare(ctx context.Context, s *session) (same bool, err error) {
	a, err := d.Archive.Session(ctx, s.Key)
	if errors.Is(err, archive.ErrNotFound) || err == nil && len(a.Generations) == 0 {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	last := a.Generations[len(a.Generations)-1]
	sum, n, err := watcher.Sum(ctx, s.Session, last.Tip.Offset, watcher.TailOptions{Scratch: &d.scratch, Alive: d.Alive})
	if gone(err) {
		return true, nil
	}
	return n < last.Tip.Offset || sum == last.Sum, err
}

// restart stores the session's file from its first byte, as a new generation. The file counts as quiet for at least so
// long.
func (d *Daemon) restart(ctx context.Context, s *session, now time.Time, quiet time.Duration) (watcher.Offer, error) {
	d.Log.Warn("transcript rewritten in place; archived again as a new generation", "path", s.Path, "session", s.ID)
	s.unfold()
	s.rewritten = true
	o := watcher.Offer{Path: s.Path, Root: watcher.Root{Agent: s.Agent, Path: s.Root}}
	if seen, err := stat(s.Path); err == nil {
		o.Quiet = max(quiet, now.Sub(time.Unix(0, seen.ModTime)))
	}
	return o, d.bring(ctx, o)
}
