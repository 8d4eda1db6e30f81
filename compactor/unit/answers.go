package unit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ccd/compactor/lexicon"
	"ccd/compactor/plan"
	"ccd/compactor/prose"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// steps lists how much of an answer or report each level shows, as lexicon.Width counts. The last level shows all of it.
var steps = []int{120, 240, 480, 1280, 2560, 5120}

// wholeShare is the share of a text that one answer may take at its last level, as a divisor.
const wholeShare = 2

// answer adds the agent's last message in a turn.
func (w *writer) answer(t *turn) {
	i := t.answer
	if i < 0 || w.holds(int(w.row(i).Rec)) || !w.o.On("answers") {
		return
	}
	newer := w.newer(t)
	first := worthAnswer
	u := &plan.Unit{Section: Conversation, Turn: t.n, Order: orderRow(i), Kind: "answers", Must: true}
	more := worthMore
	note := "answer"
	if t.early {
		note += ", calls follow"
	}
	head := fmt.Sprintf("#%d", w.row(i).Record())
	if i == w.f.LastText() && w.o.On("answer") {
		u.Section, u.Turn, u.Order, newer, first, more = Now, 0, orderAnswered, 0, worthLast, 2.5*worthMore
		before := ""
		if last := &w.turns[len(w.turns)-1]; last.ask > i {
			before = ", before that"
		}
		if t.early {
			note, before = "answer", before+", calls follow"
		}
		head = fmt.Sprintf("Answered last (#%d%s%s)", w.row(i).Record(), moment(w.time(i), time.Time{}), before)
	}
	u.Worth = w.textWorth(nil, i, first+4*fresh(newer), more*fresh(newer))
	u.Form = w.textForm(u.Section, i, head, note, func() string { return w.text(i) })
	w.add(u)
}

// textLevels returns how many levels the text of an item has: its best pieces in more and more chars, then all of it.
func (w *writer) textLevels(i int32) int {
	size := int(float64(w.row(i).Chars) * (1 + 2*w.f.WideShare()))
	n := 1
	for n <= len(steps) && size > steps[n-1] {
		n++
	}
	return n
}

// textWorth returns the worth per char of these levels: first for the first one, more for the next; each further level is
// worth less. It reuses the memory of to.
func (w *writer) textWorth(to []float64, i int32, first, more float64) []float64 {
	n := w.textLevels(i)
	worth := append(slices.Grow(to[:0], n), first)
	for range n - 1 {
		worth = append(worth, more)
		more = more * 7 / 10
	}
	return worth
}

// textForm makes the forms of these levels for a unit in section. Outside of Now it leaves out what the agent's own summary
// contains.
func (w *writer) textForm(section int, i int32, head, note string, get func() string) func(level int) plan.Form {
	var skip func(string) bool
	if w.own.text != "" && section != Now {
		skip = w.knows
	}
	var pieces [][]string // per level
	last := w.textLevels(i) - 1
	return func(level int) plan.Form {
		text := get()
		most := w.Room / wholeShare
		if level < last {
			most = steps[level]
		}
		n := lexicon.Width(text)
		held := 0
		if skip != nil {
			if held = w.known(text); held == 100 {
				return plan.Form{}
			}
		}
		if n < shortAsk || held < 50 && w.body(i).whole && n <= most+shortAsk {
			q := mark.Quote("", text)
			if line, fits := mark.Fits(text, shortAsk); fits && n < shortAsk && !strings.Contains(text, "\n") {
				return plan.Form{Text: head + said(note, section == Now) + ": " + line + "\n", Shows: line, Rows: []int32{i}}
			}
			m := " " + note
			if n >= shortAsk {
				m = " " + mark.New(w.id(i), note)
			}
			return plan.Form{Text: head + m + ":\n" + q, Shows: strings.TrimSuffix(q, "\n"), Rows: []int32{i}}
		}
		if short, ok := w.modelled(i, text, most); ok {
			m := mark.New(w.id(i), "summary: "+mark.Inline(short, mark.MaxLine-150))
			return plan.Form{Text: head + " " + m + "\n", Shows: m, Strategy: "talk", Saved: lexicon.Chars(text) - lexicon.Chars(m)}
		}
		if pieces == nil {
			pieces = w.chosen(i, text, skip)
		}
		said := pieces[min(level, len(pieces)-1)]
		if len(said) == 0 {
			return plan.Form{}
		}
		size := int64(len(text))
		if !w.body(i).whole {
			size = w.row(i).Size()
		}
		first := fmt.Sprintf("%s, %s", note, bytesText(size))
		f := plan.Form{Text: w.excerpt(i, head, first, note, said), Strategy: "talk"}
		if f.Text == "" {
			return plan.Form{}
		}
		f.Shows, f.Saved = strings.TrimSuffix(f.Text, "\n"), lexicon.Chars(text)-lexicon.Chars(f.Text)
		return f
	}
}

// said returns the word before a text that is complete in its line. For longer texts, the note of the marker is that word.
func said(note string, now bool) string {
	switch {
	case now: // the head says it
		return ""
	case note == "summary":
		return " said"
	}
	return " " + note
}

// between separates two chosen pieces of a text.
const between = " ... "

// excerpt returns chosen pieces of a text after its ID, in as many lines as they need.
func (w *writer) excerpt(i int32, head, first, note string, said []string) string {
	var b strings.Builder
	line := ""
	flush := func() {
		if line != "" {
			b.WriteString(head + " " + mark.New(w.id(i), first+": "+line) + "\n")
			head, first, line = "  ", note+" goes on", ""
		}
	}
	for _, p := range said {
		if p = mark.Inline(p, maxPiece); p == "" {
			continue
		}
		if line != "" && lexicon.Chars(line)+lexicon.Chars(p) > maxPiece {
			flush()
		}
		if line != "" {
			line += between
		}
		line += p
	}
	flush()
	return b.String()
}

// maxPiece is the maximum chars of the pieces in one line, and of one piece.
const maxPiece = mark.MaxLine - 500

// chosen returns the best pieces of a text for each level, in text order. Each level includes those of the level before.
func (w *writer) chosen(i int32, text string, skip func(string) bool) [][]string {
	all := w.scored(i, text)
	seen := map[string]bool{}
	all = slices.DeleteFunc(all, func(p scored) bool {
		again := seen[p.Text]
		seen[p.Text] = true
		return again
	})
	if skip != nil {
		all = slices.DeleteFunc(all, func(p scored) bool { return skip(p.Text) })
	}
	order := make([]int, len(all))
	for n := range all {
		order[n] = n
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[b].score, all[a].score) })
	shown, width := make([]string, len(all)), make([]int, len(all))
	used := 0
	levels := make([][]string, 0, len(steps))
	for _, most := range steps {
		for _, n := range order {
			for k, s := range [2]string{all[n].Text, all[n].Lead} {
				wide := [2]int{all[n].width, all[n].lead}[k] + len(between)
				if cost := wide - width[n]; s != "" && s != shown[n] && cost > 0 && used+cost <= most {
					shown[n], width[n], used = s, wide, used+cost
					break
				}
			}
		}
		said := slices.DeleteFunc(slices.Clone(shown), func(s string) bool { return s == "" })
		if len(said) == 0 && len(all) > 0 { // the beginning of a piece, which every larger level continues
			head := lexicon.SentenceHead(all[order[0]].Text, most)
			used = lexicon.Width(head) + len(between)
			shown[order[0]], width[order[0]], said = head, used, []string{head}
		}
		levels = append(levels, said)
	}
	return levels
}

// scored is a piece of a text with its score.
type scored struct {
	lexicon.Piece
	width int      // of Text
	lead  int      // width of Lead
	score int      // in chosen, with what other messages have
	terms []string // that only this message may have
}

// The scores of pieces, by position and form. Words of a language add least, so that scoring works for any language.
const (
	scoreFirst  = 8 // the first sentence
	scoreLast   = 5 // the last one
	scoreOpens  = 2 // the first of a paragraph
	scoreAsks   = 4 // a question
	scoreBold   = 2 // begins in bold
	scoreList   = 2
	scoreOnly   = 2 // a name, a number or a path that no other message has, each
	mostOnly    = 3 // how many of them count
	scoreChoice = 2 // a word of decision
	scoreOffer  = -6
	scoreOpen   = -8 // a label, or a line that ends in a colon, without what follows
	leastPiece  = 12 // bytes; a shorter piece says little
)

// scored returns the pieces of a text in order, with their scores.
func (w *writer) scored(i int32, text string) []scored {
	type key struct{ text string }
	all := slices.Clone(derive(w.Source, i, key{text}, func([]byte) []scored { return w.byForm(text) }))
	for n := range all {
		all[n].score += w.onlyHere(i, all[n].terms)
	}
	return all
}

// byForm returns the pieces of a text in order, with the scores that the text alone determines.
func (w *writer) byForm(text string) []scored {
	var all []scored
	for _, p := range lexicon.Pieces(text) {
		all = append(all, scored{Piece: p, width: lexicon.Width(p.Text), lead: lexicon.Width(p.Lead), terms: slices.Collect(func(yield func(string) bool) { lexicon.Terms(p.Text, yield) })})
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
		p.score += scoreOf(&p.Piece)
		if w.o.On("decisions") && prose.Tells(p.Text).Decides {
			p.score += scoreChoice
		}
	}
	return all
}

// onlyHere returns the score of a piece for its names and numbers that no other message has.
func (w *writer) onlyHere(i int32, terms []string) int {
	var only []string
	for _, term := range terms {
		if count, first := w.f.Term(term); count == 1 && first == i && len(only) < mostOnly && !slices.Contains(only, term) {
			only = append(only, term)
		}
	}
	return scoreOnly * len(only)
}

// scoreOf returns the score of a piece by its form.
func scoreOf(p *lexicon.Piece) int {
	score, s := 0, p.Text
	switch {
	case strings.Contains(s, "\n"):
		score += scoreList
	case lexicon.Leads(s) && p.Lead == "", lexicon.IsLabel(s):
		score += scoreOpen
	case isQuestion(s):
		score += scoreAsks
	}
	if strings.HasPrefix(s, "**") {
		score += scoreBold
	}
	if isOffer(s) {
		score += scoreOffer
	}
	if len(s) < leastPiece {
		score -= scoreFirst
	}
	return score
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

// agents adds the sub-agents, each where it was started, with its report.
func (w *writer) agents() {
	if !w.o.On("agents") {
		return
	}
	for n, g := range w.f.Agents() {
		at := g.Call
		if at < 0 {
			at = g.Report
		}
		if at < 0 || w.row(at).Gone() || w.holds(int(w.row(at).Rec)) && (g.Report < 0 || w.holds(int(w.row(g.Report).Rec))) {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "- #%d sub-agent", w.row(at).Record())
		if g.Task != "" {
			b.WriteString(" \"" + mark.Inline(g.Task, 160) + "\"")
		}
		if g.ID != "" {
			b.WriteString(" (session " + mark.Inline(g.ID, 60) + ")")
		}
		u := &plan.Unit{Section: Conversation, Turn: w.turnOf(at).n, Order: orderRow(at), Kind: "agents"}
		if g.Report < 0 {
			u.Worth = []float64{worthNow}
			u.Form = func(int) plan.Form { return plan.Form{Text: b.String() + ": no report yet\n"} }
		} else {
			report := g.Report
			u.Worth = w.textWorth(nil, report, worthReport*2, worthReport*fresh(n))
			u.Form = w.textForm(u.Section, report, b.String()+":", "report", func() string { return w.reported(report) })
		}
		w.add(u)
		w.agent[at] = true
	}
}

// reported returns a sub-agent's report, without the notice around it.
func (w *writer) reported(i int32) string {
	text := w.outcome(i).Text
	if text == "" {
		text = w.text(i)
	}
	if w.row(i).Kind != transcript.Meta {
		return text
	}
	if _, rest, ok := strings.Cut(text, "<result>"); ok {
		if j := strings.LastIndex(rest, "</result>"); j >= 0 {
			return strings.TrimSpace(rest[:j])
		}
	}
	return text
}
