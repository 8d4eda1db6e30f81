package view

import (
	"context"

	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/hook"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/session"
)

// Forgotten reports on a compaction of a session: what was there, what the agent's own summary kept and what
// ccd tells the agent. It reads the session once more, up to the compaction. The error is a *dropped.NoneError if there is no
// such compaction.
func Forgotten(ctx context.Context, l *reader.Library, e reader.Entry, generation int, s *session.Session, by dropped.Choice) (*dropped.Report, error) {
	record, err := dropped.Last(s, by.Boundary)
	if err != nil {
		return nil, err
	}
	then, text, err := l.Model(ctx, e, generation, record)
	if err != nil {
		return nil, err
	}
	if by.Told, _, err = (hook.Hooks{Agents: l.Agents}).AfterCompaction(e.Session.Session, then, text); err != nil {
		return nil, err
	}
	return dropped.Of(s, session.NewSource(s, text), by)
}

// Forgotten reports on compaction number n of what is indexed, 0 for the last one. It reads the session once for each.
func (l *Life) Forgotten(ctx context.Context, n int) (dropped.Report, error) {
	if known, ok := l.forgotten[n]; ok {
		return known, nil
	}
	r, err := Forgotten(ctx, l.library, l.entry, l.generation, l.model, dropped.Choice{Boundary: n})
	if err != nil {
		return dropped.Report{}, err
	}
	l.forgotten[n] = *r
	return *r, nil
}
