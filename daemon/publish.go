package daemon

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ccd/archive"
	"ccd/compactor"
	"ccd/compactor/sidecar"
	"ccd/internal/atomicfile"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// placeError tells that a companion could not be put in place. The session itself is archived and folded.
type placeError struct{ error }

// Unwrap returns the cause.
func (e placeError) Unwrap() error { return e.error }

// Is makes it an ErrNotPlaced.
func (e placeError) Is(err error) bool { return err == ErrNotPlaced }

// ErrNotPlaced tells that a companion was made but could not be written where it belongs. What it is made from is
// archived.
var ErrNotPlaced = errors.New("companion not put in place")

// publish makes the session's companion and puts it in place: IDs into the index, durable, then the file. Under the
// archive's lock the session must still be as it was folded; else the caller syncs again.
func (d *Daemon) publish(ctx context.Context, s *session) (Compacted, error) {
	doc, c, next, err := d.document(ctx, s)
	if err != nil {
		return Compacted{}, err
	}
	path := d.companion(s)
	d.tidy(filepath.Dir(path))
	pending, err := sidecar.Prepare(path, doc.Text)
	if err != nil {
		d.keep(s)
		return Compacted{}, placeError{err}
	}
	defer pending.Discard()
	info, err := pending.Stat() // now: once it is in place others may change it
	if err != nil {
		return Compacted{}, err
	}
	err = d.store(ctx, s, c.Pointers, func() (State, error) {
		if err := pending.Commit(); err != nil {
			return next, placeError{err}
		}
		next.Earlier = next.earlier(path)
		next.Companion, next.Written = path, statOf(info)
		return next, nil
	})
	if err != nil {
		return Compacted{}, err
	}
	s.newSummaries = false
	d.removeEarlier(s)
	made := d.made(s, doc, c)
	made.Path = path
	return made, nil
}

// document makes the companion's text from the fold, and what the state becomes once it is in place. It writes nothing.
func (d *Daemon) document(ctx context.Context, s *session) (sidecar.Document, *compactor.Compaction, State, error) {
	var doc sidecar.Document
	next := s.state
	a, err := d.Archive.Session(ctx, s.Key)
	if err != nil {
		return doc, nil, next, err
	}
	s.finish()
	r, begun := d.Archive.Reader(s.Key, s.cursor.Generation), time.Now()
	var used spans
	text := func(span transcript.Span) ([]byte, error) {
		d.alive()
		return used.get(span, s.spans, func() ([]byte, error) { return r.Span(ctx, span) })
	}
	c, err := s.compactor.Summarized(text, d.Archive.Summaries(ctx))
	if err != nil {
		return doc, nil, next, fmt.Errorf("compact session %s: %w", s.ID, err)
	}
	s.spans = used
	var sum mark.Hash
	if n := len(a.Generations); n > 0 {
		sum = a.Generations[n-1].Sum
	}
	doc = Render(s.Session, d.options(s), c, s.extent(sum))
	next.Covers, next.Options = next.At, d.hash(s)
	next.Original, next.Compacted, next.Real, next.Saved = c.Header.Tokens.Original, doc.Tokens, doc.About, doc.Saved
	next.Verified, next.Reason, next.Lost = c.Header.Verified, c.Header.Reason, c.Header.KeyInformation.Lost
	next.Wanted = len(c.Wanted)
	if next.Fired == "" {
		next.Fired = "manual"
	}
	next.Work = next.Work.with(c.Header, time.Since(begun))
	if s.asked != nil {
		next.Manual = *s.asked
	}
	return doc, c, next, nil
}

// Extent is how much of a transcript a companion is made from, and what was learnt on the way.
type Extent struct {
	Records int
	Bytes   int64
	Sum     mark.Hash // SHA-256 of the bytes
	Parent  string    // ID of the session that started this one
}

// Render makes the companion's text: the same for the same session, options, compaction and extent.
func Render(s transcript.Session, o compactor.Options, c *compactor.Compaction, e Extent) sidecar.Document {
	return sidecar.Render(sidecar.Front{
		Header: c.Header, Options: o.Hash(),
		Agent: s.Agent, Session: name(s), Parent: e.Parent, Source: s.Source,
		Records: e.Records, Bytes: e.Bytes, Sum: e.Sum, Host: o.Host, Manual: o.Manual,
	}, c.Sections)
}

// name is how a companion names its session. One that was compacted from a FILE is kept under an ID that tells two
// files of the same name apart; where it lies must not change what it becomes.
func name(s transcript.Session) string {
	if strings.HasPrefix(s.ID, "file/") {
		return "file/" + strings.TrimSuffix(s.Source, ".jsonl")
	}
	return s.ID
}

// tidy removes what a crash has left in a directory of companions, once in the daemon's life.
func (d *Daemon) tidy(dir string) {
	if d.tidied[dir] {
		return
	}
	d.tidied[dir] = true
	if err := atomicfile.Clean(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.Log.Warn("temporary files of a crash not removed", "dir", dir, "err", err)
	}
}

func (s *session) extent(sum mark.Hash) Extent {
	status := s.compactor.Status()
	return Extent{Records: status.Records, Bytes: s.cursor.Offset, Sum: sum, Parent: status.Parent}
}

// appended notes that the archive has taken a segment.
func (s *session) appended(seg transcript.Segment) {
	s.isNew, s.rewritten = false, false
	if seg.Start.Offset == 0 && seg.Start.Generation > 1 {
		if !s.Unlined() { // a file that is one JSON value is written anew at each change
			s.state.Rewritten = time.Now().UTC()
		}
	}
}

// update brings the state in memory up to what the last look, which found so many new bytes, and the fold tell.
func (s *session) update(taken int) {
	s.state.At = Place{s.cursor.Generation, s.cursor.Offset}
	switch was := s.state.Source; {
	case was.IsZero() && s.state.Checked.IsZero():
		s.state.Checked = time.Now().UTC() // all its bytes were hashed just now
	case !s.missing && taken == 0 && s.seen != was && s.seen.Size == was.Size:
		s.state.Checked = time.Time{} // touched, or rewritten: the next recheck tells
	}
	if !s.missing {
		s.state.Source, s.state.Gone, s.state.GoneAt = s.seen, false, time.Time{}
	}
	if s.compactor != nil {
		s.state.record(s.compactor.Status(), s.compactor.PerToken(), s.decoder.Torn())
	}
}

// keep notes what is now true of a session whose companion is not due, to be stored together with that of others: it
// is a cache, and losing it costs a look at the session.
func (d *Daemon) keep(s *session) {
	if s.Class != transcript.Attachment {
		s.state.Options = d.hash(s)
	}
	d.unsaved[s] = true
}

// save stores the noted states that changed, once they are many or none is to be expected soon. It returns the
// sessions whose state another process has changed: they are to be synced again.
func (d *Daemon) save(ctx context.Context, more bool) (stale []*session, err error) {
	if more && len(d.unsaved) < maxUnsaved {
		return nil, nil
	}
	var changes []archive.Change
	for s := range d.unsaved {
		raw, err := s.state.encode()
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(raw, s.raw) || s.placed != s.Path {
			changes = append(changes, archive.Change{Session: s.Session, Old: s.raw, New: raw})
		}
	}
	if len(changes) == 0 {
		clear(d.unsaved)
		return nil, nil
	}
	slices.SortFunc(changes, func(a, b archive.Change) int { return cmp.Compare(a.Session.ID, b.Session.ID) })
	keys, err := d.Archive.SetStates(ctx, changes)
	if err != nil {
		return nil, err
	}
	clear(d.unsaved)
	for _, c := range changes {
		s := d.sessions[c.Session.Key]
		if slices.Contains(keys, s.Key) {
			s.unfold() // folding reads the state anew
			s.isNew = false
			s.state.Source = Stat{}
			stale = append(stale, s)
			continue
		}
		s.raw, s.placed = c.New, c.Session.Path
	}
	return stale, nil
}

// same is for store: the state as it is in memory.
func (s *session) same() (State, error) { return s.state, nil }

// store indexes pointers and then takes over the state that replace returns, in the archive and in memory.
func (d *Daemon) store(ctx context.Context, s *session, pointers []transcript.Pointer, replace func() (State, error)) error {
	var next State
	var raw []byte
	encode := func() ([]byte, error) {
		var err error
		if next, err = replace(); err != nil {
			return nil, err
		}
		raw, err = next.encode()
		return raw, err
	}
	if err := d.place(ctx, s); err != nil {
		return err
	}
	err := d.Archive.Publish(ctx, archive.Publication{
		Key: s.Key, At: s.cursor, State: s.raw, Pointers: pointers, Replace: encode,
	})
	if err != nil {
		return err
	}
	s.state, s.raw = next, raw
	delete(d.unsaved, s)
	return nil
}

// place makes the archive know where the session's file stands: a move, or an empty file, brings no bytes that would
// tell it.
func (d *Daemon) place(ctx context.Context, s *session) error {
	if s.placed == s.Path {
		return nil
	}
	stale, err := d.Archive.SetStates(ctx, []archive.Change{{Session: s.Session, Old: s.raw, New: s.raw}})
	if err != nil {
		return err
	}
	if len(stale) > 0 {
		return archive.ErrStale
	}
	s.placed = s.Path
	return nil
}

// reread takes what the archive knows of a session in place of what is in memory.
func (d *Daemon) reread(ctx context.Context, s *session) error {
	s.unfold()
	a, err := d.Archive.Session(ctx, s.Key)
	if err != nil {
		return err
	}
	fresh := d.stored(a)
	s.state, s.raw, s.cursor = fresh.state, fresh.raw, a.Tip()
	return nil
}

// recall makes the state of a session anew whose transcript is gone, from what is archived, and its companion where one
// is due. Where the archived bytes are damaged too, the state says no more than that the transcript is gone.
func (d *Daemon) recall(ctx context.Context, s *session) error {
	tip, before := s.cursor, d.companion(s)
	err := d.fold(ctx, s)
	defer s.unfold()
	if err != nil && !errors.As(err, new(*archive.DamageError)) {
		return err
	}
	s.missing, s.state.Gone, s.state.GoneAt = true, true, time.Now().UTC()
	if err != nil {
		s.cursor = tip
		return d.depart(ctx, s, s.state)
	}
	s.update(0)
	if !s.due(d, watcher.Offer{}) {
		return d.depart(ctx, s, s.state)
	}
	if exists(before) {
		s.state.Companion = before
	}
	_, err = d.publish(ctx, s)
	return err
}

// purge notes that a transcript is gone. The archive stays, the companion moves into the state directory.
func (d *Daemon) purge(ctx context.Context, s *session) error {
	d.Log.Info("transcript gone, kept in the archive", "session", s.ID)
	delete(d.owners, s.Path)
	err := d.reread(ctx, s)
	if errors.Is(err, archive.ErrNotFound) {
		delete(d.sessions, s.Key) // it came and went without a byte
		return nil
	}
	if err != nil {
		return err
	}
	if len(s.raw) == 0 {
		return d.recall(ctx, s)
	}
	s.state.Gone, s.state.GoneAt = true, time.Now().UTC()
	next := s.state
	if from, to := s.state.Companion, d.companion(s); from != "" && from != to && d.CompanionDir == "" {
		if err := sidecar.Copy(from, to); err != nil && !errors.Is(err, fs.ErrPermission) { // another user's is as good as none
			return err
		}
		if next.Written, err = stat(to); err != nil {
			next.Written, to = Stat{}, "" // it was gone too: `ccd show` makes it anew
		}
		next.Earlier = next.earlier(to)
		next.Companion = to
	}
	return d.depart(ctx, s, next)
}
