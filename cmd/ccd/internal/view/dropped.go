package view

import (
	"context"

	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/history"
	"ccd/cmd/ccd/internal/hook"
)

// Forgotten is one compaction: what was there, what the agent's own summary kept, and what ccd tells the agent.
type Forgotten struct {
	*dropped.Report
	Own    string       `json:"own_summary"` // redacted; "" if it cannot be read
	Told   string       `json:"told"`        // what ccd's hook adds to the context after it
	Ledger []LedgerLine `json:"ledger"`      // what was dropped, the most important first
	InTold int          `json:"in_told"`     // of Ledger
}

// LedgerLine is one dropped fact.
type LedgerLine struct {
	dropped.Fact
	Class  dropped.Class `json:"class"`
	InTold bool          `json:"in_told"` // what ccd's hook adds shows it; if neither shows it, its ID restores it
}

// Forgotten reports on compaction number n of what is indexed, 0 for the last one. It reads the session once, up to the
// compaction. The error is a *dropped.NoneError if there is no such compaction.
func (l *Life) Forgotten(ctx context.Context, n int) (*Forgotten, error) {
	fold, text := l.library.Fold(ctx, l.entry, l.generation)
	compared, err := dropped.Compare(n, l.model.Session, fold.Session)
	if err != nil {
		return nil, err
	}
	companion, err := l.library.Companion(ctx, l.entry, false)
	if err != nil {
		return nil, err
	}
	for r, err := range history.Records(ctx, l.library.History(), l.entry.Session.Session, l.generation) {
		if err != nil {
			return nil, err
		}
		if !compared.Add(r) {
			break
		}
	}
	out := &Forgotten{}
	if out.Report, err = compared.Report(text, dropped.Choice{Companion: string(companion.Text)}); err != nil {
		return nil, err
	}
	out.Own, _, _ = head(out.Report.Own, MaxShown)
	if out.Told, _, err = (hook.Hooks{Agents: l.library.Agents}).AfterCompaction(l.entry.Session.Session, fold, text); err != nil {
		return nil, err
	}
	told := dropped.NewText(out.Told)
	for _, class := range out.Classes {
		for _, one := range class.List {
			line := LedgerLine{Fact: one, Class: class.Class, InTold: told.Shows(&one)}
			if line.InTold {
				out.InTold++
			}
			out.Ledger = append(out.Ledger, line)
		}
	}
	return out, nil
}
