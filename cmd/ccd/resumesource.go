package main

import (
	"context"
	"errors"
	"slices"

	"ccd/archive"
	"ccd/cmd/ccd/internal/history"
	"ccd/cmd/ccd/internal/resume"
	"ccd/compactor"
	"ccd/internal/transcript"
)

// mostCopies is how many copies of copies are followed back to the session that they began with.
const mostCopies = 8

// copied makes the copy of a session; family are the sessions that it is made from. Where the archive is damaged, it is
// made from what can still be read.
func (l *library) copied(ctx context.Context, e entry, want resume.Request) (family []entry, c resume.Copy, err error) {
	family = l.lineage(e)
	sources, err := l.copySources(ctx, family)
	if err != nil {
		return family, c, err
	}
	c, err = resume.Make(sources, want)
	if !errors.As(err, new(*archive.DamageError)) {
		return family, c, err
	}
	for i, e := range family {
		g, gerr := e.generation(0)
		if gerr != nil {
			return family, c, gerr
		}
		if s, serr := l.salvaged(ctx, e, g, err); serr == nil {
			salvagedSource(ctx, &sources[i], s)
		}
	}
	c, err = resume.Make(sources, want)
	return family, c, err
}

// lineage is a session and, where it is a copy that ccd wrote, the ones that it goes on from, as far as they are archived.
func (l *library) lineage(e entry) []entry {
	all := []entry{e}
	for len(all) < mostCopies {
		from, ok := l.resumed(all[len(all)-1])
		if !ok {
			break
		}
		all = append(all, from)
	}
	return all
}

// resumed returns the session that a copy of ccd's goes on from; ok is false for any other session, and where that one is
// not archived.
func (l *library) resumed(e entry) (from entry, ok bool) {
	if e.state.Resumed.Records < 1 {
		return from, false
	}
	i := slices.IndexFunc(l.sessions, func(o entry) bool {
		return o.ID == e.state.Resumed.ID && o.Class == transcript.Main && len(o.Generations) > 0
	})
	if i < 0 {
		return from, false
	}
	return l.sessions[i], true
}

// copySources are the sessions of a family as a copy is made from them: of each, what the next one was made from.
func (l *library) copySources(ctx context.Context, family []entry) ([]resume.Source, error) {
	var all []resume.Source
	for i, e := range family {
		g, err := e.generation(0)
		if err != nil {
			return nil, err
		}
		r := l.archive.Reader(e.Key, g.N)
		s := resume.Source{
			Session: e.Session.Session, Options: l.options(e), Records: history.Records(ctx, l.archive, e.Session.Session, g.N),
			Text:      func(span transcript.Span) ([]byte, error) { return r.Span(ctx, span) },
			Summaries: l.archive.Summaries(ctx),
		}
		if i > 0 {
			s.Until = family[i-1].state.Resumed.Covers
		}
		if i+1 < len(family) {
			s.Resumed = e.state.Resumed
		} else {
			s.Before = e.state.Resumed.ID
		}
		all = append(all, s)
	}
	return all, nil
}

// salvagedSource puts what can still be read of a session in the place of its records.
func salvagedSource(ctx context.Context, to *resume.Source, s salvage) {
	lost := 0
	to.Records = func(yield func(*transcript.Record, error) bool) {
		for r, err := range s.records(ctx) {
			if err == nil && lost == 0 && r.Broken && r.Span.Len == 0 {
				lost = r.N
			}
			if !yield(r, err) {
				return
			}
		}
	}
	to.Tell = func(c *compactor.Compaction) error { return s.tell(ctx, c, lost) }
}
