package reader

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/resume"
	"ccd/compactor"
	"ccd/daemon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
	"ccd/watcher"
)

// Companion is one that is to be printed: its text and, where it was made just now, what it was made of.
type Companion struct {
	Text    []byte
	Made    *daemon.Compacted
	Known   []transcript.Pointer // what its IDs stand for, as far as that is known
	Records iter.Seq2[*transcript.Record, error]
}

// Companion returns the session's companion as it was last written. It makes a new one from the archive if the file is
// missing, or, with made, in any case: then it covers what the written one does, and has its records.
func (l *Library) Companion(ctx context.Context, e *Entry, made bool) (Companion, error) {
	at := daemon.Place{}
	if file := e.CompanionFile(); file != "" {
		switch text, err := os.ReadFile(file); {
		case err == nil && made:
			at = e.Kept.Covers
		case err == nil:
			text, known, err := l.Checked(ctx, text)
			return Companion{Text: text, Known: known}, err
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission): // a companion of another machine or user is not readable here
			return Companion{}, fmt.Errorf("read companion: %w", err)
		}
	}
	return l.Recompact(ctx, e, l.Options(e), at)
}

// Model returns the model of a generation up to record number last, and a function that reads its spans. With an
// error it is that of the records before it.
func (r Reading) Model(ctx context.Context, o compactor.Options, last int) (*compactor.Compactor, compactor.Text, error) {
	model := compactor.New(o, r.Session)
	for one, err := range r.Story(ctx) {
		if err != nil {
			return model, r.Text(ctx), err
		}
		if model.Add(one); one.N == last {
			break
		}
	}
	return model, r.Text(ctx), nil
}

// Fresh is a companion as it was made just now, with the records that it was made from.
func (l *Library) Fresh(ctx context.Context, s transcript.Session, made daemon.Compacted) Companion {
	g := archive.Generation{N: made.At.Generation, Tip: transcript.Cursor{Offset: made.At.Offset}}
	return Made(made, Reading{Session: s, Generation: g, Archive: l.Archive, Agents: l.Agents}.Story(ctx))
}

// Made is a companion that was made of records just now.
func Made(made daemon.Compacted, records iter.Seq2[*transcript.Record, error]) Companion {
	return Companion{Text: made.Text, Made: &made, Known: made.Pointers, Records: records}
}

// Recompact makes a companion from the archive and writes nothing. It is the one that the daemon would write; where the
// archive is damaged, that of what can still be read. At is how far it goes; the zero Place means as far as the archive
// does, and only then its text names the bytes by their hash.
func (l *Library) Recompact(ctx context.Context, e *Entry, o compactor.Options, at daemon.Place) (Companion, error) {
	g, err := l.Reading(e, at.Generation)
	if err != nil {
		return Companion{}, err
	}
	whole := daemon.Place{Generation: g.N, Offset: g.Tip.Offset}
	part := g
	if at.Generation == 0 {
		at = whole
	}
	part.Tip.Offset = at.Offset
	c, err := l.made(ctx, g, o, at, part.Story(ctx), nil)
	if err == nil || !errors.As(err, new(*archive.DamageError)) {
		return c, err
	}
	s, err := l.salvaged(ctx, e, g, err)
	if err != nil {
		return Companion{}, err
	}
	return l.made(ctx, g, o, whole, s.Records(ctx), s.tell)
}

// made makes a companion of records. tell, if not nil, changes what it says.
func (l *Library) made(ctx context.Context, g Reading, o compactor.Options, at daemon.Place, records iter.Seq2[*transcript.Record, error], tell func(*compactor.Compaction)) (Companion, error) {
	model := compactor.New(o, g.Session)
	for rec, err := range records {
		if err != nil {
			return Companion{}, err
		}
		model.Add(rec)
	}
	c, err := model.Compact(model.Companion(), g.Text(ctx), l.Archive.Summaries(ctx))
	if err != nil {
		return Companion{}, fmt.Errorf("compact session %s: %w", g.ID, err)
	}
	if tell != nil {
		tell(c)
	}
	return Made(daemon.Made(g.Session, o, model.Status(), c, at, g.Sum), records), nil
}

// Copy makes the copy of a session. If the archive is damaged, Copy uses what can still be read.
func (l *Library) Copy(ctx context.Context, e *Entry, want resume.Request) (resume.Copy, error) {
	g, err := l.Reading(e, 0)
	if err != nil {
		return resume.Copy{}, err
	}
	of := resume.Source{
		Session: g.Session, Options: l.Options(e), Records: g.Story(ctx), Text: g.Text(ctx), Summaries: l.Archive.Summaries(ctx), Before: e.Kept.Resumed.ID,
	}
	c, damage := resume.Make(of, want)
	if !errors.As(damage, new(*archive.DamageError)) {
		return c, damage
	}
	if s, err := l.salvaged(ctx, e, g, damage); err == nil {
		of.Records, of.Tell = s.Records(ctx), s.tell
	}
	if c, err = resume.Make(of, want); errors.Is(err, resume.ErrNothing) {
		err = damage
	}
	return c, err
}

// CopiedFrom returns the session that e is a copy of, nil if e is no copy, or its original is not archived.
func (l *Library) CopiedFrom(e *Entry) *Entry {
	if e.Kept.Resumed.Records == 0 {
		return nil
	}
	for _, o := range l.Sessions {
		if o.ID == e.Kept.Resumed.ID && o.Class == transcript.Main && len(o.Generations) > 0 {
			return o
		}
	}
	return nil
}

// readPart is the percentage of its time in which a hook must have read a session and the texts of its answer. Otherwise it answers from
// the companion, which takes a few milliseconds.
const readPart = 85

// lookUpTime is how long a hook waits for the archive to say whether a transcript was rewritten. A transcript that an archive
// in use knows nothing of in that time counts as new.
const lookUpTime = 200 * time.Millisecond

// within returns a context that ends after a part, in percent, of the time that is left.
func within(ctx context.Context, percent int) (context.Context, context.CancelFunc) {
	end, limited := ctx.Deadline()
	if !limited {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Until(end)*time.Duration(percent)/100)
}

// Compactor reads a session from its transcript into a compactor, because the archive may be behind or locked, as a hook needs it
// (hook.Hooks.Compactor). It gives up in time before the deadline of ctx.
func (l *Library) Compactor(ctx context.Context, s transcript.Session, m compactor.Manual, each func(*transcript.Record)) (*compactor.Compactor, compactor.Text, func(), error) {
	if s.Packed { // unpacking would need time
		return nil, nil, nil, fmt.Errorf("read session %s: %w", s.ID, errors.New("it is compressed"))
	}
	ctx, done := within(ctx, readPart)
	quick, cancel := context.WithTimeout(ctx, lookUpTime)
	generation := daemon.Generation(quick, l.Archive, s)
	cancel()
	model := compactor.New(Options(l.Place).With(m), s)
	read, err := daemon.ReadTranscript(ctx, l.Archive, l.Agents, s, generation, watcher.TailOptions{Rest: true}, func(r *transcript.Record) {
		if model.Add(r); each != nil && r.N > 0 && r.Span.Off >= 0 {
			each(r)
		}
	})
	if err != nil {
		done()
		return nil, nil, nil, fmt.Errorf("read session %s: %w", s.ID, err)
	}
	return model, read.Text(ctx), done, nil
}

// Damage is a damaged place of the archive, as --json lists it.
type Damage struct {
	Session    string  `json:"session"`
	Generation int     `json:"generation"`
	Offset     int64   `json:"offset"`
	ID         mark.ID `json:"id"`
	Companion  string  `json:"companion"`
	Cause      string  `json:"cause"`
	Brief      string  `json:"-"` // place and cause as a line for people
	Why        string  `json:"-"` // the cause alone
}

// DamagesOf returns the damage among errors as it is listed; never nil, so that JSON has a list.
func DamagesOf[E error](all []E) []Damage {
	listed := []Damage{}
	for _, err := range all {
		if d := (*archive.DamageError)(nil); errors.As(err, &d) {
			listed = append(listed, Damage{Session: d.Session.ID, Generation: d.Generation, Offset: d.Offset, ID: d.ID, Cause: d.Error(), Brief: d.Brief(), Why: d.Err.Error()})
		}
	}
	return listed
}

// Locked gives the error of a locked archive one form, whatever the command was about to read.
func Locked(err error) error {
	var locked *archive.LockedError
	if errors.As(err, &locked) {
		return fmt.Errorf("open archive: %w", locked)
	}
	return err
}

// Showing a companion reads originals of so many bytes to see whether they are intact, together and each: a few large ones would be all
// that is read. `ccd archive verify` checks the rest.
const (
	maxChecked = 32 << 20
	maxOne     = 1 << 20
)

// Checked looks up the IDs of a companion and marks in the text those whose originals are damaged. It leaves IDs that
// the index does not have as they are.
func (l *Library) Checked(ctx context.Context, text []byte) ([]byte, []transcript.Pointer, error) {
	ids := mark.IDs(string(text))
	found, err := l.Archive.Lookup(ctx, ids...)
	lost := map[mark.ID]string{} // the transcript that held it
	for _, err := range archive.Damages(err) {
		var d *archive.DamageError
		if !errors.As(err, &d) {
			return nil, nil, err
		}
		if lost[d.ID] = "index"; d.ID == "" {
			for _, id := range ids {
				lost[id] = "index"
			}
		}
	}
	known := make([]transcript.Pointer, len(found))
	for i, f := range found {
		known[i] = f.Pointer
		delete(lost, f.Hash.ID())
	}
	err = l.check(ctx, found, func(f archive.Found) { lost[f.Hash.ID()] = l.Session(ctx, f.Key).Path })
	if err != nil {
		return nil, nil, err
	}
	return unavailable(text, lost), known, ctx.Err()
}

// check calls bad with the originals that are damaged, of those that it reads.
func (l *Library) check(ctx context.Context, all []archive.Found, bad func(archive.Found)) error {
	slices.SortStableFunc(all, func(x, y archive.Found) int { // each block is read once
		return cmp.Or(cmp.Compare(x.Key.ID, y.Key.ID), cmp.Compare(x.Generation, y.Generation), cmp.Compare(x.Parts[0].Span.Off, y.Parts[0].Span.Off))
	})
	left := int64(maxChecked)
	var r *archive.Reader
	for i, f := range all {
		if i == 0 || f.Key != all[i-1].Key || f.Generation != all[i-1].Generation {
			r = l.Archive.Reader(f.Key, f.Generation)
		}
		size := sizeOf(f)
		if size > maxOne || size > left {
			continue
		}
		left -= size
		err := r.CheckPointer(ctx, f.Pointer)
		if errors.As(err, new(*archive.DamageError)) {
			bad(f)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// sizeOf is how many bytes an original takes in its transcript.
func sizeOf(f archive.Found) (n int64) {
	for _, p := range f.Parts {
		n += p.Span.Len
	}
	return n
}

// unavailable replaces the markers of lost originals.
func unavailable(text []byte, lost map[mark.ID]string) []byte {
	if len(lost) == 0 {
		return text
	}
	return mark.Replace(text, func(id mark.ID) (string, bool) {
		path, ok := lost[id]
		return mark.New(id, fmt.Sprintf("content unavailable: %s, hash mismatch", mark.Inline(path, 0))), ok
	})
}

// salvage is what can be read of a damaged generation.
type salvage struct {
	Reading
	from, to int64 // offsets of the first damage and of the end of the last
	lost     int   // records there
	first    int   // number of the first one
}

// salvaged looks at what can still be read where cause, damage, has ended the reading of a generation. How many records
// are lost is known where the daemon had counted all of them; else one stands for them.
func (l *Library) salvaged(ctx context.Context, e *Entry, g Reading, cause error) (*salvage, error) {
	s := &salvage{Reading: g, from: -1, lost: 1}
	ends := 0 // of lines
	for seg, err := range g.Bytes().SegmentsPastDamage(ctx) {
		switch damaged := errors.As(err, new(*archive.DamageError)); {
		case damaged && seg.End.Offset > 0:
			if s.to = seg.End.Offset; s.from < 0 {
				s.from, s.first = seg.Start.Offset, ends+1
			}
		case err != nil:
			return s, cause
		}
		ends += bytes.Count(seg.Data, []byte{'\n'})
	}
	if s.from < 0 {
		return s, cause
	}
	if e.Kept.At == (daemon.Place{Generation: g.N, Offset: g.Tip.Offset}) {
		s.lost = max(1, e.Kept.Records-ends)
	}
	return s, nil
}

// Records gives the records that can be read, with their own numbers, and an empty one for each that is lost.
func (s *salvage) Records(ctx context.Context) iter.Seq2[*transcript.Record, error] {
	segments := func(yield func(transcript.Segment, error) bool) {
		lines := s.lost
		for seg, err := range s.Bytes().SegmentsPastDamage(ctx) {
			if errors.As(err, new(*archive.DamageError)) {
				blank := bytes.Repeat([]byte{' '}, int(seg.End.Offset-seg.Start.Offset))
				for i := max(0, len(blank)-lines); i < len(blank); i++ {
					blank[i] = '\n'
				}
				seg.Data, err, lines = blank, nil, 0
			}
			if seg.Rest = seg.Rest && seg.End.Offset != s.from; !yield(seg, err) {
				return
			}
		}
	}
	return func(yield func(*transcript.Record, error) bool) { s.Decoder().All(segments)(yield) } // a decoder reads a record once
}

// holds reports whether an original stands, wholly or in part, in what is lost: by its bytes, or by its records.
func (s *salvage) holds(p transcript.Pointer) bool {
	if p.Record < s.first+s.lost && p.Last >= s.first {
		return true
	}
	return slices.ContainsFunc(p.Parts, func(part transcript.Part) bool { return part.Span.Off < s.to && part.Span.End() > s.from })
}

// tell says in the place of the markers that lead to what is lost, and once above the record, that it is. The IDs of these markers are
// made from bytes that are not there any more.
func (s *salvage) tell(c *compactor.Compaction) {
	c.Header.Verified, c.Header.Reason = false, fmt.Sprintf("%s cannot be read: hash mismatch", words.Count(s.lost, "record"))
	lost := map[mark.ID]string{s.Sum.ID(): s.Path}
	for _, p := range c.Pointers {
		if s.holds(p) {
			lost[p.Hash.ID()] = s.Path
		}
	}
	at := slices.IndexFunc(c.Sections, func(s compactor.Section) bool { return s.Name == compactor.Record })
	if at < 0 {
		at, c.Sections = len(c.Sections), append(c.Sections, compactor.Section{Name: compactor.Record})
	}
	c.Sections[at].Body = fmt.Sprintf("- #%d-#%d %s\n", s.first, s.first+s.lost-1, mark.New(s.Sum.ID(), "")) + c.Sections[at].Body
	for i := range c.Sections {
		c.Sections[i].Body = string(unavailable([]byte(c.Sections[i].Body), lost))
	}
}
