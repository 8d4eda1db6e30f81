package daemon

import (
	"context"
	"fmt"

	"ccd/archive"
	"ccd/compactor"
	"ccd/internal/redact"
	sessions "ccd/internal/session"
	"ccd/internal/transcript"
)

// reading is what was read of a session up to a place for lists, in little memory that does not grow. It goes on while the session
// grows, so that following one costs its new bytes. A companion is made from all records (story).
type reading struct {
	at      Place
	options string // hash
	decoder *transcript.Decoder
	tracker *compactor.Tracker
}

func (d *Daemon) newReading(s *session) *reading {
	r := &reading{options: d.hash(s), decoder: d.Agents.Exact().NewDecoder(s.Agent, s.Class), tracker: sessions.NewTracker(d.options(s), s.Session)}
	r.tracker.Hide = func(text string) string { // of all texts it would take longer than all else
		return string(redact.Apply([]byte(text), 0, d.Agents.Redact.Session().Marks([]byte(text))))
	}
	return r
}

// takeReading takes what was read of a session, or a new reading where that is of another generation, or was read with other options.
// Whoever takes it gives it back once all up to the cursor is read.
func (d *Daemon) takeReading(s *session) *reading {
	r := s.read
	s.read = nil
	if r == nil || r.at.Generation != s.cursor.Generation || r.options != d.hash(s) {
		return d.newReading(s)
	}
	return r
}

// goesOn reports whether the segment is the next one. What ends in an unfinished line that was read, and a list, whose end is read
// again, is read from the beginning.
func (r *reading) goesOn(seg transcript.Segment) bool {
	return r.at == Place{seg.Start.Generation, seg.Start.Offset} && !r.decoder.ContinuesLine(seg) && (seg.Start.Offset == 0 || !r.decoder.Unlined())
}

// readArchived reads the archived records up to the cursor, of them only the new ones if what was read is kept, and updates the
// state with what they say. It does nothing if the state has that.
func (d *Daemon) readArchived(ctx context.Context, s *session) error {
	if !s.readDue(d) {
		return nil
	}
	now := d.takeReading(s)
	if s.cursor.Offset == 0 {
		s.setStatus(now.tracker)
		return nil
	}
	tip := transcript.Cursor{}
	for seg, err := range d.Archive.Reader(s.Key, s.cursor.Generation).SegmentsFrom(ctx, now.at.Offset) {
		if err != nil {
			return fmt.Errorf("read session %s: %w", s.ID, err)
		}
		if now.at.Offset > 0 && tip.Offset == 0 && len(seg.Data) > 0 && !now.goesOn(seg) {
			return d.readArchived(ctx, s)
		}
		d.heartbeat()
		if seg.Start.Offset == 0 {
			if err := d.readJoined(ctx, s, now, seg.Data); err != nil {
				return err
			}
		}
		for one := range now.decoder.Records(seg) {
			now.tracker.Add(one)
		}
		tip = seg.End
	}
	if tip.Offset != s.cursor.Offset { // another process appended
		return archive.ErrStale
	}
	s.setStatus(now.tracker)
	now.at = s.state.Read
	s.read = now
	return nil
}

// readJoined reads the records that the session's file, which begins with these bytes, does not repeat.
func (d *Daemon) readJoined(ctx context.Context, s *session, now *reading, begin []byte) error {
	for one, err := range d.Archive.Joined(ctx, s.Session, begin, now.decoder) {
		if err != nil {
			return fmt.Errorf("read what session %s continues: %w", s.ID, err)
		}
		d.heartbeat()
		now.tracker.Add(one)
	}
	if s.state.Joined = now.decoder.Count(); s.state.Joined == 0 && (s.Thread != "" || transcript.OriginOf(begin).ID != "") {
		s.state.Joined = -1
	}
	return nil
}
