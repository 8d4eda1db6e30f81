package unit

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"ccd/compactor/fold"
	"ccd/compactor/lexicon"
	"ccd/compactor/limits"
	"ccd/compactor/plan"
	"ccd/compactor/prose"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// pair is a call with its result, or a single item.
type pair struct {
	first  int32
	result int32 // of a call, -1 if there is none
}

// pairs returns the pairs of a record in order. A result belongs to the record of its call, and items of inline sub-agents to
// none.
func (w *writer) pairs(rec int) []pair {
	from, to := w.f.Items(rec)
	var all []pair
	for i := from; i < to; i++ {
		row := w.row(i)
		if row.Has(fold.Side) {
			continue
		}
		u := pair{first: i, result: -1}
		switch row.Kind {
		case transcript.Result:
			if row.Pair >= 0 && w.row(row.Pair).Pair == i {
				continue
			}
		case transcript.Call:
			u.result = row.Pair
		}
		all = append(all, u)
	}
	return all
}

// hidden reports whether items of this kind are never shown, so that only their range covers them.
func hidden(k transcript.Kind) bool {
	return k == transcript.Meta || k == transcript.Thinking || k == transcript.System || k == transcript.File
}

// candidate is a pair of the compression zone with the inputs of its score.
type candidate struct {
	pair
	chars      int64
	copies     int // later copies of the same content or, for a read, of the same file
	importance float64
	closed     bool // finished: nothing depends on it any more
	points     int64
	third      int // third of the scores, 0 for the highest, which get the shortest forms
	newer      int // number of later candidates
	unit       *plan.Unit
}

const (
	mostFetched    = 200   // times the room: bytes fetched, after which no more work is read
	maxCandidates  = 20000 // pairs that may get a line; only ranges cover older ones
	keptImportance = 0.75  // above it an item is never compressed, as long as it fits
)

// work makes a line for each call, and for each message between them, before Recent. If Recent begins later than before, it
// makes units only for what it no longer shows.
func (w *writer) work() []*plan.Unit {
	from, to := w.before(w.until)
	w.thirds(from, to)
	zone := w.zone()
	units := make([]*plan.Unit, 0, to-from)
	for n := from; n < to; n++ {
		c := &w.found[n]
		c.newer = n - from
		if w.agent[c.first] {
			continue
		}
		kind := w.row(c.first).Kind
		message := kind == transcript.Text || kind == transcript.Summary
		if c.unit == nil {
			c.unit = &plan.Unit{Section: Conversation, Turn: w.turnOf(c.first).n, Order: orderRow(c.first), Kind: "work"}
			if message {
				w.message(c)
			} else {
				w.call(c)
			}
		}
		if c.unit.Pool = zone; message {
			c.unit.Worth = w.messageWorth(c)
		} else {
			c.unit.Worth = w.callWorth(c)
		}
		units = append(units, c.unit)
	}
	return units
}

// before returns which of the found pairs, [from, to), are before a record and may get a line.
func (w *writer) before(until int) (from, to int) {
	rec := func(n int) int { return int(w.row(w.found[n].first).Rec) }
	for from < len(w.found) && rec(from) >= until {
		from++
	}
	for to = min(from+maxCandidates, len(w.found)); to > from && to < len(w.found) && rec(to) == rec(to-1); {
		to++
	}
	return from, to
}

// zone returns the pool of the compression zone if a level was set by hand, else nil, because the room is limit enough.
func (w *writer) zone() *plan.Pool {
	if w.o.Level == limits.ByPressure {
		return nil
	}
	sum := w.f.PastChars()
	from, to := w.f.Rows()
	for i := from; i < to && int(w.row(i).Rec) < w.until; i++ {
		if row := w.row(i); !row.Has(fold.Side) {
			sum += int64(row.Chars)
		}
	}
	most := int((1 - w.level.Off()) * float64(sum))
	return &plan.Pool{Most: func(room int) int { return min(most, room) }}
}

// callWorth returns the worth of the line of a call with its result and, if it may take more, of the whole result.
func (w *writer) callWorth(c *candidate) []float64 {
	more := c.importance * 6
	if c.closed {
		more /= 2
	}
	if c.copies > 0 {
		more = -2
	}
	first := (worthWork + more) * fresh(c.newer) / float64(1+bits.Len64(uint64(w.ageOf(w.row(c.first)))/4))
	if c.unit.Must { // refused
		first = worthRule * fresh(c.newer)
	}
	worth := append(slices.Grow(c.unit.Worth[:0], 2), first)
	if w.o.On("score") && w.wholeMay(c) {
		content := worthContent * fresh(c.newer) * float64(1+c.third)
		if !w.due(c) { // its content is kept, as far as there is room
			content *= 2
		}
		worth = append(worth, content)
	}
	if w.row(c.first).Has(fold.Focused) || c.result >= 0 && w.row(c.result).Has(fold.Focused) {
		for n := range worth {
			worth[n] *= worthFocus
		}
	}
	return worth
}

// call makes the unit of a call with its result.
func (w *writer) call(c *candidate) {
	u := c.unit
	if c.result >= 0 && w.row(c.result).Has(fold.Rejected) {
		u.Kind, u.Must = "refused", true
	}
	if w.o.On("score") && w.wholeMay(c) && w.due(c) {
		u.Excerpt = 1
	}
	u.Form = func(level int) plan.Form {
		if w.spent() {
			return plan.Form{}
		}
		v := w.detailOf(c)
		if level > 0 {
			return w.whole(c)
		}
		if f := w.checked(c.pair, w.form(c.pair, v), v); f.line != "" {
			return f.plan()
		}
		return plan.Form{}
	}
}

// spent reports whether so much was read for this text that no more originals are read. It makes the time depend on the room
// and not on the length of the session.
func (w *writer) spent() bool { return w.fetched > mostFetched*int64(w.Room) }

// due reports whether a strategy replaces the result of a call: a long output, or any long result that is old.
func (w *writer) due(c *candidate) bool {
	row := w.row(c.result)
	return row.Op == transcript.Command && int(row.Chars) >= w.o.OutputChars || c.result < w.keep && w.isMicro(int(row.Chars))
}

// wholeMay reports whether the result of a call may take more than a line. It decides by the rows, so that nothing is read for
// it. Reads never do, because the content of files is under Files.
func (w *writer) wholeMay(c *candidate) bool {
	return c.result >= 0 && c.copies == 0 && w.row(c.result).Chars > wholeText && !w.row(c.result).Has(fold.Rejected) && w.row(c.first).Op != transcript.Read && w.row(c.result).Kind == transcript.Result
}

// whole returns a call with its result, up to the maximum of one thing.
func (w *writer) whole(c *candidate) plan.Form {
	a := w.action(c.first)
	text := w.outcome(c.result).Text
	if text == "" || w.row(c.result).Has(fold.Pictured) || trivial(&a, w.row(c.result)) {
		return plan.Form{}
	}
	s := w.quoted(c.result, text, w.most)
	line := fmt.Sprintf("- #%d %s%s\n", w.row(c.first).Record(), w.label(c.first, details[2].cmd), w.status(c.result))
	return plan.Form{Text: line + s.Text, Shows: strings.TrimSuffix(line, "\n"), Rows: s.Rows}
}

// messageWorth returns the worth of the levels of a message of the agent between its calls.
func (w *writer) messageWorth(c *candidate) []float64 {
	first := (2*worthWork + 16*w.references(c.first)) * fresh(c.newer)
	more := first / 2
	if w.age(w.row(c.first)) < w.o.TalkAge.Milliseconds() { // recent messages are shortened less
		more = first
	}
	return w.textWorth(c.unit.Worth, c.first, first, more)
}

// message makes the unit of a message of the agent between its calls.
func (w *writer) message(c *candidate) {
	who := "-"
	if c.unit.Kind = "decisions"; w.row(c.first).Kind == transcript.Summary {
		who, c.unit.Kind = "- summary by the agent:", "work"
	}
	var formOf func(level int) plan.Form
	c.unit.Form = func(level int) plan.Form {
		head := fmt.Sprintf("%s #%d", who, w.row(c.first).Record())
		if f, ok := w.dup(c.first, head); ok {
			return f.plan()
		}
		if !w.o.On("talk") {
			return form{line: head, quote: mark.Quote("  ", w.text(c.first))}.plan()
		}
		if formOf == nil {
			formOf = w.textForm(Conversation, c.first, head, "summary", func() string { return w.text(c.first) })
		}
		return formOf(level)
	}
}

// form is a shortened pair: one line, quoted lines below it, and what it saved.
type form struct {
	line  string
	quote string
	kind  string // the strategy
	saved int    // chars
	rows  []int32
}

func (f form) plan() plan.Form {
	line := lexicon.Head(f.line, mark.MaxLine) + "\n"
	return plan.Form{Text: line + f.quote, Shows: strings.TrimSuffix(line, "\n"), Strategy: f.kind, Saved: f.saved, Rows: f.rows}
}

// form returns the line of a pair that is not a message, "" if it needs none because its range covers it.
func (w *writer) form(u pair, v detail) form {
	row := w.row(u.first)
	switch row.Kind {
	case transcript.Image:
		if !w.o.On("image") {
			return form{}
		}
		return form{line: fmt.Sprintf("- #%d %s", row.Record(), w.imageMarker(u.first)), kind: "image"}
	case transcript.Call:
		return w.callForm(u, v)
	case transcript.Result:
		return w.resultForm(u.first, fmt.Sprintf("- #%d result", row.Record()), v)
	}
	return form{}
}

// candidates returns the pairs that may get a line, newest first: those of Recent, and enough of those before it.
func (w *writer) candidates() []candidate {
	first, last := w.f.Rows()
	all := make([]candidate, 0, min(int(last-first)/2, maxCandidates)) // most are calls with a result
	seen := make(map[uint64]int, cap(all)/2)
	count := func(i int32) int {
		row := w.row(i)
		n := 0
		if row.Chars >= prose.DupChars {
			n = seen[row.Key]
			seen[row.Key]++
		}
		if row.Op == transcript.Read && row.Kind == transcript.Result && row.Subject != 0 {
			n = max(n, seen[uint64(row.Subject)])
			seen[uint64(row.Subject)]++
		}
		return n
	}
	from, to := w.f.Records()
	older := 0
	for rec := to - 1; rec >= from && older < maxCandidates; rec-- {
		for _, u := range slices.Backward(w.pairs(rec)) {
			c := candidate{pair: u, chars: int64(w.row(u.first).Chars), copies: count(u.first)}
			if u.result >= 0 {
				c.copies = max(c.copies, count(u.result))
				c.chars += int64(w.row(u.result).Chars)
			}
			if w.holds(rec) || !w.lined(u) {
				continue
			}
			c.importance = w.importance(u.first)
			if u.result >= 0 {
				c.importance = max(c.importance, w.importance(u.result))
			}
			c.closed = w.isClosed(u)
			c.points = w.score(&c)
			all = append(all, c)
			if rec < w.until {
				older++
			}
		}
	}
	return all
}

// lined reports whether a pair of this kind may get a line of its own.
func (w *writer) lined(u pair) bool {
	row := w.row(u.first)
	return !hidden(row.Kind) && row.Kind != transcript.Human && row.Op != transcript.Plan && !w.isAnswer(u.first)
}

// isAnswer reports whether a message is the last one of its turn, which has its own unit.
func (w *writer) isAnswer(i int32) bool {
	return w.row(i).Kind == transcript.Text && w.turnOf(i).answer == i && w.o.On("answers")
}

// isClosed reports whether nothing depends on a pair any more: a resolved failure, a sub-agent that has reported.
func (w *writer) isClosed(u pair) bool {
	if u.result < 0 {
		return false
	}
	row := w.row(u.result)
	if row.Op == transcript.Agent {
		return true
	}
	return row.Has(fold.Failed) && !row.Has(fold.Rejected) && !w.f.IsOpen(u.result)
}

// thirds divides the found pairs [from, to) by their score. Those with the highest scores are shortened most.
func (w *writer) thirds(from, to int) {
	if !w.o.On("score") {
		return
	}
	if w.byScore == nil {
		for n := range w.found {
			w.byScore = append(w.byScore, n)
		}
		slices.SortFunc(w.byScore, func(a, b int) int {
			return cmp.Or(cmp.Compare(w.found[b].points, w.found[a].points), cmp.Compare(a, b))
		})
	}
	place := 0
	for _, n := range w.byScore {
		if n < from || n >= to {
			continue
		}
		c, third := &w.found[n], 3*place/(to-from)
		if c.unit != nil && third != c.third { // its line gets shorter or longer
			c.unit.Forget()
		}
		c.third = third
		place++
	}
}

// detailOf returns how much of a pair its line shows: less for a high score and at a stronger level.
func (w *writer) detailOf(c *candidate) detail {
	v := details[c.third]
	v.text = min(max(int(float64(c.chars)*v.keep), wholeText), w.o.SummaryChars)
	v.whole = c.importance > keptImportance || c.result >= 0 && w.row(c.result).Op == transcript.Read && w.row(c.result).Has(fold.Focused)
	return v.at(w.level)
}

// importance returns the importance of a row, 0..1: for messages by later references to their terms, by their wording, and a
// little by how new they are; for work by what it did.
func (w *writer) importance(i int32) float64 {
	row := w.row(i)
	_, rows := w.f.Rows()
	m := prose.Matter{Newness: float64(i) / float64(max(1, rows)), Focused: row.Has(fold.Focused)}
	switch row.Kind {
	case transcript.Text, transcript.Human, transcript.Summary:
		if t := w.f.Text(i); t != nil {
			m.References, m.Most = int(t.Refs), int(w.f.MostRefs())
		}
		m.Told = prose.Told{Decides: row.Has(fold.Decides) && w.o.On("decisions"), Corrects: row.Has(fold.Corrects), Constrains: row.Has(fold.Constrains)}
		return min(1, prose.Importance(m))
	}
	return min(1, prose.Importance(m)+w.workImportance(row))
}

// references returns how often later messages refer to terms that a message introduced, 0..1. It is the part of importance
// that does not depend on a language.
func (w *writer) references(i int32) float64 {
	t := w.f.Text(i)
	if t == nil || w.f.MostRefs() == 0 {
		return 0
	}
	share := 0.5 * float64(t.Refs) / float64(w.f.MostRefs())
	if w.row(i).Has(fold.Focused) {
		share += 0.5
	}
	return share
}

// scale returns importance as the score uses it: 1, 2 or 4.
func scale(importance float64) int64 { return 1 << (bits.Len(uint(1+4*importance)) - 1) }

// ageStep is the age up to which all items count as equally old, in milliseconds. Above it, ages count in powers of two.
const ageStep = 15 * 60 * 1000

// ageOf returns an item's age in quarters of an hour, as a power of two from 1 to 4096.
func (w *writer) ageOf(row *fold.Row) int64 {
	return 1 << min(12, bits.Len64(uint64(w.age(row)/ageStep)))
}

// score is higher for items to shorten first: large, old, repeated and unimportant ones. It is doubled for closed work.
func (w *writer) score(c *candidate) int64 {
	s := limits.Tokens(c.chars) * w.ageOf(w.row(c.first)) * int64(1+c.copies) / scale(c.importance)
	if c.closed {
		s *= 2
	}
	return s
}

// checked returns a pair's line, or its original if the line lacks what must never be elided: the status of a failure and the
// first line of its reason.
func (w *writer) checked(u pair, f form, v detail) form {
	i := u.result
	if i < 0 || f.line == "" || f.kind == "dup" || f.quote != "" || !w.row(i).Has(fold.Failed) || w.row(i).Has(fold.Rejected) {
		return f
	}
	text := w.outcome(i).Text
	lines, _ := w.errorLines(i, 1, false)
	if len(lines) == 0 || strings.Contains(f.line, mark.Inline(lexicon.Head(lines[0], v.err/2), v.err)) && strings.Contains(f.line, w.status(i)) {
		return f
	}
	w.Fell++
	start, _, _ := strings.Cut(f.line, w.status(i))
	return form{line: start + w.status(i), quote: mark.Quote("  ", text), rows: []int32{i}}
}
