package daemon

import (
	"bytes"
	"context"
	"slices"

	"ccd/archive"
	"ccd/internal/transcript"
)

// A batch is what one transaction stores: states of sessions, and at most one segment of each. A transaction waits for the
// disk twice and writes the last pages of the blocks again, so that one for many is cheaper. Until it is committed a segment
// is only in memory, like the session's state.
type batch struct {
	sessions []*session
	bytes    int // of segments
}

const (
	maxStates = 64      // sessions in a batch
	maxBytes  = 4 << 20 // of their segments
)

// note adds the session's state. The state is a cache: losing it costs one sync.
func (b *batch) note(s *session) {
	if !slices.Contains(b.sessions, s) {
		b.sessions = append(b.sessions, s)
	}
}

// append archives a segment with the batch, of which it is the only one of its session.
func (d *Daemon) append(ctx context.Context, s *session, seg transcript.Segment, b *batch) error {
	if s.waiting != nil {
		if err := d.commit(ctx, b)[s]; err != nil {
			return err
		}
	}
	s.waiting = &seg
	b.bytes += len(seg.Data)
	b.note(s)
	return nil
}

// commit stores a batch and empties it. It returns the sessions that were not stored, with the error: archive.ErrStale if
// another process has changed one.
func (d *Daemon) commit(ctx context.Context, b *batch) map[*session]error {
	all, failed := b.sessions, map[*session]error{}
	*b = batch{}
	d.commitAll(ctx, all, failed)
	return failed
}

func (d *Daemon) commitAll(ctx context.Context, all []*session, failed map[*session]error) {
	var additions []archive.Addition
	var changes []archive.Change
	for _, s := range all {
		if s.waiting != nil {
			additions = append(additions, archive.Addition{Session: s.Session, Segment: *s.waiting})
		}
		if raw := s.state.Encode(); !bytes.Equal(raw, s.raw) || s.archivedPath != s.Path {
			changes = append(changes, archive.Change{Session: s.Session, Old: s.raw, New: raw})
		}
	}
	if len(additions)+len(changes) == 0 {
		return
	}
	stale, err := d.Archive.Save(ctx, additions, changes)
	if err != nil && len(all) > 1 && ctx.Err() == nil { // one by one, so that one keeps no other from being archived
		for i := range all {
			d.commitAll(ctx, all[i:i+1], failed)
		}
		return
	}
	for _, s := range all {
		switch s.waiting = nil; {
		case err != nil:
			failed[s] = err
		case slices.Contains(stale, s.Key):
			failed[s] = archive.ErrStale
		default:
			s.raw, s.archivedPath = s.state.Encode(), s.Path
		}
	}
}
