package compactor

import "ccd/compactor/lexicon"

// maxTerms bounds the terms of a session; who was mentioned longest ago goes first.
const maxTerms = 4096

// termState is what is remembered of a term.
type termState struct {
	count int32 // mentions, one a message
	first int32 // row of the first mention
	last  int32 // row of the last one
}

// mention takes the terms of a message. Each is counted once a message; a mention is a reference to the message that
// brought the term up.
func (c *Compactor) mention(i int32, text string) {
	lexicon.Terms(text[:min(len(text), lexicon.Searched)], func(t lexicon.Term) bool {
		s := c.tables.terms.touch(hashOf(t.Text))
		switch {
		case s.count == 0:
			*s = termState{count: 1, first: i, last: i}
		case s.last != i:
			s.count++
			s.last = i
			c.refer(s.first)
		}
		return true
	})
}

// bucket is the largest power of two that is not above n, 0 for 0.
func bucket(n int) int {
	b := 0
	for p := 1; p <= n; p *= 2 {
		b = p
	}
	return b
}
