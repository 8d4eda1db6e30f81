package prose

import "strings"

// scoreOf tells how much a sentence of so many chars says: names, figures, outcomes, decisions and what is emphasised
// raise it, a beginning that says nothing lowers it.
func scoreOf(s string, chars int) int32 {
	c := scorer{lexer: lex(s)}
	for first := true; c.next(); first = false {
		if c.word.head == c.word.tail {
			continue
		}
		if first {
			if f, _ := fillers.at(&c.lexer); f != 0 {
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
	lexer
	score  int
	told   sense // each sense counts once
	turned bool
	names  int // that have counted
	marked bool
	number bool // the word before is one
}

func (c *scorer) take() {
	w := &c.word
	number := c.number
	c.number = false
	if w.has&^(letterBytes|highByte|quoteByte|hyphenByte) == 0 {
		c.phrase(number)
		if w.has&upperByte == 0 && (w.tail-w.head > 6 || w.has != smallByte) {
			return
		}
	}
	if w.all&otherByte != 0 && !c.marked && w.to-w.from > 3 && c.text[w.from] == '*' && c.text[w.from+1] == '*' {
		c.marked = true
		c.score += scoreEmphasis
	}
	c.name()
}

// phrase counts what the phrases tell that begin at a word.
func (c *scorer) phrase(afterNumber bool) {
	s, sig := manner.at(&c.lexer)
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
	switch wordKindOf(c.core(), c.word.has) {
	case identWord:
		c.count(scoreName)
	case acronymWord:
		c.count(scoreShortName)
	case placeWord, pathWord, versionWord, digestWord, webWord:
		c.count(scorePlace)
	case numberWord:
		c.number = true
		if c.word.has&letterBytes != 0 || c.word.tail < c.word.to && c.text[c.word.tail] == '%' || c.text[c.word.tail-1] == '%' {
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
