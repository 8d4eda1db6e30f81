package unit

import (
	"math/bits"

	"ccd/compactor/fold"
	"ccd/internal/transcript"
)

// The worth per char of each kind of thing. The first level of a Must unit is tried before all other levels, so its worth only
// matters among Must units. Of two things of one kind the newer one is worth more: see fresh.
const (
	worthRange    = 99.0 // the ranges that cover all records
	worthLastAsk  = 98.0
	worthLast     = 92.0 // the last answer; as the newest one it comes to 96
	worthNow      = 94.0 // what was under way, the plan, git
	worthProblem  = 90.0
	worthRule     = 86.0
	worthFirstAsk = 84.0
	worthAsk      = 80.0
	worthFiles    = 76.0
	worthFileLine = 20.0 // a line for each file
	worthAnswer   = 58.0
	worthDid      = 5.0

	worthWhole    = 50.0 // an ask whole
	worthRun      = 70.0 // a command that is not a look-up, with its outcome
	worthMore     = 52.0 // more of an answer
	worthReport   = 14.0
	worthVerb     = 12.0 // the newest records verbatim
	worthResolved = 30.0
	worthFile     = 6.0  // the content of a file
	worthWork     = 10.0 // one call in a line
	worthLook     = 7.0  // a look-up among the commands
	worthFocus    = 4.0  // factor for things in focus
	worthContent  = 1.0  // a whole result
)

// fresh returns 1 for the newest thing of a kind and less for older ones. It changes at powers of two of how many are newer, so
// that one more record changes few values.
func fresh(newer int) float64 { return 1 / (1 + 0.2*float64(bits.Len(uint(newer)))) }

// workImportance returns the importance of a call or result by what it did.
func (w *writer) workImportance(row *fold.Row) float64 {
	switch {
	case row.Has(fold.Failed | fold.Rejected):
		return 0.5
	case row.Op == transcript.Write, row.Op == transcript.Edit, row.Op == transcript.Delete, row.Op == transcript.Rename:
		return 0.2
	case row.Op == transcript.Agent, row.Op == transcript.Ask:
		return 0.4
	case row.Has(fold.ErrorLines) && row.Op == transcript.Command:
		return 0.3
	case row.Op == transcript.Command, row.Op == transcript.Web:
		return 0.15
	}
	return 0
}
