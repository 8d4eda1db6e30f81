package compactor

import (
	"cmp"
	"slices"
	"strings"

	"ccd/compactor/lexicon"
)

// piece is what is shown of an answer or left out as one: a sentence, or a list or a table with the line that leads to it.
type piece struct {
	lexicon.Piece
	score int
}

// The scores of pieces: by where they stand and what they are made of; words add least, so that any language will do.
const (
	scoreFirst  = 8 // the first sentence
	scoreLast   = 5 // the last one
	scoreOpens  = 2 // the first of a paragraph
	scoreAsks   = 4 // a question
	scoreBold   = 2 // begins in bold
	scoreList   = 2
	scoreOnly   = 2 // a name, a number or a path that no other message has, each
	mostOnly    = 3 // of them that count
	scoreChoice = 2 // a word of decision
	scoreOffer  = -6
	scoreOpen   = -8 // a label, or a line that ends in a colon, and what follows is not with it
	leastPiece  = 12 // bytes; a shorter piece says little
)

// pieces gives the pieces of an answer in order, with their scores.
func (d *draft) pieces(i int32) []piece {
	all := scored(d.text(i))
	for n := range all {
		only := map[string]bool{}
		lexicon.Terms(all[n].Text, func(t lexicon.Term) bool {
			if at := d.c.tables.terms.get(hashOf(t.Text)); at != nil && at.count == 1 && at.first == i {
				only[t.Text] = true
			}
			return len(only) < mostOnly
		})
		all[n].score += scoreOnly * len(only)
	}
	return all
}

// scored gives the pieces of a text in order, with what they are worth by where they stand and what they are made of.
func scored(text string) []piece {
	cut := lexicon.Pieces(text)
	all := make([]piece, len(cut))
	for n := range cut {
		all[n].Piece = cut[n]
	}
	first, last := 0, len(all)-1
	for first < last && len(all[first].Text) < leastPiece {
		first++
	}
	for last > first && isOffer(all[last].Text) {
		last--
	}
	for n := range all {
		p := &all[n]
		switch {
		case n == first:
			p.score = scoreFirst
		case n == last:
			p.score = scoreLast
		case all[n-min(n, 1)].Part != p.Part:
			p.score = scoreOpens
		}
		p.score += scoreOf(p)
	}
	return all
}

// scoreOf is what a piece is worth by what it is made of.
func scoreOf(p *piece) int {
	score, s := 0, p.Text
	switch {
	case strings.Contains(s, "\n"):
		score += scoreList
	case lexicon.Leads(s) && p.Lead == "", lexicon.IsLabel(s):
		score += scoreOpen
	case strings.HasSuffix(s, "?"), strings.HasSuffix(s, "？"):
		score += scoreAsks
	}
	if strings.HasPrefix(s, "**") {
		score += scoreBold
	}
	if decisionWords.In(s) {
		score += scoreChoice
	}
	if isOffer(s) {
		score += scoreOffer
	}
	if len(s) < leastPiece {
		score -= scoreFirst
	}
	return score
}

// Excerpt is the best sentences of a text in at most so many chars, joined as in the marker of an answer.
func Excerpt(text string, most int) string {
	return bestPieces(scored(text), most)
}

// bestPieces joins the best pieces that fit into so many chars, in their order. A list that does not fit is told by its
// lead; a first piece that does not fit is cut.
func bestPieces(all []piece, most int) string {
	order := make([]int, len(all))
	for n := range all {
		order[n] = n
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[b].score, all[a].score) })
	const between = " ... "
	shown := make([]string, len(all))
	room := most
	for _, n := range order {
		for _, s := range []string{all[n].Text, all[n].Lead} {
			if cost := lexicon.Chars(s) + len(between); s != "" && cost <= room {
				shown[n] = s
				room -= cost
				break
			}
		}
	}
	shown = slices.DeleteFunc(shown, func(s string) bool { return s == "" })
	if len(shown) == 0 && len(all) > 0 {
		return lexicon.SentenceHead(all[order[0]].Text, most)
	}
	return strings.Join(shown, between)
}
