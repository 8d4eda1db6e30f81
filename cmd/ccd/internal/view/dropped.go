package view

import (
	"context"

	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/mark"
	"ccd/internal/scorecard"
)

// Forgotten is one compaction: what was there, what the agent's own summary kept, and what ccd tells the agent.
type Forgotten struct {
	*dropped.Report
	Before      []Turn       `json:"before"` // the turns that were in the context
	SummaryID   mark.ID      `json:"summary_id"`
	Own         string       `json:"own_summary"` // redacted, at most MaxShown bytes
	Told        string       `json:"told"`        // what ccd's hook adds to the context after it
	Ledger      []LedgerLine `json:"ledger"`      // what was dropped, the most important first
	InTold      int          `json:"in_told"`     // of the ledger, visible in Told
	InCompanion int          `json:"in_companion"`
}

// LedgerLine is one dropped fact.
type LedgerLine struct {
	scorecard.Fact
	Class       scorecard.Class `json:"class"`
	InTold      bool            `json:"in_told"`      // ccd's hook tells it
	InCompanion bool            `json:"in_companion"` // the companion shows it; otherwise its ID restores it
}

// Drop reports on compaction number n of the session, 0 for the last one. The error is a *dropped.NoneError if there is none.
func Drop(ctx context.Context, l *reader.Library, e reader.Entry, n int) (*Forgotten, error) {
	return nil, errStub
}
