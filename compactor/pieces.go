package compactor

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"ccd/compactor/prose"
)

// piece is what is shown of an answer or left out as one: a sentence, or a list or a table with the line that leads to it.
type piece struct {
	text  string
	lead  string // of a list: the line before it, which may stand without it
	part  int    // paragraph
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
		terms(all[n].text, func(t term) bool {
			if at := d.c.tables.terms.get(hashOf(t.text)); at != nil && at.count == 1 && at.first == i {
				only[t.text] = true
			}
			return len(only) < mostOnly
		})
		all[n].score += scoreOnly * len(only)
	}
	return all
}

// scored gives the pieces of a text in order, with what they are worth by where they stand and what they are made of.
func scored(text string) []piece {
	all := cutPieces(text)
	first, last := 0, len(all)-1
	for first < last && len(all[first].text) < leastPiece {
		first++
	}
	for last > first && isOffer(all[last].text) {
		last--
	}
	for n := range all {
		p := &all[n]
		switch {
		case n == first:
			p.score = scoreFirst
		case n == last:
			p.score = scoreLast
		case all[n-min(n, 1)].part != p.part:
			p.score = scoreOpens
		}
		p.score += scoreOf(p)
	}
	return all
}

// scoreOf is what a piece is worth by what it is made of.
func scoreOf(p *piece) int {
	score, s := 0, p.text
	switch {
	case strings.Contains(s, "\n"):
		score += scoreList
	case leads(s) && p.lead == "", isLabel(s):
		score += scoreOpen
	case strings.HasSuffix(s, "?"), strings.HasSuffix(s, "？"):
		score += scoreAsks
	}
	if strings.HasPrefix(s, "**") {
		score += scoreBold
	}
	if hasAny(s, decisionWords) {
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
		for _, s := range []string{all[n].text, all[n].lead} {
			if cost := prose.Chars(s) + len(between); s != "" && cost <= room {
				shown[n] = s
				room -= cost
				break
			}
		}
	}
	shown = slices.DeleteFunc(shown, func(s string) bool { return s == "" })
	if len(shown) == 0 && len(all) > 0 {
		return sentenceHead(all[order[0]].text, most)
	}
	return strings.Join(shown, between)
}

// cutPieces cuts an answer into its pieces. Code in fences is in none. Linear in the text.
func cutPieces(text string) []piece {
	c := cutter{src: text}
	at := 0
	for line := range strings.Lines(text) {
		c.line(line, at)
		at += len(line)
	}
	c.flush()
	return c.all
}

// cutter collects pieces.
type cutter struct {
	src     string
	all     []piece
	fence   bool
	part    int
	from    int // of the list that goes on, with to; equal where none does
	to      int
	table   bool   // it is a table
	titled  bool   // a label stands right above it
	heading string // that no piece has yet
	spaced  bool   // a blank line came since
}

func (c *cutter) line(line string, at int) {
	t := strings.TrimSpace(line)
	if strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") {
		c.fence = !c.fence
		return
	}
	end := at + len(strings.TrimRight(line, " \t\r\n"))
	inside := c.from < c.to
	switch {
	case c.fence:
	case t == "":
		c.spaced = true
		c.part++
	case isItem(t):
		if !inside {
			c.from, c.table = at, t[0] == '|'
			c.titled = !c.spaced && c.heading == "" && len(c.all) > 0 && isLabel(c.all[len(c.all)-1].text)
		}
		c.to, c.spaced = end, false
	case inside && !c.spaced && line[0] <= ' ':
		c.to = end
	default:
		c.flush()
		c.sentences(t)
	}
}

// flush ends a list: with the line that leads to it, it is one piece. Of a table only that line can stand in one of ours.
func (c *cutter) flush() {
	if c.from == c.to {
		return
	}
	list, n := c.src[c.from:c.to], len(c.all)-1
	c.from, c.to = 0, 0
	lead := n >= 0 && c.heading == "" && leads(c.all[n].text)
	switch {
	case lead && !c.table && len(c.all[n].text) < leastLead:
		c.all[n].text += "\n" + list
	case lead && c.table:
		c.all[n].lead = c.all[n].text
	case lead:
		c.all[n].lead = c.all[n].text
		c.all[n].text += "\n" + list
	case c.titled && !c.table:
		c.all[n].text += "\n" + list
	case !c.table:
		c.add(list)
	}
}

// leastLead is how long a line that leads to a list must be to stand without it, in bytes.
const leastLead = 24

// leads reports whether a line ends in a colon: it says little without what follows.
func leads(s string) bool {
	s = strings.TrimRight(s, "*_ ")
	return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：")
}

// isLabel reports whether a line is a few words without an end: it says little without what follows.
func isLabel(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, "*_` "))
	return len(s) < mostLabel && !strings.Contains(s, "\n") && !strings.ContainsRune(".!?:;…。！？：；؟।", r)
}

// mostLabel is how long a line without an end may be that is read as a label, in bytes.
const mostLabel = 60

func (c *cutter) sentences(t string) {
	c.spaced = false
	if t[0] == '#' || strings.Trim(t, "-=*_") == "" {
		c.part++
		c.heading = strings.TrimLeft(t, "#-=*_ ")
		return
	}
	for t != "" {
		n := prose.SentenceEnd(t)
		if s := strings.TrimSpace(t[:n]); s != "" {
			c.add(s)
		}
		t = strings.TrimSpace(t[n:])
	}
}

// add takes a piece, with the heading right above it.
func (c *cutter) add(s string) {
	if c.heading != "" {
		s, c.heading = strings.TrimRight(c.heading, ":")+": "+s, ""
	}
	c.all = append(c.all, piece{text: s, part: c.part})
}

// isItem reports whether a trimmed line is an item of a list or a row of a table.
func isItem(t string) bool {
	for _, bullet := range []string{"- ", "* ", "+ ", "• ", "|"} {
		if strings.HasPrefix(t, bullet) {
			return true
		}
	}
	n := 0
	for n < len(t) && n < 3 && t[n] >= '0' && t[n] <= '9' {
		n++
	}
	return n > 0 && n+1 < len(t) && (t[n] == '.' || t[n] == ')') && t[n+1] == ' '
}
