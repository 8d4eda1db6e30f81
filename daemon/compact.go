package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"time"

	"ccd/archive"
	"ccd/compactor"
	"ccd/compactor/companion"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// CompactOptions are the options of one requested compaction.
type CompactOptions struct {
	compactor.Manual      // options that are not set keep their earlier value, else the configured one
	Reset            bool // drop the options of earlier requests
	Write            bool // write the companion and save the options with the session; otherwise only the text is returned
}

// Compacted is a companion made on request.
type Compacted struct {
	companion.Document
	*compactor.Compaction
	Options compactor.Options // used for this companion
	At      Place             // how much of the transcript it covers
	Path    string            // of the companion, "" if none was written
}

// ErrUnknownSession is returned for a session that is neither in the archive nor below a watched root.
var ErrUnknownSession = errors.New("no such session")

// SessionAt returns the session of the transcript at path, archived or not. It returns false if no watched root
// contains path.
func (d *Daemon) SessionAt(ctx context.Context, path string) (transcript.Session, bool) {
	for _, r := range d.Watch.Roots {
		found, ok := d.Agents.Find(r.Agent, r.Path, path)
		if !ok {
			continue // Adopt may have registered the path without a root
		}
		if d.Archive.Forgets(found) { // Adopt would store it under another ID
			return found, true
		}
		if s := d.register(ctx, watcher.Offer{Path: path, Root: r}); s != nil {
			return s.Session, true
		}
	}
	return transcript.Session{}, false
}

// Compact archives what is new in a session and makes its companion, whatever the session's size. If the transcript is
// gone, the companion is made from the archive. All IDs in the text resolve when Compact returns.
// It fails with ErrUnknownSession, and with ErrNotPlaced if only the file could not be written.
func (d *Daemon) Compact(ctx context.Context, key transcript.Key, o CompactOptions) (Compacted, error) {
	s, err := d.known(key)
	if err != nil {
		return Compacted{}, err
	}
	if s.Class == transcript.Attachment {
		return Compacted{}, fmt.Errorf("compact %s: it is an attachment of session %s", key.ID, s.Parent)
	}
	if !d.knowsAgent(key.Agent) {
		return Compacted{}, fmt.Errorf("compact %s: unknown agent %s: the configuration has no [agents.formats.%[2]s]", key.ID, key.Agent)
	}
	s.request(o)
	defer func() { s.requested = nil }()
	var made Compacted
	err = d.withRecords(ctx, s, func() (err error) {
		made, err = d.compact(ctx, s, o.Write)
		return err
	})
	return made, err
}

// Deferred returns the sessions that were old when a scan found them, and that have no companion yet, in the order of their keys.
func (d *Daemon) Deferred() (all []transcript.Key) {
	for key, s := range d.sessions {
		if s.state.Deferred && d.knowsAgent(key.Agent) {
			all = append(all, key)
		}
	}
	slices.SortFunc(all, func(a, b transcript.Key) int { return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.ID, b.ID)) })
	return all
}

// maxRetries limits how often a command retries after another process changed the session.
const maxRetries = 40

// retryRaces repeats a step while other processes change the session, with a pause in between. Run does not: it has the
// session offered again.
func retryRaces(ctx context.Context, step func() error) error {
	for try := 1; ; try++ {
		err := step()
		if !raced(err) || try == maxRetries {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(try) * time.Duration(os.Getpid()%7+3) * time.Millisecond):
		}
	}
}

// withRecords archives what is new in a session, reads it and calls do.
func (d *Daemon) withRecords(ctx context.Context, s *session, do func() error) error {
	return d.withBytes(ctx, s, func() error {
		if _, err := d.readArchived(ctx, s, s.isStory()); err != nil {
			return err
		}
		return do()
	})
}

// withBytes archives what is new in a session's transcript, unless it is gone, and calls do.
func (d *Daemon) withBytes(ctx context.Context, s *session, do func() error) error {
	s.byCommand = true
	defer func() { s.byCommand = false }()
	return retryRaces(ctx, func() error {
		s.offer = d.asOffer(s)
		err := d.reload(ctx, s)
		var b batch
		switch {
		case err != nil:
		case !s.missing:
			err = d.archiveNew(ctx, s, &b)
		case !s.state.Gone:
			err = d.markGone(ctx, s)
		}
		if failed := d.commit(ctx, &b)[s]; err == nil {
			err = failed
		}
		if err == nil {
			err = do()
		}
		return err
	})
}

// raced reports whether another process changed the session since it was read: it has to be read again.
func raced(err error) bool { return errors.Is(err, archive.ErrStale) }

func (d *Daemon) compact(ctx context.Context, s *session, write bool) (Compacted, error) {
	once := func() (Compacted, error) {
		if write {
			return d.publish(ctx, s)
		}
		made, _, err := d.makeCompanion(ctx, s)
		if err != nil {
			return Compacted{}, err
		}
		return made, d.store(ctx, s, made.Pointers, s.state, nil)
	}
	made, err := once()
	for end := time.Now().Add(passTime); err == nil && d.Summarize != nil && len(made.Wanted) > 0 && time.Now().Before(end); made, err = once() {
		a := d.ask(ctx, s, made.Wanted)
		if ctx.Err() != nil {
			return made, ctx.Err()
		}
		if a.err != nil || a.refused > 0 {
			d.Log.Warn("summaries not written; using ccd's own", "session", s.ID, "refused", a.refused, "err", a.err)
		}
		if a.taken == 0 {
			break
		}
	}
	return made, err
}

// Update archives what is new in a session's transcript, and stores what lists show. It does nothing if the file is gone.
// It fails with ErrUnknownSession.
func (d *Daemon) Update(ctx context.Context, key transcript.Key) error {
	s, err := d.known(key)
	if err != nil {
		return err
	}
	return d.withRecords(ctx, s, func() error { return d.store(ctx, s, nil, s.state, nil) })
}

// Publish archives what is new in a session's transcript and indexes IDs that are used outside the session's companion. Their
// spans belong to the given generation, which must still be the newest one; generation is 0 if there are no pointers. It makes
// nothing of the records, because to read them takes longer than all the rest. said, if not nil, is called when the rest is done, perhaps
// again, and returns the Status and PerToken of a model that the caller has read for its own purpose: lists show them until the next sync.
// It fails with ErrUnknownSession, and if there is a newer generation.
func (d *Daemon) Publish(ctx context.Context, key transcript.Key, generation int, pointers []transcript.Pointer, said func() (*compactor.Status, float64)) error {
	s, err := d.known(key)
	if err != nil {
		return err
	}
	return d.withBytes(ctx, s, func() error {
		if generation > 0 && s.cursor.Generation != generation {
			return fmt.Errorf("publish ids of session %s: generation %d is no longer the newest", key.ID, generation)
		}
		if said != nil {
			if st, perToken := said(); st != nil {
				s.note(*st, perToken)
			}
		}
		return d.store(ctx, s, pointers, s.state, nil)
	})
}

// known returns a session that is in the archive or below a watched root.
func (d *Daemon) known(key transcript.Key) (*session, error) {
	if s := d.sessions[key]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("session %s: %w", key.ID, ErrUnknownSession)
}

// Adopt adds a transcript outside the watched roots as a session, so that Update and Compact can archive it.
func (d *Daemon) Adopt(s transcript.Session) {
	adopted := d.sessions[s.Key]
	if adopted == nil {
		adopted = &session{}
		d.sessions[s.Key] = adopted
	}
	adopted.Session = s
	d.owners[s.Path] = s.Key
}

// Preview makes the text of a companion without writing to the archive, from the whole transcript in memory. Its IDs resolve only
// after the same bytes have been archived. It fails if the transcript cannot be read.
func (d *Daemon) Preview(ctx context.Context, s transcript.Session, o CompactOptions) (Compacted, error) {
	p := &session{Session: s}
	if known := d.sessions[s.Key]; known != nil {
		p.state.Manual = known.state.Manual
	}
	p.request(o)
	model := compactor.New(d.options(p), s)
	t, err := ReadTranscript(ctx, d.Archive, d.Agents, s, Generation(ctx, d.Archive, s), watcher.TailOptions{Rest: true, Torn: true}, model.Add)
	if err != nil {
		return Compacted{}, err
	}
	p.cursor = t.end
	return d.compacted(ctx, p, model, t.Text(ctx), mark.Sum(t.data))
}

// Transcript is a session that was read from its file as it stands; only what a rewrite took away comes from the archive.
type Transcript struct {
	data    []byte
	end     transcript.Cursor
	earlier *archive.Reader
}

// ReadTranscript reads a session's file into memory and calls each with the records of its story. generation is the file's.
// It fails if the file cannot be read.
func ReadTranscript(ctx context.Context, a *archive.Archive, agents registry.Table, s transcript.Session, generation int, o watcher.TailOptions, each func(*transcript.Record)) (*Transcript, error) {
	t := &Transcript{}
	if info, err := os.Stat(s.Path); err == nil { // a large transcript is not copied as it is read
		t.data = make([]byte, 0, info.Size())
	}
	for seg, err := range watcher.Tail(ctx, s, transcript.Cursor{}, o) {
		if err != nil {
			return nil, fmt.Errorf("read transcript: %w", err)
		}
		t.data, t.end = append(t.data, seg.Data...), seg.End
	}
	t.earlier = a.Reader(s.Key, generation).Of(s, t.data)
	decoder := func() *transcript.Decoder { return agents.NewDecoder(s.Agent, s.Class) }
	file := func(d *transcript.Decoder) iter.Seq2[*transcript.Record, error] {
		return d.All(func(yield func(transcript.Segment, error) bool) {
			yield(transcript.Segment{Data: t.data, End: t.end, Rest: true}, nil)
		})
	}
	for r, err := range a.Story(ctx, s, generation, decoder, file) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, fmt.Errorf("read transcript: %w", err)
		}
		each(r)
	}
	return t, nil
}

// Text reads spans of the story.
func (t *Transcript) Text(ctx context.Context) compactor.Text {
	return func(span transcript.Span) ([]byte, error) {
		if back, _ := span.Generation(); back > 0 {
			return t.earlier.Span(ctx, span)
		}
		return t.data[span.Off:span.End()], ctx.Err()
	}
}

// Generation returns which generation of its session a transcript's file is, archived or not.
func Generation(ctx context.Context, a *archive.Archive, s transcript.Session) int {
	stored, err := a.Last(ctx, s.Key)
	switch tip := stored.Tip(); {
	case err != nil || tip.Generation == 0:
		return 1
	case continues(ctx, s, tip):
		return tip.Generation
	default:
		return tip.Generation + 1
	}
}

// continues reports whether a session's file goes on from a cursor, also if it cannot be read.
func continues(ctx context.Context, s transcript.Session, from transcript.Cursor) bool {
	for seg, err := range watcher.Tail(ctx, s, from, watcher.TailOptions{}) {
		return err != nil || seg.Start.Generation == max(1, from.Generation)
	}
	return true
}

func (s *session) request(o CompactOptions) {
	s.requested = nil
	if o.Reset || !o.IsZero() {
		next := o.Merge(s.state.Manual)
		s.requested = &next
	}
}

// Merge returns the options that apply if earlier ones were requested before.
func (o CompactOptions) Merge(earlier compactor.Manual) compactor.Manual {
	if o.Reset {
		return o.Manual
	}
	return o.Over(earlier)
}
