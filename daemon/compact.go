package daemon

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"time"

	"ccd/archive"
	"ccd/compactor"
	"ccd/compactor/sidecar"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// CompactOptions is what a person asks of one compaction.
type CompactOptions struct {
	compactor.Manual      // what is not asked for stays as it was asked for before, else as configured
	Reset            bool // forget what was asked before
	Write            bool // put the companion in place, and keep what is asked for as the session's own options; else only the text is made
}

// Compacted is a companion made on request.
type Compacted struct {
	sidecar.Document
	*compactor.Compaction
	Options compactor.Options // that it was made with
	At      Place             // how far it goes
	Path    string            // of the companion, "" where none was written
}

// made is a companion of s as it is folded.
func (d *Daemon) made(s *session, doc sidecar.Document, c *compactor.Compaction) Compacted {
	return Compacted{Document: doc, Compaction: c, Options: d.options(s), At: Place{s.cursor.Generation, s.cursor.Offset}}
}

// ErrUnknown tells that the archive and the watched roots hold no such session.
var ErrUnknown = errors.New("no such session")

// ErrForeign tells that none of a transcript's records is of a known type: there is nothing to make a companion of.
var ErrForeign = errors.New("unknown format")

// Known returns the session whose transcript stands at path below a watched root, whether or not it was archived yet.
func (d *Daemon) Known(path string) (transcript.Session, bool) {
	for _, r := range d.Watch.Roots {
		if _, ok := registry.Find(r.Agent, r.Path, path); !ok {
			continue // also what an earlier CompactFile adopted
		}
		if s, err := d.session(watcher.Offer{Path: path, Root: r}); err == nil && s != nil {
			return s.Session, true
		}
	}
	return transcript.Session{}, false
}

// Compact brings a known session up to date and makes its companion, whatever its size. A session whose file is gone
// is made from the archive. IDs in the text resolve when it returns.
func (d *Daemon) Compact(ctx context.Context, key transcript.Key, o CompactOptions) (Compacted, error) {
	s := d.sessions[key]
	if s == nil {
		return Compacted{}, fmt.Errorf("compact %s: %w", key.ID, ErrUnknown)
	}
	if s.Class == transcript.Attachment {
		return Compacted{}, fmt.Errorf("compact %s: it is an attachment of session %s", key.ID, s.Parent)
	}
	s.ask(o)
	s.held = true
	defer func() {
		s.held, s.asked = false, nil
		s.unfold()
	}()
	for try := 1; ; try++ {
		s.unfold() // options are part of a fold
		c, err := d.compact(ctx, s, o.Write)
		if !raced(err) || try == patience {
			return c, err
		}
		if err := pause(ctx, try); err != nil {
			return c, err
		}
	}
}

// pause lets other processes come to their end first.
func pause(ctx context.Context, try int) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(try) * time.Duration(os.Getpid()%7+3) * time.Millisecond):
		return nil
	}
}

// patience is how often a person's compaction is tried again while other processes are faster.
const patience = 40

// raced reports whether another process was faster: the session is folded anew and the step done again.
func raced(err error) bool { return errors.Is(err, archive.ErrTip) || errors.Is(err, archive.ErrStale) }

func (d *Daemon) compact(ctx context.Context, s *session, write bool) (Compacted, error) {
	if err := d.sync(ctx, watcher.Offer{Path: s.Path, Quiet: atRest}); err != nil {
		return Compacted{}, err
	}
	if err := d.fold(ctx, s); err != nil {
		return Compacted{}, err
	}
	if c := s.compactor.Status(); foreign(c) {
		return Compacted{}, fmt.Errorf("compact %s: %w: none of %d records is of a known type", s.ID, ErrForeign, c.Records)
	}
	once := func() (Compacted, error) {
		if write {
			return d.publish(ctx, s)
		}
		doc, c, _, err := d.document(ctx, s)
		if err != nil {
			return Compacted{}, err
		}
		return d.made(s, doc, c), d.store(ctx, s, c.Pointers, s.same)
	}
	made, err := once()
	if err != nil {
		return made, err
	}
	return d.improve(ctx, s, made, once)
}

// Update brings the archive up to date with a known session's transcript, and nothing else. A session whose file is gone
// is as the archive has it.
func (d *Daemon) Update(ctx context.Context, key transcript.Key) error {
	return d.patiently(ctx, key, func(s *session) error { return d.store(ctx, s, nil, s.same) })
}

// Publish indexes IDs of a known session that stand elsewhere than in its companion. Their spans are those of the given
// generation, which must still be its last one.
func (d *Daemon) Publish(ctx context.Context, key transcript.Key, generation int, pointers []transcript.Pointer) error {
	return d.patiently(ctx, key, func(s *session) error {
		if s.cursor.Generation != generation {
			return fmt.Errorf("publish ids of session %s: generation %d is not its last one any more", key.ID, generation)
		}
		return d.store(ctx, s, pointers, s.same)
	})
}

// patiently syncs a session and does something with it, again where another process was faster.
func (d *Daemon) patiently(ctx context.Context, key transcript.Key, do func(*session) error) error {
	s := d.sessions[key]
	if s == nil {
		return fmt.Errorf("read session %s: %w", key.ID, ErrUnknown)
	}
	s.held = true
	defer func() {
		s.held = false
		s.unfold()
	}()
	for try := 1; ; try++ {
		s.unfold()
		err := d.sync(ctx, watcher.Offer{Path: s.Path, Quiet: atRest})
		if err == nil {
			err = d.fold(ctx, s)
		}
		if err == nil {
			err = do(s)
		}
		if !raced(err) || try == patience {
			return err
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// CompactFile archives a transcript that lies below no watched root and makes its companion's text, as Compact does.
func (d *Daemon) CompactFile(ctx context.Context, s transcript.Session, o CompactOptions) (Compacted, error) {
	d.Adopt(s)
	o.Write = false
	return d.Compact(ctx, s.Key, o)
}

// Adopt makes a transcript that lies below no watched root a session of this daemon: Update archives it.
func (d *Daemon) Adopt(s transcript.Session) {
	adopted := d.sessions[s.Key]
	if adopted == nil {
		adopted = &session{}
		d.sessions[s.Key] = adopted
	}
	adopted.Session = s
	d.owners[s.Path] = s.Key
}

// Preview makes the companion's text of a transcript without the archive: its IDs resolve only once the same bytes
// are archived. It leaves nothing behind.
func (d *Daemon) Preview(ctx context.Context, s transcript.Session, o CompactOptions) (Compacted, error) {
	f, done, err := readable(s)
	if err != nil {
		return Compacted{}, fmt.Errorf("read transcript: %w", err)
	}
	defer done()
	p := &session{Session: s}
	if known := d.sessions[s.Key]; known != nil {
		p.state.Manual = known.state.Manual
	}
	p.ask(o)
	p.begin(d, transcript.Cursor{})
	sum := sha256.New()
	for seg, err := range watcher.Tail(ctx, s, p.cursor, watcher.TailOptions{Rest: true, Torn: true}) {
		if err != nil {
			return Compacted{}, err
		}
		if s.Packed {
			if _, err := f.Write(seg.Data); err != nil {
				return Compacted{}, fmt.Errorf("unpack transcript: %w", err)
			}
		}
		sum.Write(seg.Data)
		p.take(seg)
	}
	p.finish()
	if c := p.compactor.Status(); foreign(c) {
		return Compacted{}, fmt.Errorf("compact %s: %w: none of %d records is of a known type", s.ID, ErrForeign, c.Records)
	}
	c, err := p.compactor.Summarized(func(span transcript.Span) ([]byte, error) {
		b := make([]byte, span.Len)
		_, err := f.ReadAt(b, span.Off)
		return b, err
	}, d.Archive.Summaries(ctx))
	if err != nil {
		return Compacted{}, fmt.Errorf("compact %s: %w", s.ID, err)
	}
	doc := Render(s, d.options(p), c, p.extent(mark.Hash(sum.Sum(nil))))
	return d.made(p, doc, c), nil
}

func (s *session) ask(o CompactOptions) {
	s.asked = nil
	if o.Reset || !o.IsZero() {
		next := o.After(s.state.Manual)
		s.asked = &next
	}
}

// After returns what holds by hand, where something was asked for earlier.
func (o CompactOptions) After(earlier compactor.Manual) compactor.Manual {
	if o.Reset {
		return o.Manual
	}
	return o.Over(earlier)
}

// readable returns what the transcript of s can be read from at any place: its file or, of a compressed one, an empty
// temporary file that its owner alone can read, that the caller fills, and that done removes.
func readable(s transcript.Session) (f *os.File, done func(), err error) {
	if !s.Packed {
		f, err = os.Open(s.Path)
		return f, func() { f.Close() }, err
	}
	f, err = os.CreateTemp("", "ccd-*.jsonl")
	return f, func() {
		f.Close()
		os.Remove(f.Name())
	}, err
}
