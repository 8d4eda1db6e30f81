package reader

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"ccd/archive"
	"ccd/compactor"
	"ccd/daemon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

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

// Brief is damage as a line for people, where the archive's path is known.
func Brief(err error) string {
	if d := (*archive.DamageError)(nil); errors.As(err, &d) {
		return d.Brief()
	}
	return err.Error()
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

// maxChecked bounds what showing a companion reads of its originals to see whether they are intact, in bytes. `ccd archive verify`
// checks the rest.
const maxChecked = 32 << 20

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
	// small ones are many, and a few large ones would be all that is read
	slices.SortStableFunc(all, func(x, y archive.Found) int { return cmp.Compare(sizeOf(x), sizeOf(y)) })
	n := 0
	for left := int64(maxChecked); n < len(all) && left > 0; n++ {
		left -= sizeOf(all[n])
	}
	all = all[:n]
	slices.SortStableFunc(all, func(x, y archive.Found) int { // each block is read once
		return cmp.Or(cmp.Compare(x.Key.ID, y.Key.ID), cmp.Compare(x.Generation, y.Generation), cmp.Compare(x.Parts[0].Span.Off, y.Parts[0].Span.Off))
	})
	var r *archive.Reader
	for i, f := range all {
		if i == 0 || f.Key != all[i-1].Key || f.Generation != all[i-1].Generation {
			r = l.Archive.Reader(f.Key, f.Generation)
		}
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
