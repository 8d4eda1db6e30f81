package compactor

// importanceOf scores items between 0 and 1: by how often later ones refer to the names that they hold, by words of
// decision, correction and constraint, and by how new they are. Linear: counted from the end.
func importanceOf(all []talk) []float64 {
	scores := make([]float64, len(all))
	refs := make([]int, len(all))
	later := map[uint32]mention{}
	most := 0
	for i := len(all) - 1; i >= 0; i-- {
		refs[i] = all[i].references
		nameHashes(all[i].text, func(h uint32) {
			if m := later[h]; m.times == 0 || m.in != i {
				refs[i] += m.times
				later[h] = mention{m.times + 1, i}
			}
		})
		most = max(most, refs[i])
	}
	for i := range all {
		scores[i] = importance(refs[i], most, i, len(all), all[i].shape)
	}
	return scores
}

// mention is how many items name something, and the oldest of them so far.
type mention struct{ times, in int }

// importance is the score of the item at a place among so many, with so many later references of at most so many.
func importance(refs, most, at, of int, s shape) float64 {
	score := 0.0
	if most > 0 {
		score = referenceShare * float64(refs) / float64(most)
	}
	score += wordsWeight(s.decides(), s.signal() != noSignal, s.constrains())
	if of > 1 {
		score += recencyShare * float64(at) / float64(of-1)
	}
	return score
}
