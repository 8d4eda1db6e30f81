package reader

import (
	"context"
	"errors"
	"slices"

	"ccd/archive"
	"ccd/cmd/ccd/internal/resume"
	"ccd/compactor"
	"ccd/internal/transcript"
)

// mostCopies limits how many copies of copies are followed back to the original session.
const mostCopies = 8

// Copy makes the copy of a session. family are the sessions that it is made from. If the archive is damaged, Copy
// uses what can still be read.
func (l *Library) Copy(ctx context.Context, e *Entry, want resume.Request) (family []*Entry, c resume.Copy, err error) {
	family = l.lineage(e)
	sources, err := l.copySources(ctx, family)
	if err != nil {
		return family, c, err
	}
	c, err = resume.Make(sources, want)
	if !errors.As(err, new(*archive.DamageError)) {
		return family, c, err
	}
	damage := err
	for i, e := range family {
		g, gerr := l.Reading(e, 0)
		if gerr != nil {
			return family, c, gerr
		}
		if s, serr := l.salvaged(ctx, e, g, damage); serr == nil {
			sources[i].Records = s.Records(ctx)
			sources[i].Tell = func(c *compactor.Compaction) error { return s.tell(ctx, c) }
		}
	}
	if c, err = resume.Make(sources, want); errors.Is(err, resume.ErrNothing) {
		err = damage
	}
	return family, c, err
}

// lineage returns a session and, if it is a copy by ccd, the archived sessions that it was copied from.
func (l *Library) lineage(e *Entry) []*Entry {
	all := []*Entry{e}
	for from := l.CopiedFrom(e); from != nil && len(all) < mostCopies; from = l.CopiedFrom(from) {
		all = append(all, from)
	}
	return all
}

// CopiedFrom returns the session that e is a copy of, nil if e is no copy, or its original is not archived.
func (l *Library) CopiedFrom(e *Entry) *Entry {
	i := slices.IndexFunc(l.Sessions, func(o *Entry) bool {
		return e.Kept.Resumed.Records > 0 && o.ID == e.Kept.Resumed.ID && o.Class == transcript.Main && len(o.Generations) > 0
	})
	if i < 0 {
		return nil
	}
	return l.Sessions[i]
}

// copySources returns the sessions of a family as input of a copy; of each original, only the records that its copy was
// made from.
func (l *Library) copySources(ctx context.Context, family []*Entry) ([]resume.Source, error) {
	var all []resume.Source
	for i, e := range family {
		g, err := l.Reading(e, 0)
		if err != nil {
			return nil, err
		}
		s := resume.Source{Session: g.Session, Options: l.Options(e), Records: g.Story(ctx), Text: g.Text(ctx), Summaries: l.Archive.Summaries(ctx)}
		if i > 0 {
			s.Until = family[i-1].Kept.Resumed.Covers
		}
		if i+1 < len(family) {
			s.Resumed = e.Kept.Resumed
		} else {
			s.Before = e.Kept.Resumed.ID
		}
		all = append(all, s)
	}
	return all, nil
}
