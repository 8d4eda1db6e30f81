package view

import (
	"context"
	"iter"
	"slices"
	"strings"

	"ccd/archive"
	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/history"
	"ccd/cmd/ccd/internal/hook"
	"ccd/cmd/ccd/internal/reader"
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

// Drop reports on compaction number n of a generation, 0 for the last one. It reads the generation three times. The error is
// a *dropped.NoneError if there is no such compaction.
func Drop(ctx context.Context, l *reader.Library, e reader.Entry, g archive.Generation, n int) (*Forgotten, error) {
	report, err := dropped.Of(func() iter.Seq2[*transcript.Record, error] {
		return history.Records(ctx, l.History(), e.Session.Session, g.N)
	}, dropped.Choice{Boundary: n})
	if err != nil {
		return nil, err
	}
	out := &Forgotten{Report: report}
	if out.Own, err = summary(ctx, l, e, g, report); err != nil {
		return nil, err
	}
	fold, text, err := l.FoldTo(ctx, e, g.N, report.Last)
	if err != nil {
		return nil, err
	}
	if out.Told, _, err = (hook.Hooks{Agents: l.Agents}).AfterCompaction(e.Session.Session, fold, text); err != nil {
		return nil, err
	}
	companion, err := l.Companion(ctx, e, false)
	if err != nil {
		return nil, err
	}
	out.ledger(string(companion.Text))
	return out, nil
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

// summary returns the agent's own summary, and what its client kept with it.
func summary(ctx context.Context, l *reader.Library, e reader.Entry, g archive.Generation, report *dropped.Report) (string, error) {
	var parts []string
	for r, err := range history.Records(ctx, l.History(), e.Session.Session, g.N) {
		if err != nil {
			return "", err
		}
		switch {
		case r.N > report.Last:
			return strings.Join(parts, "\n\n"), nil
		case r.N >= report.Record:
			for _, it := range slices.Concat(r.Items, transcript.Replacement(r)) {
				if it.Kind == transcript.Summary && !it.Side {
					text, _, _ := head(string(transcript.Original(it.Kind, it.Raw)), MaxShown)
					parts = append(parts, text)
				}
			}
		}
	}
	return strings.Join(parts, "\n\n"), nil
}
