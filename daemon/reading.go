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

// newModel returns what reads a session: for a companion, or for lists alone, in little memory that does not grow. Then the model is nil.
func (d *Daemon) newModel(s *session, whole bool) (*transcript.Decoder, *compactor.Tracker, *compactor.Compactor) {
	if whole {
		model := compactor.New(d.options(s), s.Session)
		return d.Agents.NewDecoder(s.Agent, s.Class), model.Tracker, model
	}
	tracker := sessions.NewTracker(d.options(s), s.Session)
	tracker.Hide = func(text string) string { // of all texts it would take longer than all else
		return string(redact.Apply([]byte(text), 0, d.Agents.Redact.Session().Marks([]byte(text))))
	}
	return d.Agents.Exact().NewDecoder(s.Agent, s.Class), tracker, nil
}

// longLine is the size above which a segment is one line, or a part of one. A line up to transcript.MaxLine is decoded
// whole, which takes several times its size of memory. So sessions with such lines are read one at a time.
const longLine = 4 << 20

// readArchived reads the archived records up to the cursor, and updates the state with what they say. The model is nil if whole is not
// set.
func (d *Daemon) readArchived(ctx context.Context, s *session, whole bool) (*compactor.Compactor, error) {
	decoder, tracker, model := d.newModel(s, whole)
	add, long, tip := tracker.Add, false, int64(0)
	if whole {
		add = model.Add
	}
	if s.cursor.Offset == 0 {
		s.setStatus(tracker)
		return model, nil
	}
	for seg, err := range d.Archive.Reader(s.Key, s.cursor.Generation).SegmentsUnchecked(ctx) {
		if err != nil {
			return nil, fmt.Errorf("read session %s: %w", s.ID, err)
		}
		if len(seg.Data) > longLine && !long {
			long = true
			d.pool.long.Lock()
			defer d.pool.long.Unlock()
		}
		d.heartbeat()
		if seg.Start.Offset == 0 {
			if err := d.readJoined(ctx, s, decoder, add, seg.Data); err != nil {
				return nil, err
			}
		}
		for one := range decoder.Records(seg) {
			add(one)
		}
		tip = seg.End.Offset
	}
	if tip != s.cursor.Offset { // another process appended
		return nil, archive.ErrTip
	}
	s.setStatus(tracker)
	return model, nil
}

// readJoined reads the records that the session's file, which begins with these bytes, does not repeat.
func (d *Daemon) readJoined(ctx context.Context, s *session, decoder *transcript.Decoder, add func(*transcript.Record), begin []byte) error {
	for one, err := range d.Archive.Joined(ctx, s.Session, s.cursor.Generation, begin, decoder) {
		if err != nil {
			return fmt.Errorf("read what session %s continues: %w", s.ID, err)
		}
		d.heartbeat()
		add(one)
	}
	if s.state.Joined = decoder.Count(); s.state.Joined == 0 && (s.Thread != "" || transcript.OriginOf(begin).ID != "") {
		s.state.Joined = -1
	}
	return nil
}
