package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"

	"ccd/archive"
	"ccd/compactor"
	"ccd/compactor/companion"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// ErrNotPlaced is returned if a companion was made but could not be written to its place. Its originals are archived.
var ErrNotPlaced = errors.New("companion not written")

// publish makes the session's companion and puts it in place. The IDs are indexed and synced to disk first, then the
// file is renamed. If another process changed the session meanwhile, publish fails and the caller syncs again.
func (d *Daemon) publish(ctx context.Context, s *session) (Compacted, error) {
	made, next, err := d.makeCompanion(ctx, s)
	if err != nil {
		return Compacted{}, err
	}
	made.Path = d.companion(s)
	pending, err := companion.Prepare(made.Path, made.Text)
	if err != nil {
		return Compacted{}, fmt.Errorf("%w: %w", ErrNotPlaced, err)
	}
	defer pending.Discard()
	info, err := pending.Stat() // before Commit: later others may change it
	if err != nil {
		return Compacted{}, err
	}
	next.Companion, next.Written = made.Path, statOf(info)
	err = d.store(ctx, s, made.Pointers, next, func() error {
		if err := pending.Commit(); err != nil {
			return fmt.Errorf("%w: %w", ErrNotPlaced, err)
		}
		return nil
	})
	if err != nil {
		return Compacted{}, err
	}
	s.published = true
	return made, nil
}

// makeCompanion makes the companion's text from all records, and the state that is stored with it. It writes nothing.
func (d *Daemon) makeCompanion(ctx context.Context, s *session) (made Compacted, next State, err error) {
	a, err := d.Archive.Last(ctx, s.Key)
	if err != nil {
		return made, next, err
	}
	r := d.Archive.Reader(s.Key, s.cursor.Generation)
	model, err := d.story(ctx, s)
	if err != nil {
		return made, next, err
	}
	next = s.state
	text := func(span transcript.Span) ([]byte, error) {
		d.heartbeat()
		return r.Span(ctx, span)
	}
	var sum mark.Hash
	if n := len(a.Generations); n > 0 {
		sum = a.Generations[n-1].Sum
	}
	if made, err = d.compacted(ctx, s, model, text, sum); err != nil {
		return made, next, err
	}
	next.Covers, next.Options, next.Deferred = next.At, d.hash(s), false
	next.Original, next.Compacted, next.Real, next.Saved = made.Header.Tokens.Original, made.Tokens, made.About, made.Saved
	next.Verified = made.Header.Verified
	next.MissingSummaries = len(made.Wanted)
	st := model.Status()
	next.Title, next.Ask = st.Title, st.Ask
	next.Trigger = cmp.Or(next.Trigger, "manual")
	if s.requested != nil {
		next.Manual = *s.requested
	}
	return made, next, nil
}

// compacted makes a companion's text of a model. text returns the bytes of spans, sum is the hash of all.
func (d *Daemon) compacted(ctx context.Context, s *session, model *compactor.Compactor, text compactor.Text, sum mark.Hash) (Compacted, error) {
	st := model.Status()
	if unknownFormat(st) { // there is nothing to compact
		return Compacted{}, fmt.Errorf("compact %s: unknown format: none of %d records is of a known type", s.ID, st.Records)
	}
	c, err := model.Compact(model.Companion(), text, d.Archive.Summaries(ctx))
	if err != nil {
		return Compacted{}, fmt.Errorf("compact session %s: %w", s.ID, err)
	}
	return Made(s.Session, d.options(s), st, c, Place{s.cursor.Generation, s.cursor.Offset}, sum), nil
}

// isStory reports whether a companion tells only what the current generation has.
func (s *session) isStory() bool { return s.cursor.Generation < 2 || s.Unlined() }

// story returns the model of what a companion tells: of all records, and of those of earlier generations that the current one
// lacks.
func (d *Daemon) story(ctx context.Context, s *session) (*compactor.Compactor, error) {
	if s.isStory() {
		return d.readArchived(ctx, s, true)
	}
	d.pool.long.Lock() // how long its lines are shows only when they are read
	defer d.pool.long.Unlock()
	decoder := func() *transcript.Decoder { return d.Agents.NewDecoder(s.Agent, s.Class) }
	file := func(of *transcript.Decoder) iter.Seq2[*transcript.Record, error] {
		return d.Archive.Records(ctx, s.Key, s.cursor.Generation, of)
	}
	model := compactor.New(d.options(s), s.Session)
	for r, err := range d.Archive.Story(ctx, s.Session, s.cursor.Generation, decoder, file) {
		if err != nil {
			return nil, fmt.Errorf("read session %s: %w", s.ID, err)
		}
		d.heartbeat()
		model.Add(r)
	}
	return model, nil
}

// Made returns the companion of a compaction. st is the status of its model, at how much of the transcript it covers, and sum the
// SHA-256 of these bytes. Equal arguments give the same text.
func Made(s transcript.Session, o compactor.Options, st compactor.Status, c *compactor.Compaction, at Place, sum mark.Hash) Compacted {
	front := companion.Matter{
		Header: c.Header, Options: o.Hash(), Agent: s.Agent, Session: name(s), Parent: st.Parent, Source: s.Source,
		Covers: companion.Covers{Records: st.Records, Bytes: at.Offset, SHA256: sum.String()},
	}
	if !o.Manual.IsZero() {
		front.Manual = &o.Manual
	}
	doc := companion.Render(front, o.Host, c.Sections)
	return Compacted{Document: doc, Compaction: c, Options: o, At: at}
}

// name returns the session's name in a companion. A session of Adopt has the file's path in its ID, and a
// companion must not depend on it.
func name(s transcript.Session) string {
	if strings.HasPrefix(s.ID, "file/") {
		return "file/" + strings.TrimSuffix(s.Source, ".jsonl")
	}
	return s.Name()
}

// store indexes pointers, then has place, if not nil, put the companion in place, and stores next as the session's state. Last,
// it removes the companion from a place that the session has left.
func (d *Daemon) store(ctx context.Context, s *session, pointers []transcript.Pointer, next State, place func() error) error {
	raw, was := next.Encode(), s.state.Companion
	replace := func() ([]byte, error) {
		if place == nil {
			return raw, nil
		}
		return raw, place()
	}
	err := d.Archive.Publish(ctx, archive.Publication{Key: s.Key, At: s.cursor, State: s.raw, Pointers: pointers, Replace: replace})
	if err != nil {
		return err
	}
	s.state, s.raw = next, raw
	if was == "" || was == next.Companion {
		return nil
	}
	if err := companion.Remove(was); err != nil && !errors.Is(err, fs.ErrNotExist) { // in a read-only directory, for instance
		d.Log.Warn("cannot remove a companion from an earlier place", "path", was, "err", err)
	}
	return nil
}

// reload replaces what is in memory of a session by what is stored. Of one that is not, only the state stays.
func (d *Daemon) reload(ctx context.Context, s *session) error {
	s.waiting, s.read = nil, nil
	a, err := d.Archive.Last(ctx, s.Key)
	fresh := &session{state: s.state}
	switch {
	case err == nil:
		fresh = d.sessionOf(a)
	case !errors.Is(err, archive.ErrNotFound):
		return err
	}
	s.state, s.raw, s.archivedPath, s.cursor, s.stale = fresh.state, fresh.raw, fresh.archivedPath, fresh.cursor, false
	return nil
}
