package view

import (
	"context"

	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/hook"
	"ccd/internal/session"
)

// Forgotten reports on a compaction: what was there, what the agent's own summary kept and what ccd tells the agent. It reads
// the session once more for each, up to the compaction. The error is a *dropped.NoneError if there is no such compaction.
func (l *Index) Forgotten(ctx context.Context, by dropped.Choice) (*dropped.Report, error) {
	if known := l.forgotten[by]; known != nil {
		return known, nil
	}
	record, err := dropped.Last(l.model, by.Boundary)
	if err != nil {
		return nil, err
	}
	then, text, err := l.reading.Model(ctx, l.library.Options(l.entry), record)
	if err != nil {
		return nil, err
	}
	told := by
	if told.Told, _, err = (hook.Hooks{Agents: l.library.Agents}).AfterCompaction(l.reading.Session, then, text); err != nil {
		return nil, err
	}
	l.forgotten[by], err = dropped.Of(l.model, session.NewSource(l.model, text), told)
	return l.forgotten[by], err
}
