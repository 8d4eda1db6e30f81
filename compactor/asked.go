package compactor

import (
	"fmt"
	"strings"
	"time"

	"ccd/compactor/lexicon"
	"ccd/compactor/prose"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

const (
	longAsk  = 2000 // chars from which on a human message stands as head, tail and ID
	askHead  = 1200
	askTail  = 500
	shortAsk = 200 // chars of a message for which there is no room
	askCost  = 40  // chars of the line above a message, about
)

// how much of a human message is shown.
type measure uint8

const (
	unshown measure = iota // in a range only
	brief                  // its first 200 chars
	entire                 // whole, or head, tail and ID where it is long
)

// askedPart shows the human messages in order. Where not all fit, the first and the newest stay whole, the others
// shrink to 200 chars, and then to counted ranges.
func (d *draft) askedPart(budget int) string {
	n := d.c.humans.n
	d.notes.asked = map[int32]int{}
	if n == 0 {
		return d.givenPart(budget)
	}
	for room := budget; ; room = room * 3 / 4 {
		text := d.asked(d.measures(room))
		if lexicon.Chars(text) <= budget || room < 400 || d.err != nil {
			return text
		}
	}
}

// measures chooses how each message is shown, from the chars that the rows tell.
func (d *draft) measures(room int) []measure {
	n := d.c.humans.n
	m := make([]measure, n)
	room -= 80
	take := func(i int, to measure) bool {
		cost := d.askChars(i, to) - d.askChars(i, m[i])
		if m[i] >= to || cost > room {
			return m[i] >= to
		}
		room -= cost
		m[i] = to
		return true
	}
	if !take(n-1, entire) {
		take(n-1, brief)
	}
	if !take(0, entire) {
		take(0, brief)
	}
	for i := n - 2; i > 0 && take(i, brief); i-- {
	}
	for i := n - 2; i > 0; i-- {
		if m[i] == brief {
			take(i, entire)
		}
	}
	return m
}

// askChars is about what a message costs.
func (d *draft) askChars(i int, m measure) int {
	chars := int(d.row(*d.c.humans.at(i)).chars)
	switch m {
	case unshown:
		return 0
	case brief:
		return askCost + min(chars, shortAsk) + 45
	}
	if chars <= shortReply {
		chars += maxQuestion
	}
	if chars > longAsk && d.narrow {
		return askCost + askHead/3 + askTail/2 + 60
	}
	return askCost + min(chars, longAsk) + min(chars, longAsk)/40
}

func (d *draft) asked(m []measure) string {
	shown := 0
	for _, x := range m {
		if x != unshown {
			shown++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### Asked (%d of %d, in order)\n", shown, len(m))
	var before time.Time
	clear(d.notes.asked)
	for i := 0; i < len(m); i++ {
		if m[i] == unshown {
			from := i
			for i+1 < len(m) && m[i+1] == unshown {
				i++
			}
			b.WriteString(d.askedRange(from, i+1))
			continue
		}
		row := *d.c.humans.at(i)
		t := d.c.records.at(int(d.row(row).rec)).time()
		fmt.Fprintf(&b, "%d. #%d%s", i+1, d.row(row).record(), moment(t, before))
		before = t
		b.WriteString(d.question(row) + d.added(row))
		b.WriteString(d.askedText(i, row, m[i]))
	}
	return b.String()
}

const (
	shortReply  = 60  // chars up to which a message is read as a reply to a question of the agent
	shortest    = 12  // chars up to which it is a reply to whatever the agent said last
	maxQuestion = 300 // chars shown of that
	maxBack     = 40  // items looked back for it
)

// question is what a short message answers: without it, "yes please" says nothing.
func (d *draft) question(row int32) string {
	if d.row(row).chars > shortReply {
		return ""
	}
	for i := row - 1; i >= 0 && i > row-maxBack; i-- {
		r := d.row(i)
		if r.has(side) {
			continue
		}
		if r.kind == transcript.Human {
			return ""
		}
		if r.kind != transcript.Text {
			continue
		}
		last := ""
		for s := range lexicon.Sentences(d.text(i)) {
			switch asks := strings.HasSuffix(s, "?") || isOffer(s); {
			case asks && last != "" && lexicon.Chars(last)+lexicon.Chars(s) < maxQuestion:
				last += " " + s
			case asks:
				last = s
			}
		}
		if last == "" {
			return ""
		}
		return fmt.Sprintf(" to #%d: \"%s\"", r.record(), mark.Inline(last, maxQuestion))
	}
	return ""
}

// askedRange counts messages that are not shown: the newest of them under the ID of their list, what is more than one
// list holds under the ranges that cover all records.
func (d *draft) askedRange(from, to int) string {
	var b strings.Builder
	record := func(i int) int { return d.row(*d.c.humans.at(i)).record() }
	if rest := to - maxList; rest > from {
		fmt.Fprintf(&b, "%d-%d.%s %d messages, under the ranges of Earlier\n", from+1, rest, d.recordsOf(from, rest-1), rest-from)
		from = rest
	}
	rows := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		rows = append(rows, *d.c.humans.at(i))
	}
	fmt.Fprintf(&b, "%d-%d. #%d-#%d %s\n", from+1, to, record(from), record(to-1),
		mark.New(d.list(rows, "messages"), fmt.Sprintf("range of %d messages", len(rows))))
	return b.String()
}

// recordsOf names the records of two human messages; "" where they are past.
func (d *draft) recordsOf(a, b int) string {
	first, last := d.row(*d.c.humans.at(a)), d.row(*d.c.humans.at(b))
	if first.gone() || last.gone() {
		return ""
	}
	return fmt.Sprintf(" #%d-#%d:", first.record(), last.record())
}

// askedText is a message behind its number.
func (d *draft) askedText(i int, row int32, m measure) string {
	if newer, ok := d.askedAgain(i, row); ok {
		return fmt.Sprintf(" %s\n", mark.New(d.id(row), fmt.Sprintf("dup of #%d, %d chars", newer, d.row(row).chars)))
	}
	text := d.text(row)
	n := lexicon.Chars(text)
	whole := d.body(row).whole
	switch {
	case m == brief && (n > shortAsk+60 || !whole):
		return fmt.Sprintf("\n%s   %s\n", mark.Quote("   ", lexicon.Head(text, shortAsk)), mark.New(d.id(row), fmt.Sprintf("cut, %d chars", n)))
	case n <= longAsk && whole:
		d.notes.asked[row] = i + 1
		return "\n" + mark.Quote("   ", text)
	}
	d.notes.asked[row] = i + 1
	first, last := askHead, askTail
	if d.narrow {
		first, last = askHead/3, askTail/2
	}
	return fmt.Sprintf("\n%s   %s\n%s", mark.Quote("   ", lexicon.Head(text, first)),
		mark.New(d.id(row), fmt.Sprintf("cut, %d chars", max(n, int(d.row(row).chars)))), mark.Quote("   ", lexicon.Tail(text, last)))
}

// askedAgain finds a newer copy of a message, which then stands for both.
func (d *draft) askedAgain(i int, row int32) (record int, ok bool) {
	r := d.row(row)
	if r.chars < prose.DupChars || !d.c.o.Dedup {
		return 0, false
	}
	for j := i + 1; j < d.c.humans.n && j < i+maxList; j++ {
		if o := d.row(*d.c.humans.at(j)); o.key == r.key {
			return o.record(), true
		}
	}
	return 0, false
}

// givenPart is the task of a session that no person spoke in: a sub-agent's.
func (d *draft) givenPart(budget int) string {
	i := d.c.given
	if i < 0 {
		return ""
	}
	text := d.text(i)
	title := fmt.Sprintf("### Task given by the parent session (#%d)\n", d.row(i).record())
	if n := min(longAsk, budget-len(title)-80); lexicon.Chars(text) > n {
		if n < shortAsk {
			return ""
		}
		return title + mark.Quote("   ", lexicon.Head(text, n*9/10)) + "   " + mark.New(d.id(i), fmt.Sprintf("cut, %d chars", lexicon.Chars(text))) + "\n"
	}
	return title + mark.Quote("   ", text)
}
