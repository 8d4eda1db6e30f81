package compactor

import (
	"ccd/compactor/lexicon"
	"ccd/internal/mark"
)

// One more record must leave most lines of a companion as they are. So no one thing may take more than a fixed part of
// the text, in chars and in lines, whatever else stands there: what it pushes out, and what goes with it when it goes
// itself, is then bounded too.
const (
	oneShare = 18  // the part of the text that one thing may take, as a divisor
	oneLeast = 500 // chars that it may always take
	leastCut = 140 // room below which the oldest thing that stands in part goes
)

// oneMost is how much one thing may take of a text of so many chars.
func oneMost(chars int) int { return max(oneLeast, chars/oneShare) }

// standMost is how much one thing may take of Earlier where it stands whole.
func (d *draft) standMost() int {
	if d.narrow {
		return d.most / 2
	}
	return d.most
}

// cost is what a form's text takes of the room of Earlier: the lines that it quotes count as bulk does.
func cost(text string, f form) int {
	return lexicon.Chars(text) - lexicon.Chars(f.quote) + lexicon.Bulk(f.quote)
}

// quotedWhole is a text as quoted lines, where it takes no more than the most.
func quotedWhole(text string, most int) (quoted string, ok bool) {
	if len(text) > 4*most || lexicon.Bulk(text) > most {
		return "", false
	}
	q := mark.Quote("", text)
	return q, lexicon.Chars(q) <= most+most/4
}
