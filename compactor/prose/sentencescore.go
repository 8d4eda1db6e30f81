package prose

import (
	"strings"

	"ccd/compactor/lexicon"
)

// scoreOf tells how much a sentence of so many chars says: names, figures, outcomes, decisions and what is emphasized
// raise it, a beginning that says nothing lowers it.
func scoreOf(s string, chars int) int32 {
	c := scorer{Lexer: lexicon.Lex(s)}
	for first := true; c.Next(); first = false {
		if c.Word.Head == c.Word.Tail {
			continue
		}
		if first {
			if f, _ := fillers.at(&c.Lexer); f != 0 {
				c.score += scoreFiller
			}
		}
		c.take()
	}
	if chars >= goodShortest && chars <= goodLongest {
		c.score += scoreLength
	}
	if s != "" && s[len(s)-1] == ':' || strings.HasSuffix(s, ":**") {
		c.score = min(c.score, 0) + scoreLeadIn
	}
	return int32(c.score)
}

// scorer adds up what the words of a sentence tell.
type scorer struct {
	lexicon.Lexer
	score  int
	told   sense // each sense counts once
	turned bool
	names  int // that have counted
	marked bool
	number bool // the word before is one
}

func (c *scorer) take() {
	w := &c.Word
	number := c.number
	c.number = false
	if w.Has&^(lexicon.Letters|lexicon.High|lexicon.Quote|lexicon.Hyphen) == 0 {
		c.phrase(number)
		if w.Has&lexicon.Upper == 0 && (w.Tail-w.Head > 6 || w.Has != lexicon.Small) {
			return
		}
	}
	if w.All&lexicon.Other != 0 && !c.marked && w.To-w.From > 3 && c.Text[w.From] == '*' && c.Text[w.From+1] == '*' {
		c.marked = true
		c.score += scoreEmphasis
	}
	c.name()
}

// phrase counts what the phrases tell that begin at a word.
func (c *scorer) phrase(afterNumber bool) {
	s, sig := manner.at(&c.Lexer)
	if s|sense(sig) == 0 {
		return
	}
	if afterNumber && s&unitWord != 0 {
		c.count(scoreUnit)
	}
	if s&(choice|constraint) != 0 || sig != noSignal {
		if !c.turned {
			c.score += scoreTurn
		}
		c.turned = true
	}
	if s&emphasis&^c.told != 0 && !c.marked {
		c.score += scoreEmphasis
	}
	if s&(outcomeWord|failure) != 0 && c.told&(outcomeWord|failure) == 0 {
		c.score += scoreStatus
	}
	c.told |= s
}

// name counts what a word names.
func (c *scorer) name() {
	switch lexicon.KindOf(c.Core(), c.Word.Has) {
	case lexicon.IdentWord:
		c.count(scoreName)
	case lexicon.AcronymWord:
		c.count(scoreShortName)
	case lexicon.PlaceWord, lexicon.PathWord, lexicon.VersionWord, lexicon.DigestWord, lexicon.WebWord:
		c.count(scorePlace)
	case lexicon.NumberWord:
		c.number = true
		if c.Word.Has&lexicon.Letters != 0 || c.Word.Tail < c.Word.To && c.Text[c.Word.Tail] == '%' || c.Text[c.Word.Tail-1] == '%' {
			c.count(scoreUnit)
		}
	}
}

func (c *scorer) count(points int) {
	if c.names < mostNames {
		c.names++
		c.score += points
	}
}
