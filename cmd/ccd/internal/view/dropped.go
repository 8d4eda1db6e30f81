package view

import (
	"context"
	"slices"
	"strings"

	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/history"
	"ccd/cmd/ccd/internal/hook"
	"ccd/internal/scorecard"
	"ccd/internal/transcript"
)

// Forgotten is one compaction: what was there, what the agent's own summary kept, and what ccd tells the agent.
type Forgotten struct {
	*dropped.Report
	Own         string       `json:"own_summary"` // redacted; "" if it cannot be read
	Told        string       `json:"told"`        // what ccd's hook adds to the context after it
	Ledger      []LedgerLine `json:"ledger"`      // what was dropped, the most important first
	InTold      int          `json:"in_told"`     // of Ledger
	InCompanion int          `json:"in_companion"`
}

// LedgerLine is one dropped fact.
type LedgerLine struct {
	scorecard.Fact
	Class       scorecard.Class `json:"class"`
	InTold      bool            `json:"in_told"`      // what ccd's hook adds shows it
	InCompanion bool            `json:"in_companion"` // the companion shows it; otherwise its ID restores it
}

// Forgotten reports on compaction number n of what is indexed, 0 for the last one. It reads the session once, up to the
// compaction. The error is a *dropped.NoneError if there is no such compaction.
func (l *Life) Forgotten(ctx context.Context, n int) (*Forgotten, error) {
	compared, err := l.finder.Compare(n)
	if err != nil {
		return nil, err
	}
	out := &Forgotten{}
	fold, text := l.library.Fold(ctx, l.entry, l.generation)
	var own []string
	for r, err := range history.Records(ctx, l.library.History(), l.entry.Session.Session, l.generation) {
		if err != nil {
			return nil, err
		}
		if r.N > compared.Last() {
			break
		}
		compared.Add(r)
		fold.Add(r)
		if r.N >= compared.Record() {
			own = append(own, summaries(r)...)
		}
	}
	out.Report, out.Own = compared.Report(dropped.Choice{}), strings.Join(own, "\n\n")
	if out.Told, _, err = (hook.Hooks{Agents: l.library.Agents}).AfterCompaction(l.entry.Session.Session, fold, text); err != nil {
		return nil, err
	}
	companion, err := l.library.Companion(ctx, l.entry, false)
	if err != nil {
		return nil, err
	}
	out.ledger(string(companion.Text))
	return out, nil
}

// summaries returns the agent's own summaries in a record, and what its client kept with them.
func summaries(r *transcript.Record) (all []string) {
	for _, it := range slices.Concat(r.Items, transcript.Replacement(r)) {
		if it.Kind == transcript.Summary && !it.Side {
			text, _, _ := head(string(transcript.Original(it.Kind, it.Raw)), MaxShown)
			all = append(all, text)
		}
	}
	return all
}

// ledger lists the dropped facts, and where they are told.
func (f *Forgotten) ledger(companion string) {
	told, beside := scorecard.TextContext(f.Told), scorecard.TextContext(companion)
	for _, class := range f.Classes {
		for _, one := range class.List {
			line := LedgerLine{Fact: one, Class: class.Class, InTold: told.Shows(one), InCompanion: beside.Shows(one)}
			if line.InTold {
				f.InTold++
			}
			if line.InCompanion {
				f.InCompanion++
			}
			f.Ledger = append(f.Ledger, line)
		}
	}
}
