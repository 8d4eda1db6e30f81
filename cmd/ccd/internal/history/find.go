package history

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ccd/archive"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Search describes where Find looks for an ID.
type Search struct {
	Archive  Archive
	Sessions []archive.Session       // newest first
	Progress func(done, total int64) // bytes folded; may be nil
	Scope    string                  // which sessions these are, for the error: " in any archived session"
}

// Find returns the originals of these sessions whose IDs begin with prefix: from the index or, if the index has none, from
// the first session that has one, first attachments, then items and lines. It fails with ErrNotFound
// if there is none, and at once if no ID can have that prefix. An unreadable session or a damaged index entry does not end
// the search, but the error reports it, because either may hide an ID.
func Find(ctx context.Context, s Search, prefix string) ([]archive.Found, error) {
	lo, hi, err := mark.PrefixRange(prefix)
	if err != nil {
		return nil, err
	}
	found, err := s.Archive.Lookup(ctx, mark.ID(prefix))
	found = slices.DeleteFunc(found, func(f archive.Found) bool { return !s.has(f.Key) })
	var damage *archive.DamageError
	switch {
	case len(found) > 0: // a damaged entry beside them does not matter
		return found, nil
	case err != nil && !errors.As(err, &damage):
		return nil, err
	}
	w := want{lo, hi}
	if found = w.attachment(s.Sessions); found != nil {
		return found, nil
	}
	found, broken := w.folded(ctx, s)
	switch {
	case len(found) > 0:
		return found, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil: // an index entry is damaged and the archive cannot replace it
		return nil, err
	}
	err = fmt.Errorf("find id %s: %w%s", prefix, ErrNotFound, s.Scope)
	if broken == nil {
		if broken = s.Archive.CheckIndex(ctx); ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if broken != nil {
		err = fmt.Errorf("%w; some could not be read: %w", err, broken)
	}
	return nil, err
}

// has reports whether a session is among those searched.
func (s Search) has(k transcript.Key) bool {
	return slices.ContainsFunc(s.Sessions, func(one archive.Session) bool { return one.Key == k })
}

// want is a range of hash keys.
type want struct{ lo, hi uint64 }

func (w want) has(h mark.Hash) bool { return w.lo <= h.Key() && h.Key() <= w.hi }

// attachment compares the stored hashes of whole files, without reading the files.
func (w want) attachment(sessions []archive.Session) []archive.Found {
	var found []archive.Found
	for _, s := range sessions {
		if s.Class != transcript.Attachment {
			continue
		}
		for _, g := range s.Generations {
			if w.has(g.Sum) {
				p := transcript.Pointer{Hash: g.Sum, Parts: []transcript.Part{{Span: transcript.Span{Len: g.Tip.Offset}, Kind: transcript.File}}, Note: "file"}
				found = distinct(found, archive.Found{Pointer: p, Key: s.Key, Generation: g.N})
			}
		}
	}
	return found
}

// folded folds one session after the other until one has a match.
func (w want) folded(ctx context.Context, s Search) (found []archive.Found, broken error) {
	var done, total int64
	for _, one := range s.Sessions {
		total += size(one)
	}
	for _, one := range s.Sessions {
		if one.Class == transcript.Attachment {
			continue
		}
		for i := len(one.Generations) - 1; i >= 0; i-- {
			g := one.Generations[i].N
			got, err := w.generation(ctx, s, one, g)
			if len(got) > 0 || ctx.Err() != nil {
				return got, ctx.Err()
			}
			if err != nil && broken == nil {
				broken = err
			}
		}
		if done += size(one); s.Progress != nil {
			s.Progress(done, total)
		}
	}
	return nil, broken
}

func size(s archive.Session) int64 {
	var n int64
	if s.Class != transcript.Attachment {
		for _, g := range s.Generations {
			n += g.Tip.Offset
		}
	}
	return n
}

func (w want) generation(ctx context.Context, s Search, one archive.Session, g int) ([]archive.Found, error) {
	var found []archive.Found
	add := func(p transcript.Pointer) {
		found = distinct(found, archive.Found{Pointer: p, Key: one.Key, Generation: g})
	}
	for r, err := range Records(ctx, s.Archive, one.Session, g) {
		if err != nil {
			return found, err
		}
		w.record(r, add)
	}
	return found, nil
}

func (w want) record(r *transcript.Record, add func(transcript.Pointer)) {
	single := func(h mark.Hash, span transcript.Span, kind transcript.Kind, note string) {
		if w.has(h) {
			add(transcript.Pointer{
				Hash: h, Parts: []transcript.Part{{Span: span, Kind: kind}},
				Record: r.N, Last: r.N, Time: r.Time, Note: note,
			})
		}
	}
	single(r.Hash, r.Span, transcript.Meta, "record")
	if whole := Whole(*r); w.has(whole.Hash) {
		add(whole)
	}
	for _, it := range r.Items {
		single(it.Sum(), it.Span, it.Kind, it.Kind.String())
	}
}

// distinct appends f unless the same original is in found already.
func distinct(found []archive.Found, f archive.Found) []archive.Found {
	for _, have := range found {
		if have.Hash == f.Hash {
			return found
		}
	}
	return append(found, f)
}
