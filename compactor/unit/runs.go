package unit

import (
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Runs returns the lists of consecutive human messages whose hash want accepts; markers of earlier texts may name them.
// Which ones a text names depends on its room, and not every text is kept. Runs reads no transcript.
func (s *Source) Runs(want func(mark.Hash) bool) (found []transcript.Pointer) {
	var rows []int32
	if g := s.f.Given(); g >= 0 {
		rows = append(rows, g)
	}
	_, n := s.f.Humans()
	for i := range n {
		if row := s.f.Human(i); row >= 0 && !s.row(row).Gone() {
			rows = append(rows, row)
		}
	}
	for from := range rows {
		parts := mark.NewCombiner()
		for to := from; to < min(len(rows), from+maxList); to++ {
			parts.Add(mark.KeyID(s.row(rows[to]).Key))
			if h := parts.Hash(); want(h) {
				found = append(found, s.Known[s.list(rows[from:to+1], "messages")])
			}
		}
	}
	return found
}
