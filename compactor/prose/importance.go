package prose

import "ccd/compactor/lexicon"

// Matter is what tells the importance of a message.
type Matter struct {
	Newness    float64 // its place among all, 0..1
	Focused    bool    // holds a word in focus
	References int     // later references to the names that it brings up
	Most       int     // of any message
	Decides    bool    // words of decision
	Corrects   bool    // of correction
	Constrains bool    // of constraint
}

// Importance of a message, 0 and above.
func Importance(m Matter) float64 {
	sum := recencyShare * m.Newness
	if m.Focused {
		sum += focusShare
	}
	if m.Most > 0 {
		sum += referenceShare * float64(m.References) / float64(m.Most)
	}
	words := 0.0
	if m.Decides {
		words += decisionShare
	}
	if m.Corrects {
		words += correctionShare
	}
	if m.Constrains {
		words += constraintShare
	}
	return sum + min(words, wordShare)
}

// weigh sets the importance of the texts of a list, whose shapes are known: each name that a text holds counts how many later texts hold it.
// Linear: counted from the end.
func weigh(all []Text) {
	refs := make([]int, len(all))
	later := map[uint32]mention{}
	most := 0
	for i := len(all) - 1; i >= 0; i-- {
		n := 0
		lexicon.Terms(all[i].Text, func(term string) bool {
			h := lexicon.TermHash(term)
			if m := later[h]; m.times == 0 || m.in != i {
				refs[i] += m.times
				later[h] = mention{m.times + 1, i}
			}
			n++
			return n < termsOfOne
		})
		most = max(most, refs[i])
	}
	for i := range all {
		s := all[i].Shape
		all[i].Importance = Importance(Matter{
			Newness: float64(i) / float64(max(1, len(all)-1)), References: refs[i], Most: most,
			Decides: s.Decides(), Corrects: s.Corrects(), Constrains: s.Constrains(),
		})
	}
}

// mention is how many texts name something, and the oldest of them so far.
type mention struct{ times, in int }
