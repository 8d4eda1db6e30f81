package lexicon

import "strings"

// Piece is a part of an answer that is shown or omitted as a whole: a sentence, or a list or table with its introducing line.
type Piece struct {
	Text string
	Lead string // of a list: the line before it, which may be shown without it
	Part int    // paragraph
}

// Pieces splits an answer into its pieces, without fenced code. Linear in the text.
func Pieces(text string) []Piece {
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
	all     []Piece
	fences  Fences
	part    int
	from    int // the open list is [from, to); equal if there is none
	to      int
	table   bool   // it is a table
	titled  bool   // a label is right above it
	heading string // a heading that no piece has yet
	spaced  bool   // a blank line followed
}

func (c *cutter) line(line string, at int) {
	if fence, code := c.fences.Line(line); fence || code {
		return
	}
	t := strings.TrimSpace(line)
	end := at + len(strings.TrimRight(line, " \t\r\n"))
	inside := c.from < c.to
	switch {
	case t == "":
		c.spaced = true
		c.part++
	case isItem(t):
		if !inside {
			c.from, c.table = at, t[0] == '|'
			c.titled = !c.spaced && c.heading == "" && len(c.all) > 0 && IsLabel(c.all[len(c.all)-1].Text)
		}
		c.to, c.spaced = end, false
	case inside && !c.spaced && line[0] <= ' ':
		c.to = end
	default:
		c.flush()
		c.sentences(t)
	}
}

// flush ends a list, which is one piece with its introducing line. Of a table only that line is kept.
func (c *cutter) flush() {
	if c.from == c.to {
		return
	}
	list, n := c.src[c.from:c.to], len(c.all)-1
	c.from, c.to = 0, 0
	lead := n >= 0 && c.heading == "" && Leads(c.all[n].Text)
	switch {
	case lead && !c.table && len(c.all[n].Text) < leastLead:
		c.all[n].Text += "\n" + list
	case lead && c.table:
		c.all[n].Lead = c.all[n].Text
	case lead:
		c.all[n].Lead = c.all[n].Text
		c.all[n].Text += "\n" + list
	case c.titled && !c.table:
		c.all[n].Text += "\n" + list
	case !c.table:
		c.add(list)
	}
}

// leastLead is how long the line before a list must be to be shown without the list, in bytes.
const leastLead = 24

// Leads reports whether a line ends in a colon, so that it means little without what follows.
func Leads(s string) bool {
	s = strings.TrimRight(s, "*_ ")
	return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：")
}

// IsLabel reports whether a line is a few words without a mark at their end, which mean little without what follows.
func IsLabel(s string) bool {
	t := strings.TrimRight(s, "*_` ")
	return len(s) < mostLabel && !strings.Contains(s, "\n") && !EndsSentence(t) && !strings.HasSuffix(t, ";") && !strings.HasSuffix(t, "；")
}

// mostLabel is the maximum length of a label, in bytes.
const mostLabel = 60

func (c *cutter) sentences(t string) {
	c.spaced = false
	if t[0] == '#' || IsRule(t) {
		c.part++
		c.heading = strings.TrimLeft(t, "#-=*_ ")
		return
	}
	for t != "" {
		n := SentenceEnd(t)
		if s := strings.TrimSpace(t[:n]); s != "" {
			c.add(s)
		}
		t = strings.TrimSpace(t[n:])
	}
}

// add adds a piece, with the heading right above it.
func (c *cutter) add(s string) {
	if c.heading != "" {
		s, c.heading = strings.TrimRight(c.heading, ":")+": "+s, ""
	}
	c.all = append(c.all, Piece{Text: s, Part: c.part})
}

// isItem reports whether a trimmed line is an item of a list or a row of a table.
func isItem(t string) bool {
	return BulletLen(t) > 0 || strings.HasPrefix(t, "|")
}
