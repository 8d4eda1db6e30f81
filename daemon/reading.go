package daemon

import (
	"context"
	"fmt"
	"slices"

	"ccd/archive"
	"ccd/compactor"
	"ccd/internal/redact"
	sessions "ccd/internal/session"
	"ccd/internal/transcript"
)

// reading is what was read of a session up to a place: for lists alone, in little memory that does not grow, or all that a
// companion tells. It goes on while the session grows, so that following one costs its new bytes.
type reading struct {
	at      Place
	options string // hash
	decoder *transcript.Decoder
	tracker *compactor.Tracker
	model   *compactor.Compactor // with that tracker; nil: for lists alone
}

// The daemon keeps the readings of the sessions that grow: of the last maxKept, of them maxModels with their models.
const (
	maxKept   = 256
	maxModels = 4
)

func (d *Daemon) newReading(s *session, whole bool) *reading {
	r := &reading{options: d.hash(s)}
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

// takeReading takes what was read of a session, or a new reading where that is of another generation, was read with other options
// or lacks the model that is wanted. Whoever takes it gives it back once all up to the cursor is read.
func (d *Daemon) takeReading(s *session, whole bool) *reading {
	r := s.read
	s.read = nil
	if r == nil || r.at.Generation != s.cursor.Generation || r.options != d.hash(s) || whole && r.model == nil {
		return d.newReading(s, whole)
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

// goesOn reports whether the segment is the next one. What ends in an unfinished line that was read, and a list, whose end is read
// again, is read from the beginning.
func (r *reading) goesOn(seg transcript.Segment) bool {
	return r.at == Place{seg.Start.Generation, seg.Start.Offset} && !r.decoder.ContinuesLine(seg) && (seg.Start.Offset == 0 || !r.decoder.Unlined())
}

// keep keeps what was read of a session that grows.
func (d *Daemon) keep(s *session) {
	if s.read == nil {
		return
	}
	d.kept = slices.DeleteFunc(d.kept, func(other *session) bool { return other == s })
	if !s.offer.Live || s.offer.Quiet >= d.Watch.RefreshIdle {
		s.read = nil
		return
	}
	if d.kept = append(d.kept, s); len(d.kept) > maxKept {
		d.kept[0].read, d.kept = nil, d.kept[1:]
	}
	models := 0
	for _, one := range slices.Backward(d.kept) {
		if one.read == nil || one.read.model == nil || one.busy {
			continue
		}
		if models++; models > maxModels {
			one.read.model = nil
		}
	}
}

// follow reads a segment that is about to be archived, if all before it was read. What needs other files, or much memory, is read
// from the archive.
func (d *Daemon) follow(s *session, seg transcript.Segment) {
	r := s.read
	if s.read = nil; seg.Start.Offset == 0 {
		if s.Thread != "" || transcript.OriginOf(seg.Data).ID != "" {
			return
		}
		s.state.Joined = 0
		r = d.newReading(s, false)
		r.at.Generation = seg.Start.Generation
	}
	if r == nil || r.options != d.hash(s) || len(seg.Data) > longLine || !r.goesOn(seg) {
		return
	}
	items := 0
	for one := range r.decoder.Records(seg) {
		items += len(one.Items)
		r.add(one)
	}
	if seg.Start.Offset == 0 && items == 0 { // its first message may say what it continues
		return
	}
	r.at = Place{seg.End.Generation, seg.End.Offset}
	s.read = r
}

// longLine is the size above which a segment is one line, or a part of one. A line up to transcript.MaxLine is decoded
// whole, which takes several times its size of memory. So sessions with such lines are read one at a time.
const longLine = 4 << 20

// readArchived reads the archived records up to the cursor, of them only the new ones if what was read is kept, and updates the
// state with what they say. The model is nil if whole is not set.
func (d *Daemon) readArchived(ctx context.Context, s *session, whole bool) (*compactor.Compactor, error) {
	now := d.takeReading(s, whole)
	if s.cursor.Offset == 0 {
		s.setStatus(now.tracker)
		return now.model, nil
	}
	long, tip := false, transcript.Cursor{}
	for seg, err := range d.Archive.Reader(s.Key, s.cursor.Generation).SegmentsFrom(ctx, now.at.Offset) {
		if err != nil {
			return nil, fmt.Errorf("read session %s: %w", s.ID, err)
		}
		if now.at.Offset > 0 && tip.Offset == 0 && len(seg.Data) > 0 && !now.goesOn(seg) {
			return d.readArchived(ctx, s, whole)
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
		tip = seg.End
	}
	if tip.Offset != s.cursor.Offset { // another process appended
		return nil, archive.ErrStale
	}
	s.setStatus(now.tracker)
	now.at = s.state.Read
	s.read = now
	return now.model, nil
}

// readJoined reads the records that the session's file, which begins with these bytes, does not repeat.
func (d *Daemon) readJoined(ctx context.Context, s *session, now *reading, begin []byte) error {
	for one, err := range d.Archive.Joined(ctx, s.Session, begin, now.decoder) {
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
