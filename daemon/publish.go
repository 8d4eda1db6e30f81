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
)

// notPlacedError is returned if a companion cannot be written. The session itself is archived.
type notPlacedError struct{ error }

// Unwrap returns the cause.
func (e notPlacedError) Unwrap() error { return e.error }

// Is makes it an ErrNotPlaced.
func (e notPlacedError) Is(err error) bool { return err == ErrNotPlaced }

// ErrNotPlaced is returned if a companion was made but could not be written to its place. Its originals are archived.
var ErrNotPlaced = errors.New("companion not written")

// publish makes the session's companion and puts it in place. The IDs are indexed and synced to disk first, then the
// file is renamed. If another process changed the session meanwhile, publish fails and the caller syncs again.
func (d *Daemon) publish(ctx context.Context, s *session) (Compacted, error) {
	doc, c, next, err := d.makeCompanion(ctx, s)
	if err != nil {
		return Compacted{}, err
	}
	path := d.companion(s)
	d.cleanTemporary(filepath.Dir(path))
	pending, err := sidecar.Prepare(path, doc.Text)
	if err != nil {
		d.markUnsaved(s)
		return Compacted{}, notPlacedError{err}
	}
	defer pending.Discard()
	info, err := pending.Stat() // before Commit: later others may change it
	if err != nil {
		return Compacted{}, err
	}
	err = d.store(ctx, s, c.Pointers, func() (State, error) {
		if err := pending.Commit(); err != nil {
			return next, notPlacedError{err}
		}
		next.Earlier = next.earlier(path)
		next.Companion, next.Written = path, statOf(info)
		return next, nil
	})
	if err != nil {
		return Compacted{}, err
	}
	s.renew = false
	if d.Published != nil {
		d.Published(s.Session, s.state)
	}
	d.startJob(s, c.Wanted)
	d.removeEarlier(s)
	made := d.compacted(s, doc, c)
	made.Path = path
	return made, nil
}

// makeCompanion makes the companion's text from the session's model, and the state that is stored with it. It writes
// nothing.
func (d *Daemon) makeCompanion(ctx context.Context, s *session) (sidecar.Document, *compactor.Compaction, State, error) {
	var doc sidecar.Document
	next := s.state
	a, err := d.Archive.Last(ctx, s.Key)
	if err != nil {
		return doc, nil, next, err
	}
	begun, r := time.Now(), d.Archive.Reader(s.Key, s.cursor.Generation)
	model, err := d.modelOf(ctx, s)
	if err != nil {
		return doc, nil, next, err
	}
	text := func(span transcript.Span) ([]byte, error) {
		d.heartbeat()
		return r.Span(ctx, span)
	}
	c, err := model.Summarized(text, d.Archive.Summaries(ctx))
	if err != nil {
		return doc, nil, next, fmt.Errorf("compact session %s: %w", s.ID, err)
	}
	var sum mark.Hash
	if n := len(a.Generations); n > 0 {
		sum = a.Generations[n-1].Sum
	}
	doc = Render(s.Session, d.options(s), c, s.extent(model, sum))
	next.Covers, next.Options = next.At, d.hash(s)
	next.Original, next.Compacted, next.Real, next.Saved = c.Header.Tokens.Original, doc.Tokens, doc.About, doc.Saved
	next.Verified, next.Reason, next.Lost = c.Header.Verified, c.Header.Reason, c.Header.KeyInformation.Lost
	next.MissingSummaries = len(c.Wanted)
	st := model.Status()
	next.Title, next.Ask = st.Title, st.Ask
	if next.Trigger == "" {
		next.Trigger = "manual"
	}
	next.Work = next.Work.plus(time.Since(begun))
	if s.requested != nil {
		next.Manual = *s.requested
	}
	return doc, c, next, nil
}

// modelOf returns the model of the session's story up to the cursor: the one of this sync if it began with the first of its
// bytes, else it reads the archive.
func (d *Daemon) modelOf(ctx context.Context, s *session) (*compactor.Compactor, error) {
	if s.model != nil {
		s.takeTail()
		return s.model, nil
	}
	decoder := func() *transcript.Decoder { return d.Agents.NewDecoder(s.Agent, s.Class) }
	file := func(yield func(*transcript.Record, error) bool) {
		d.Archive.Records(ctx, s.Key, s.cursor.Generation, decoder())(yield)
	}
	model := compactor.New(d.options(s), s.Session)
	for r, err := range d.Archive.Story(ctx, s.Key, s.cursor.Generation, decoder, file) {
		if err != nil {
			return nil, fmt.Errorf("read session %s: %w", s.ID, err)
		}
		if d.onMain != nil && r.Span.Len > longLine {
			return nil, errMainOnly
		}
		d.heartbeat()
		model.Add(r)
	}
	return model, nil
}

// Extent is the part of a transcript that a companion covers.
type Extent struct {
	Records int
	Bytes   int64
	Sum     mark.Hash // SHA-256 of the bytes
	Parent  string    // ID of the session that started this one
}

// Render makes the companion's text. It is the same for the same session, options, compaction and extent.
func Render(s transcript.Session, o compactor.Options, c *compactor.Compaction, e Extent) sidecar.Document {
	return sidecar.Render(sidecar.Front{
		Header: c.Header, Options: o.Hash(),
		Agent: s.Agent, Session: name(s), Parent: e.Parent, Source: s.Source,
		Records: e.Records, Bytes: e.Bytes, Sum: e.Sum, Host: o.Host, Manual: o.Manual,
	}, c.Sections)
}

// name returns the session's name in a companion. A session of CompactFile has the file's path in its ID, and a
// companion must not depend on it.
func name(s transcript.Session) string {
	if strings.HasPrefix(s.ID, "file/") {
		return "file/" + strings.TrimSuffix(s.Source, ".jsonl")
	}
	return s.ID
}

// cleanTemporary removes the temporary files that a crash left in a directory of companions, once for each directory.
func (d *Daemon) cleanTemporary(dir string) {
	if d.cleanedDirs[dir] {
		return
	}
	d.cleanedDirs[dir] = true
	if err := atomicfile.Clean(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.Log.Warn("cannot remove temporary files of a crash", "dir", dir, "err", err)
	}
}

func (s *session) extent(m *compactor.Compactor, sum mark.Hash) Extent {
	status := m.Status()
	return Extent{Records: status.Records, Bytes: s.cursor.Offset, Sum: sum, Parent: status.Parent}
}

// appended records that the archive has stored a segment.
func (s *session) appended(seg transcript.Segment) {
	s.isNew, s.rewritten = false, false
	if seg.Start.Offset == 0 && seg.Start.Generation > 1 {
		if !s.Unlined() { // such an agent rewrites its file at each change
			s.state.Rewritten = time.Now().UTC()
		}
	}
}

// updateState updates the state from the last stat, after taken new bytes were read, and from the tracker.
func (s *session) updateState(taken int64) {
	s.state.At = Place{s.cursor.Generation, s.cursor.Offset}
	switch was := s.state.Source; {
	case was.IsZero() && taken >= s.state.At.Offset:
		s.state.Checked = time.Now().UTC() // all its bytes were just hashed
	case was.IsZero(), !s.missing && taken == 0 && s.sourceStat != was && s.sourceStat.Size == was.Size:
		s.state.Checked = time.Time{} // archived in parts, touched or rewritten: recheck compares it
	}
	if !s.missing {
		s.state.Source, s.state.Gone, s.state.GoneAt = s.sourceStat, false, time.Time{}
	}
	if s.tracker != nil {
		st := s.tracker.Status()
		if s.state.At.Generation > 1 && !s.Unlined() { // what a rewrite took away was said
			st.Title, st.Ask = cmp.Or(st.Title, s.state.Title), cmp.Or(s.state.Ask, st.Ask)
		}
		s.state.setStatus(st, s.tracker.PerToken(), s.decoder.Torn())
	}
}

// markUnsaved has the session's state stored with the next batch. The state is a cache: losing it costs one sync.
func (d *Daemon) markUnsaved(s *session) {
	if s.Class != transcript.Attachment {
		s.state.Options = d.hash(s)
	}
	d.unsaved[s] = true
}

// maxWaiting is how many bytes of new segments wait for the next transaction, while more offers wait.
const maxWaiting = 4 << 20

// collect keeps a segment for the save that follows, if it is not too large, and reports whether it did. One transaction
// for many segments and states is cheaper than one for each, because each writes the last pages of the blocks again. Until
// then the segment is only in memory, like the session's state.
func (d *Daemon) collect(s *session, seg transcript.Segment) bool {
	if s.waiting != nil || len(seg.Data) > maxWaiting/2 || s.decoder != nil && s.decoder.ContinuesLine(seg) {
		return false
	}
	seg.Data = bytes.Clone(seg.Data)
	s.waiting = &seg
	d.waiting += len(seg.Data)
	d.unsaved[s] = true
	return true
}

// save stores the waiting segments and the changed states in one batch, once there are enough of them or no more offers
// wait. It returns the sessions that another process has changed: they have to be synced again.
func (d *Daemon) save(ctx context.Context, more bool) (stale []*session, err error) {
	if more && len(d.unsaved) < maxUnsaved && d.waiting < maxWaiting {
		return nil, nil
	}
	var additions []archive.Addition
	var changes []archive.Change
	for s := range d.unsaved {
		raw := s.state.Encode()
		if s.waiting != nil {
			additions = append(additions, archive.Addition{Session: s.Session, Segment: *s.waiting})
		}
		if !bytes.Equal(raw, s.raw) || s.archivedPath != s.Path {
			changes = append(changes, archive.Change{Session: s.Session, Old: s.raw, New: raw})
		}
	}
	if len(additions)+len(changes) == 0 {
		clear(d.unsaved)
		return nil, nil
	}
	slices.SortFunc(additions, func(a, b archive.Addition) int { return cmp.Compare(a.Session.ID, b.Session.ID) })
	slices.SortFunc(changes, func(a, b archive.Change) int { return cmp.Compare(a.Session.ID, b.Session.ID) })
	keys, err := d.Archive.Save(ctx, additions, changes)
	if err != nil && len(additions) > 0 {
		return d.appendEach(ctx, additions, err)
	}
	if err != nil {
		return nil, err
	}
	d.clearUnsaved()
	for _, c := range changes {
		s := d.sessions[c.Session.Key]
		s.raw, s.archivedPath = c.New, c.Session.Path
	}
	for _, k := range keys {
		s := d.sessions[k]
		s.invalidate()
		stale = append(stale, s)
	}
	return stale, nil
}

// clearUnsaved empties what waits for a save.
func (d *Daemon) clearUnsaved() {
	for s := range d.unsaved {
		s.waiting = nil
	}
	clear(d.unsaved)
	d.waiting = 0
}

// appendEach appends the segments one by one after a batch of them has failed with cause, so that one session does not
// keep the others from being archived. The states are stored later: losing one costs one sync.
func (d *Daemon) appendEach(ctx context.Context, additions []archive.Addition, cause error) (stale []*session, err error) {
	d.clearUnsaved()
	for _, add := range additions {
		s := d.sessions[add.Session.Key]
		one := cause
		if len(additions) > 1 {
			one = d.Archive.Append(ctx, add.Session, add.Segment)
		}
		switch {
		case ctx.Err() != nil:
			return stale, ctx.Err()
		case raced(one):
			stale = append(stale, s)
		case one != nil:
			d.finishSync(s, one)
			d.failed(s.offer(), one)
		}
		s.invalidate()
	}
	return stale, nil
}

// currentState is the replace function of store if nothing is to be replaced.
func (s *session) currentState() (State, error) { return s.state, nil }

// store indexes pointers and stores the state that replace returns.
func (d *Daemon) store(ctx context.Context, s *session, pointers []transcript.Pointer, replace func() (State, error)) error {
	var next State
	var raw []byte
	encode := func() ([]byte, error) {
		var err error
		if next, err = replace(); err != nil {
			return nil, err
		}
		raw = next.Encode()
		return raw, nil
	}
	if err := d.storePath(ctx, s); err != nil {
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

// storePath stores the transcript's path if it changed. Append does not do it for a move or an empty file, because they
// have no new bytes.
func (d *Daemon) storePath(ctx context.Context, s *session) error {
	if s.archivedPath == s.Path {
		return nil
	}
	stale, err := d.Archive.Save(ctx, nil, []archive.Change{{Session: s.Session, Old: s.raw, New: s.raw}})
	if err != nil {
		return err
	}
	if len(stale) > 0 {
		return archive.ErrStale
	}
	s.archivedPath = s.Path
	return nil
}

// reload replaces the session's state in memory by the archived one.
func (d *Daemon) reload(ctx context.Context, s *session) error {
	s.untrack()
	a, err := d.Archive.Last(ctx, s.Key)
	if err != nil {
		return err
	}
	fresh := d.sessionOf(a)
	s.state, s.raw, s.archivedPath, s.cursor = fresh.state, fresh.raw, fresh.archivedPath, a.Tip()
	return nil
}
