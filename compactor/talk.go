package compactor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

const (
	maxSentence = 300 // chars shown of a sentence
	minSentence = 12  // chars; shorter ones say nothing alone
	maxScan     = 400 // messages looked at for sentences
	maxOfOne    = 24  // sentences taken of one message
	leastEnd    = 260 // chars of either end of an answer that are shown at the least
	maxReport   = 400 // chars shown of a sub-agent's report that stands in a line
)

// said is a sentence that State repeats, and where it stands.
type said struct {
	text string
	row  int32
	at   int // its place in the row
}

// pick collects the sentences that are as one of the ranks says, of the rows given newest first, while they fit: those
// of the first rank before those of the next. They come back in the order of the transcript. What State
// shows of an answer is left out.
func (d *draft) pick(rows []int32, ranks []func(string) bool, budget int) []said {
	var all []said
	seen := map[string]bool{}
	for n, is := range ranks {
		for _, i := range rows {
			if budget < minSentence || d.err != nil {
				break
			}
			if n > 0 && !d.leans(i) {
				continue
			}
			for _, s := range d.sayings(i, is, seen) {
				if cost := min(lexicon.Chars(s.text), maxSentence) + 12; cost <= budget {
					budget -= cost
					all = append(all, s)
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b said) int { return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.at, b.at)) })
	return all
}

// sayings are the sentences of a row that are as is says, the last first.
func (d *draft) sayings(i int32, is func(string) bool, seen map[string]bool) []said {
	var of []said
	shown := d.toldOf(i)
	at, heading, items := 0, "", 0
	add := func(s string) {
		if lexicon.Chars(s) < minSentence || seen[s] || isShoutedHeading(s) {
			return
		}
		seen[s] = true
		of = append(of, said{text: s, row: i, at: at})
	}
	for s := range lexicon.Sentences(d.text(i)) {
		if heading != "" { // it says nothing without what follows
			if items < headedItems && !strings.HasSuffix(s, ":") && lexicon.Chars(heading)+lexicon.Chars(s) < maxSentence-2 {
				heading += strings.Repeat(";", min(items, 1)) + " " + s
				items++
				continue
			}
			if items > 0 {
				add(heading)
			}
			heading = ""
		}
		at++
		switch {
		case !is(s), strings.Contains(shown, s):
		case strings.HasSuffix(s, ":"):
			heading, items = s, 0
		default:
			add(s)
		}
	}
	if items > 0 && heading != "" {
		add(heading)
	}
	of = of[:min(len(of), maxOfOne)]
	slices.Reverse(of)
	return of
}

// headedItems is how many items of a list are told with the line that heads it.
const headedItems = 4

// isShoutedHeading reports whether a sentence is a few bold words that say that something was found, not what.
func isShoutedHeading(s string) bool {
	return lexicon.Chars(s) < 40 && strings.HasPrefix(s, "**") && strings.HasSuffix(strings.TrimRight(s, ".!:"), "**")
}

// saidLines lists sentences.
func (d *draft) saidLines(all []said) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "- %s (#%d)\n", mark.Inline(s.text, maxSentence), d.row(s.row).record())
	}
	return b.String()
}

// correctionsPart lists what the human corrected and what must hold: in a wide companion sentence by sentence; in a
// narrow one only what Asked does not show.
func (d *draft) correctionsPart(budget int) string {
	var rows []int32
	for n := d.c.humans.n - 1; n >= d.c.humans.from && len(rows) < maxScan; n-- {
		if i := *d.c.humans.at(n); d.row(i).has(corrects | constrains) {
			rows = append(rows, i)
		}
	}
	first := int32(-1)
	if d.c.humans.n > 0 {
		first = *d.c.humans.at(0)
	}
	var all []said
	var there []string
	for n := len(rows) - 1; n >= 0; n-- {
		i := rows[n]
		shown := ""
		if d.narrow {
			shown = lexicon.Head(d.text(i), shortAsk) // Asked has its beginning
		}
		is := func(s string) bool {
			return (isConstraint(s) || i != first && isCorrection(s)) && !strings.Contains(shown, lexicon.Head(s, shortAsk/2))
		}
		if at, ok := d.notes.asked[i]; ok && d.narrow {
			there = append(there, strconv.Itoa(at))
			continue
		}
		of := d.pick([]int32{i}, []func(string) bool{is}, budget/2)
		if len(of) == 0 && d.row(i).has(corrects) {
			of = d.firstSentence(i)
		}
		if d.row(i).chars > longAsk {
			of = of[:min(len(of), maxOfPaste)]
		}
		all = append(all, of...)
	}
	for len(all) > 0 && lexicon.Chars(d.saidLines(all)) > budget-80 {
		all = all[1:]
	}
	text := d.saidLines(all)
	if len(there) > 0 {
		text = "- as asked under " + strings.Join(there, ", ") + "\n" + text
	}
	return text
}

// maxOfPaste bounds the sentences of one long paste, of which Asked shows both ends.
const maxOfPaste = 6

// firstSentence is how a message begins that was a correction by the reply that it got.
func (d *draft) firstSentence(i int32) []said {
	for s := range lexicon.Sentences(d.text(i)) {
		return []said{{text: s, row: i}}
	}
	return nil
}

// decisionsPart lists what the agent decided, found out and ruled out, then what it says must be.
func (d *draft) decisionsPart(budget int) string {
	var rows []int32
	for n := d.c.texts.n - 1; n >= d.c.texts.from && len(rows) < maxScan; n-- {
		t := d.c.texts.at(n)
		if row := d.row(t.row); row.kind == transcript.Text && (row.has(decides) || t.leans) {
			rows = append(rows, t.row)
		}
	}
	ranks := []func(string) bool{
		func(s string) bool {
			return !strings.HasSuffix(s, "?") && !isOffer(s) && !isNarration(s) && decisionWords.In(s)
		},
		func(s string) bool {
			return !strings.HasSuffix(s, "?") && strings.Count(s, " ") >= fewWords-1 && !isOffer(s) && !isNarration(s) && leaningWords.In(s)
		},
	}
	if d.narrow { // else Earlier shows what the agent was about to do
		ranks = append(ranks, func(s string) bool { return isNarration(s) && decisionWords.In(s) })
	}
	all := d.pick(rows, ranks, budget)
	for _, s := range all {
		d.fact("decision", mark.Inline(s.text, maxSentence), s.row, false)
	}
	return d.saidLines(all)
}

// fewWords are too few for a sentence that tells what must be.
const fewWords = 4

// isNarration reports whether a sentence tells what the agent is about to do.
func isNarration(s string) bool {
	s = lexicon.Lower(s[:min(len(s), 40)])
	for _, start := range []string{"let me ", "now let me", "now i", "first, i need", "first, let me", "i need to", "i'll ", "i will ", "next, i", "let's "} {
		if strings.HasPrefix(s, start) {
			return true
		}
	}
	return false
}

// isOffer reports whether a sentence only offers more work.
func isOffer(s string) bool {
	s = lexicon.Lower(s[:min(len(s), 40)])
	for _, start := range []string{"let me know", "feel free", "if you'd like me", "if you want me", "would you like", "happy to"} {
		if strings.HasPrefix(s, start) {
			return true
		}
	}
	return false
}

func (d *draft) leans(i int32) bool {
	t := d.c.textOf(i)
	return t != nil && t.leans
}

// answerPart shows the agent's last answer, unless Recent does.
func (d *draft) answerPart(budget int) string {
	i := d.c.lastRow
	d.notes.answer, d.notes.answerText = -1, ""
	if i < 0 {
		return ""
	}
	title := fmt.Sprintf("### Last answer (#%d)\n", d.row(i).record())
	text := d.text(i)
	most := d.answerMost()
	if q, ok := quotedWhole(text, min(budget-lexicon.Chars(title), most)); ok {
		d.notes.answer, d.notes.answerText = i, text
		return title + q
	}
	room := min(budget, most, 2*longAsk) - lexicon.Chars(title) - 60
	if room < shortAsk {
		return ""
	}
	d.notes.answer = i
	return title + mark.Quote("", longer(lexicon.BulkHead(text, room*3/5), lexicon.Head(text, min(room*3/5, leastEnd)))) + mark.New(d.id(i), fmt.Sprintf("cut, %d chars", d.row(i).chars)) + "\n" +
		mark.Quote("", longer(lexicon.BulkTail(text, room/4), lexicon.Tail(text, min(room/4, leastEnd))))
}

// answerMost is how much of the last answer stands in State: what was said last is worth more than lines that stay, so
// it is whole up to longAsk also where one thing may take less.
func (d *draft) answerMost() int { return max(d.most, longAsk) }

// longer is the one of two texts that has more of what both hold.
func longer(a, b string) string {
	if len(a) < len(b) {
		return b
	}
	return a
}

// agentsPart lists the sub-agents with their reports, newest whole where there is room.
func (d *draft) agentsPart(budget int) string {
	all := d.c.tables.agents.newestFirst()
	l := lines{room: budget - 60}
	var left []int32
	for n, g := range all {
		if len(left) > 0 || !l.add(d.agentLine(g, n < 3, l.room)) {
			if i := max(g.report, g.call); i >= 0 {
				left = append(left, i)
			}
		}
	}
	if len(left) > 0 {
		l.b.WriteString("- " + d.rest(left, "sub-agents") + "\n")
	}
	return l.b.String()
}

func (d *draft) agentLine(g *agentState, newest bool, room int) string {
	var b strings.Builder
	b.WriteString("-")
	if g.call >= 0 {
		fmt.Fprintf(&b, " #%d", d.row(g.call).record())
	}
	if g.task != "" {
		b.WriteString(" \"" + mark.Inline(g.task, 160) + "\"")
	}
	if g.id != "" {
		b.WriteString(" agent " + mark.Inline(g.id, 60))
	}
	if g.report < 0 {
		return b.String() + ": no report yet\n"
	}
	text := d.reported(g.report)
	if newest && lexicon.Bulk(text) < min(longAsk, d.most, room/2) {
		return b.String() + ":\n" + mark.Quote("  ", text)
	}
	if whole, fits := mark.Fits(text, maxReport); fits {
		return b.String() + ": " + whole + "\n"
	}
	m := mark.New(d.id(g.report), "result, "+bytesText(d.row(g.report).size()))
	if cut := lexicon.BulkHead(text, min(longAsk, d.most, room/4)); newest && lexicon.Chars(cut) > maxReport {
		return b.String() + ":\n" + mark.Quote("  ", cut) + "  " + m + "\n"
	}
	return b.String() + ": " + mark.Inline(text, maxReport) + " " + m + "\n"
}

// reported is what a sub-agent reported, without the notice in which it came.
func (d *draft) reported(i int32) string {
	text := d.outcome(i).Text
	if text == "" {
		text = d.text(i)
	}
	if d.row(i).kind != transcript.Meta {
		return text
	}
	if _, rest, ok := strings.Cut(text, "<result>"); ok {
		if j := strings.LastIndex(rest, "</result>"); j >= 0 {
			return strings.TrimSpace(rest[:j])
		}
	}
	return text
}
