package fold

import "ccd/compactor/lexicon"

// maxTerms is how many terms of a session are kept. The one mentioned longest ago is dropped first.
const maxTerms = 4096

// termState is what is remembered of a term.
type termState struct {
	count int32 // mentions, at most one per message
	first int32 // row of the first mention
	last  int32 // row of the last one
}

// countTerms counts the terms of a message, each once. A mention is a reference to the message that first used the term.
func (f *Fold) countTerms(i int32, text string) {
	lexicon.Terms(text[:min(len(text), lexicon.Searched)], func(term string) bool {
		s := f.tables.terms.touch(hashOf(term))
		switch {
		case s.count == 0:
			*s = termState{count: 1, first: i, last: i}
		case s.last != i:
			s.count++
			s.last = i
			f.countReference(s.first)
		}
		return true
	})
}

// Term returns in how many messages a term was mentioned, and the row of the first one; 0 and -1 if the term is unknown or
// was dropped.
func (f *Fold) Term(text string) (count, first int32) {
	if s := f.tables.terms.get(hashOf(text)); s != nil {
		return s.count, s.first
	}
	return 0, -1
}
