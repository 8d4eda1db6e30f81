package prose

// superseded finds for each text the later one that corrects it: one that carries a correction signal and is about the
// same. A correction supersedes at most one earlier text, that with the most in common, and stands itself.
func superseded(all []Text, least float64) map[int]correction {
	found := map[int]correction{}
	f := topicFinder{least: least, all: all, byTerm: map[uint32][]int32{}, terms: make([][]topic, len(all))}
	for i := range all {
		m := &all[i]
		if m.Text == "" || m.Role == "system" || m.Role == "tool" || m.Marker && startsWithMarker(m.Text) {
			continue
		}
		f.terms[i] = topicsOf(m.Text, topicTerms)
		if sig := m.Shape.signal(); sig != noSignal && !m.done {
			if at := f.find(i, found); at >= 0 {
				found[at] = correction{by: i, signal: sig}
			}
		}
		if m.Kept != Human {
			f.add(i)
		}
	}
	return found
}

// correction is what supersedes a text.
type correction struct {
	by     int
	signal signal
}

// topicFinder looks among earlier texts by what they are about.
type topicFinder struct {
	least  float64 // weighted Dice coefficient
	all    []Text
	terms  [][]topic
	byTerm map[uint32][]int32 // the texts that hold a term, in order
}

func (f *topicFinder) add(i int) {
	for _, t := range f.terms[i] {
		f.byTerm[t.hash] = append(f.byTerm[t.hash], int32(i))
	}
}

// find gives the earlier text that has most in common with this one, the newest of equals; -1 where none has enough. Of
// each term only the newest texts are compared.
func (f *topicFinder) find(i int, taken map[int]correction) int {
	shared := map[int32]int{}
	for _, t := range f.terms[i] {
		list := f.byTerm[t.hash]
		for _, j := range list[max(0, len(list)-topicTries):] {
			shared[j] += int(t.weight)
		}
	}
	own := weight(f.terms[i])
	best, most := -1, 0.0
	for j, w := range shared {
		if _, ok := taken[int(j)]; ok || len(f.terms[j]) == 0 {
			continue
		}
		dice := 2 * float64(w) / float64(own+weight(f.terms[j]))
		if f.all[j].Role != f.all[i].Role {
			dice *= crossRole
		}
		if dice > most || dice == most && int(j) > best {
			best, most = int(j), dice
		}
	}
	if most < f.least {
		return -1
	}
	return best
}

func weight(terms []topic) int {
	n := 0
	for _, t := range terms {
		n += int(t.weight)
	}
	return n
}
