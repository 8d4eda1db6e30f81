package compactor

import (
	"fmt"
	"strings"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

const (
	maxSentence = 300 // chars shown of a sentence
	minSentence = 12  // chars; shorter ones say nothing alone
	maxScan     = 400 // messages looked at for sentences
	maxOfOne    = 10  // sentences taken of one message
	maxReport   = 400 // chars shown of a sub-agent's report that stands in a line
)

// said is a sentence that State repeats, and where it stands.
type said struct {
	text string
	row  int32
}

// pick collects the sentences that are as is says, of the rows given newest first, while they fit. They come back in
// the order of the transcript.
func (d *draft) pick(rows []int32, is func(string) bool, budget int) []said {
	var all []said
	seen := map[string]bool{}
	for _, i := range rows {
		var of []said
		for s := range sentences(d.text(i)) {
			if runes(s) < minSentence || seen[s] || !is(s) {
				continue
			}
			seen[s] = true
			of = append(of, said{text: s, row: i})
		}
		of = of[:min(len(of), maxOfOne)]
		for n := len(of) - 1; n >= 0; n-- {
			budget -= min(runes(of[n].text), maxSentence) + 12
			if budget < 0 {
				return backward(all)
			}
			all = append(all, of[n])
		}
	}
	return backward(all)
}

func backward(all []said) []said {
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}

// saidLines lists sentences.
func (d *draft) saidLines(all []said) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "- %s (#%d)\n", mark.Inline(s.text, maxSentence), d.row(s.row).record())
	}
	return b.String()
}

// correctionsPart lists what the human corrected and what must hold.
func (d *draft) correctionsPart(budget int) string {
	var rows []int32
	for n := d.c.humans.n - 1; n >= 0 && len(rows) < maxScan; n-- {
		if i := *d.c.humans.at(n); d.row(i).has(corrects | constrains) {
			rows = append(rows, i)
		}
	}
	return d.saidLines(d.pick(rows, func(s string) bool { return isCorrection(s) || isConstraint(s) }, budget))
}

// decisionsPart lists what the agent decided, found out and ruled out.
func (d *draft) decisionsPart(budget int) string {
	var rows []int32
	for i := d.c.rows.n - 1; i >= 0 && len(rows) < maxScan; i-- {
		if row := d.c.rows.at(i); row.kind == transcript.Text && row.has(decides) {
			rows = append(rows, int32(i))
		}
	}
	all := d.pick(rows, func(s string) bool { return !strings.HasSuffix(s, "?") && hasAny(s, decisionWords) }, budget)
	for _, s := range all {
		d.fact("decision", mark.Inline(s.text, maxSentence), s.row, false)
	}
	return d.saidLines(all)
}

// answerPart shows the agent's last answer, unless Recent does.
func (d *draft) answerPart(budget int) string {
	i := d.c.lastRow
	d.notes.answer = -1
	if i < 0 || int(d.row(i).rec) >= d.recent {
		return ""
	}
	d.notes.answer = i
	title := fmt.Sprintf("### Last answer (#%d)\n", d.row(i).record())
	text := d.text(i)
	q := mark.Quote("", text)
	if runes(title)+runes(q) <= min(budget, 4*longAsk) {
		return title + q
	}
	room := min(budget, 2*longAsk) - runes(title) - 60
	if room < shortAsk {
		return ""
	}
	return title + mark.Quote("", head(text, room*3/5)) + mark.New(d.id(i), fmt.Sprintf("cut, %d chars", d.row(i).chars)) + "\n" +
		mark.Quote("", tail(text, room/4))
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
	if newest && runes(text) < min(longAsk, room/2) {
		return b.String() + ":\n" + mark.Quote("  ", text)
	}
	if whole, fits := mark.Fits(text, maxReport); fits {
		return b.String() + ": " + whole + "\n"
	}
	m := mark.New(d.id(g.report), "result, "+bytesText(d.row(g.report).size()))
	if cut := lineHead(text, min(longAsk, room/4)); newest && runes(cut) > maxReport {
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
