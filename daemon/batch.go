package daemon

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"ccd/archive"
	"ccd/internal/transcript"
)

// A batch is what one transaction stores: states of sessions, and at most one segment of each. A transaction waits for the
// disk twice and writes the last pages of the blocks again, so that one for many is cheaper. Until it is committed a segment
// is only in memory, like the session's state.
type batch struct {
	sessions []*session // that are not stored yet
	bytes    int        // of their segments
	ended    []*session // whose part of the batch is complete
	failed   map[*session]error
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

// end notes that a session adds no more, or why it could not.
func (b *batch) end(s *session, err error) {
	b.ended = append(b.ended, s)
	b.fail(s, err)
}

func (b *batch) fail(s *session, err error) {
	if err == nil {
		return
	}
	if b.failed == nil {
		b.failed = map[*session]error{}
	}
	b.failed[s] = errors.Join(b.failed[s], err)
}

// append archives a segment with the batch, of which it is the only one of its session.
func (d *Daemon) append(ctx context.Context, s *session, seg transcript.Segment, b *batch) error {
	if s.waiting != nil {
		if err := d.commit(ctx, b)[s]; err != nil {
			return err
		}
	}
	seg.Data = bytes.Clone(seg.Data)
	s.waiting = &seg
	b.bytes += len(seg.Data)
	b.note(s)
	return nil
}

// commit stores what a batch has. It returns the sessions that were not stored, also before, with the error: archive.ErrStale if
// another process has changed one.
func (d *Daemon) commit(ctx context.Context, b *batch) map[*session]error {
	all := b.sessions
	b.sessions, b.bytes = nil, 0
	d.commitAll(ctx, all, b)
	return b.failed
}

func (d *Daemon) commitAll(ctx context.Context, all []*session, b *batch) {
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
			d.commitAll(ctx, all[i:i+1], b)
		}
		return
	}
	for _, s := range all {
		switch s.waiting = nil; {
		case err != nil:
			b.fail(s, err)
		case slices.Contains(stale, s.Key):
			b.fail(s, archive.ErrStale)
		default:
			s.raw, s.archivedPath = s.state.Encode(), s.Path
		}
	}
}
