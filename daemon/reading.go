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

// reading is what is read of a session: for lists alone, in little memory that does not grow, or all that a companion tells.
type reading struct {
	decoder *transcript.Decoder
	tracker *compactor.Tracker
	model   *compactor.Compactor // with that tracker; nil: for lists alone
}

func (d *Daemon) newReading(s *session, whole bool) *reading {
	r := &reading{}
	if whole {
		r.decoder, r.model = d.Agents.NewDecoder(s.Agent, s.Class), compactor.New(d.options(s), s.Session)
		r.tracker = r.model.Tracker
		return r
	}
	r.decoder, r.tracker = d.Agents.Exact().NewDecoder(s.Agent, s.Class), sessions.NewTracker(d.options(s), s.Session)
	r.tracker.Hide = func(text string) string { // of all texts it would take longer than all else
		return string(redact.Apply([]byte(text), 0, d.Agents.Redact.Session().Marks([]byte(text))))
	}
	return r
}

func (r *reading) add(one *transcript.Record) {
	if r.model != nil {
		r.model.Add(one)
	} else {
		r.tracker.Add(one)
	}
}

// longLine is the size above which a segment is one line, or a part of one. A line up to transcript.MaxLine is decoded
// whole, which takes several times its size of memory. So sessions with such lines are read one at a time.
const longLine = 4 << 20

// readArchived reads the archived records up to the cursor, and updates the state with what they say. The model is nil if whole is not
// set.
func (d *Daemon) readArchived(ctx context.Context, s *session, whole bool) (*compactor.Compactor, error) {
	now, long, tip := d.newReading(s, whole), false, int64(0)
	if s.cursor.Offset == 0 {
		s.setStatus(now.tracker)
		return now.model, nil
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
			if err := d.readJoined(ctx, s, now, seg.Data); err != nil {
				return nil, err
			}
		}
		for one := range now.decoder.Records(seg) {
			now.add(one)
		}
		tip = seg.End.Offset
	}
	if tip != s.cursor.Offset { // another process appended
		return nil, archive.ErrTip
	}
	s.setStatus(now.tracker)
	return now.model, nil
}

// readJoined reads the records that the session's file, which begins with these bytes, does not repeat.
func (d *Daemon) readJoined(ctx context.Context, s *session, now *reading, begin []byte) error {
	for one, err := range d.Archive.Joined(ctx, s.Session, s.cursor.Generation, begin, now.decoder) {
		if err != nil {
			return fmt.Errorf("read what session %s continues: %w", s.ID, err)
		}
		d.heartbeat()
		now.add(one)
	}
	if s.state.Joined = now.decoder.Count(); s.state.Joined == 0 && (s.Thread != "" || transcript.OriginOf(begin).ID != "") {
		s.state.Joined = -1
	}
	return nil
}
