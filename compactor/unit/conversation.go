package unit

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ccd/compactor/fold"
	"ccd/compactor/lexicon"
	"ccd/compactor/plan"
	"ccd/compactor/prose"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

const (
	longAsk  = 2000 // chars from which a human message is shown as head, tail and ID
	askHead  = 1200
	askTail  = 500
	asksMost = 45  // percent of a text that the messages between the first and the last may take
	briefAsk = 300 // chars up to which a message is always whole
	shortAsk = 200 // chars shown of a longer one if there is no room for it
)

// turn adds the ask, what was done and the answer of a turn.
func (w *writer) turn(t *turn) {
	if t.ask >= 0 {
		w.ask(t)
	}
	w.did(t)
	w.answer(t)
}

// isLast reports whether a turn's ask is the last one, which is under Now.
func (w *writer) isLast(t *turn) bool { return t.ask >= 0 && t == &w.turns[len(w.turns)-1] }

// ask adds the human message of a turn.
func (w *writer) ask(t *turn) {
	if w.holds(int(w.row(t.ask).Rec)) || w.Holds && w.f.Carried(w.row(t.ask)) || !w.o.On("asked") {
		return
	}
	newer := w.newer(t)
	u := &plan.Unit{Section: Conversation, Turn: t.n, Kind: "asked", Must: true, Worth: []float64{worthAsk + 4*fresh(newer)}}
	switch {
	case w.isLast(t):
		u.Section, u.Turn, u.Order, u.Worth[0] = Now, 0, orderAsked, worthLastAsk
	case t.n == 1:
		u.Worth[0] = worthFirstAsk
	default:
		u.Pool = w.asks
	}
	if n := int(w.row(t.ask).Chars); n > briefAsk {
		u.Seen = 1
		if t.n == 1 { // the purpose of the session
			newer = 0
		}
		u.Worth = append(u.Worth, worthWhole*fresh(newer))
		if n > longAsk {
			u.Worth = append(u.Worth, worthWhole/2*fresh(newer), worthFile*fresh(newer))
		}
	}
	u.Form = func(level int) plan.Form {
		head := w.heading(t)
		switch {
		case u.Section == Now && w.f.Given() == t.ask:
			head = fmt.Sprintf("Task given by the parent session (#%d%s):\n", w.row(t.ask).Record(), moment(w.time(t.ask), time.Time{}))
		case u.Section == Now:
			head = fmt.Sprintf("Asked last (#%d%s%s):\n", w.row(t.ask).Record(), moment(w.time(t.ask), time.Time{}), w.question(t.ask)+w.added(t.ask)+w.takenBack(t.ask))
		}
		text, whole := w.asked(t.ask, level)
		f := plan.Form{Text: head + text, Shows: strings.TrimSuffix(text, "\n")}
		if whole {
			f.Rows = []int32{t.ask}
		}
		return f
	}
	w.add(u)
}

// newer returns how many turns follow t.
func (w *writer) newer(t *turn) int { return len(w.turns) - 1 - t.place }

func (w *writer) time(i int32) time.Time { return w.f.Time(int(w.row(i).Rec)) }

// heading returns the line above a turn.
func (w *writer) heading(t *turn) string {
	if t.ask < 0 {
		return "### Before the first request\n"
	}
	before := time.Time{}
	if t.place > 0 && w.turns[t.place-1].ask >= 0 {
		before = w.time(w.turns[t.place-1].ask)
	}
	what := ""
	if w.f.Given() == t.ask {
		what = " task given by the parent session"
	}
	return fmt.Sprintf("### %d · #%d%s%s%s%s\n", t.n, w.row(t.ask).Record(), moment(w.time(t.ask), before), what, w.question(t.ask), w.added(t.ask)+w.takenBack(t.ask))
}

// takenBack says where the person took a message back, "" if they did not.
func (w *writer) takenBack(i int32) string {
	row := w.row(i)
	if !row.Has(fold.Back) {
		return ""
	}
	return fmt.Sprintf(", taken back at #%d%s", row.Subject+1, moment(w.f.Time(int(row.Subject)), w.time(i)))
}

// asked returns a human message at a level, quoted. whole reports that nothing is left out.
func (w *writer) asked(i int32, level int) (text string, whole bool) {
	if newer, ok := w.askedAgain(i); ok {
		return mark.New(w.id(i), fmt.Sprintf("dup of #%d, %d chars", newer, w.row(i).Chars)) + "\n", false
	}
	said := w.text(i)
	n := lexicon.Chars(said)
	cut := func(head, tail int) string {
		m := mark.New(w.id(i), fmt.Sprintf("cut, %d chars", max(n, int(w.row(i).Chars)))) + "\n"
		if tail == 0 {
			return mark.Quote("", lexicon.HeadAt(said, head)) + m
		}
		return mark.Quote("", lexicon.HeadAt(said, head)) + m + mark.Quote("", lexicon.TailAt(said, tail))
	}
	switch all := w.body(i).whole; {
	case all && (n <= briefAsk || n <= longAsk && level > 0 || level > 2 && lexicon.Bulk(said) <= w.Room/wholeShare):
		return mark.Quote("", said), true
	case level == 0:
		return cut(shortAsk, 0), false
	case level == 1:
		return cut(askHead/3, askTail/2), false
	}
	return cut(askHead, askTail), false
}

// askedAgain finds a newer copy of a message, which is then shown for both.
func (w *writer) askedAgain(i int32) (record int, ok bool) {
	r := w.row(i)
	if r.Chars < prose.DupChars || !w.o.Dedup {
		return 0, false
	}
	for n := len(w.turns) - 1; n >= 0 && w.turns[n].ask > i; n-- {
		if o := w.row(w.turns[n].ask); o.Key == r.Key {
			return o.Record(), true
		}
	}
	return 0, false
}

const (
	shortReply  = 60  // chars up to which a message counts as a reply to the agent's question
	maxQuestion = 300 // chars shown of the question
	maxBack     = 40  // how many items back it is searched
)

// question returns what a message answers: a tool's question, the plan or call that it refuses, or what the agent asked
// before a short reply such as "yes please", which means nothing alone.
func (w *writer) question(i int32) string {
	row := w.row(i)
	if p := row.Pair; p >= 0 && w.row(p).Kind == transcript.Call {
		call := w.row(p)
		options, plan := w.proposed(p)
		switch {
		case plan != "" && transcript.Approves(w.text(i)):
			return fmt.Sprintf(", approved the plan #%d %s %s", call.Record(), code(plan, 120), mark.New(w.id(p), "cut, the plan"))
		case plan != "":
			return fmt.Sprintf(", refused the plan #%d %s %s", call.Record(), code(plan, 120), mark.New(w.id(p), "cut, the plan"))
		case call.Has(fold.Rejected):
			return fmt.Sprintf(", refused #%d %s", call.Record(), w.label(p, 160))
		case options != "":
			return fmt.Sprintf(", to #%d (options: %s)", call.Record(), options)
		}
		return fmt.Sprintf(", to #%d %s", call.Record(), w.label(p, maxQuestion))
	}
	if row.Chars > shortReply {
		return ""
	}
	for j := i - 1; j >= 0 && j > i-maxBack; j-- {
		r := w.row(j)
		switch {
		case r.Has(fold.Side) || r.Kind != transcript.Human && r.Kind != transcript.Text:
			continue
		case r.Kind == transcript.Human:
			return ""
		}
		type key struct{}
		if last := derive(w.Source, j, key{}, func([]byte) string { return asks(w.text(j)) }); last != "" {
			return fmt.Sprintf(", to #%d: \"%s\"", r.Record(), mark.Inline(last, maxQuestion))
		}
		return ""
	}
	return ""
}

// proposal is what a call presented to the human: the options of its questions, or the first line of its plan.
type proposal struct{ options, plan string }

// proposed returns the options or the plan that a call presented to the human.
func (w *writer) proposed(call int32) (options, plan string) {
	type key struct{}
	p := derive(w.Source, call, key{}, proposalOf)
	return p.options, p.plan
}

func proposalOf(input []byte) proposal {
	var in struct {
		Questions []struct {
			Options []struct {
				Label string `json:"label"`
			} `json:"options"`
		} `json:"questions"`
		Plan string `json:"plan"`
	}
	if json.Unmarshal(input, &in) != nil {
		return proposal{}
	}
	var labels []string
	for _, q := range in.Questions {
		for _, o := range q.Options {
			labels = append(labels, mark.Inline(o.Label, 80))
		}
	}
	plan, _, _ := strings.Cut(strings.TrimSpace(in.Plan), "\n")
	return proposal{strings.Join(labels, " · "), plan}
}

// asks returns the last questions of a text, or its last offers.
func asks(text string) string {
	last := ""
	for _, s := range lexicon.Sentences(text) {
		switch is := isQuestion(s) || isOffer(s); {
		case is && last != "" && lexicon.Chars(last)+lexicon.Chars(s) < maxQuestion:
			last += " " + s
		case is:
			last = s
		}
	}
	return last
}

func isQuestion(s string) bool {
	s = strings.TrimRight(s, "*_\"'”’)` ")
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || strings.HasSuffix(s, "؟")
}

// did adds one line of what was done in a turn.
func (w *writer) did(t *turn) {
	if t.calls == 0 || t.from < t.to && w.holds(int(w.row(t.from).Rec)) {
		return
	}
	newer, worth := w.newer(t), worthDid
	if newer == 0 {
		worth = worthNow
	}
	w.add(&plan.Unit{
		Section: Conversation, Turn: t.n, Order: orderDid(t), Kind: "did", Must: newer == 0, Worth: []float64{worth * fresh(newer)},
		Form: func(int) plan.Form {
			if g := w.gist(t.from, t.to, false); g != "" {
				return plan.Form{Text: "Did: " + g + "\n"}
			}
			return plan.Form{}
		},
	})
}

// The order of units in a turn: by row, with the line of what was done after the ask.
func orderRow(i int32) int { return 2 * (int(i) + 1) }
func orderDid(t *turn) int { return orderRow(max(t.ask, t.from-1)) + 1 }

// moment returns when a record was written, with the day if that differs from before.
func moment(t, before time.Time) string {
	if t.IsZero() {
		return ""
	}
	if t.Format(time.DateOnly) == before.Format(time.DateOnly) {
		return " " + t.Format("15:04Z")
	}
	return " " + t.Format("2006-01-02T15:04Z")
}

// Gap returns the line for the omitted messages of the turns [from, to).
func (s *Set) Gap(from, to int) string {
	var rows []int32
	var turns []int
	for n := range s.w.turns {
		if t := &s.w.turns[n]; t.n >= from && t.n < to && t.ask >= 0 {
			rows, turns = append(rows, t.ask), append(turns, t.n)
		}
	}
	if len(rows) == 0 {
		return ""
	}
	before := ""
	if more := len(rows) - maxList; more > 0 {
		before = fmt.Sprintf("### %d-%d · %d messages, under the ranges below\n", turns[0], turns[more-1], more)
		rows, turns = rows[more:], turns[more:]
	}
	first, last := turns[0], turns[len(turns)-1]
	if len(rows) == 1 {
		return fmt.Sprintf("### %d · #%d %s\n", first, s.w.row(rows[0]).Record(), mark.New(s.w.id(rows[0]), "cut, a message"))
	}
	said := len(rows) - 1
	for _, i := range rows {
		said += int(s.w.row(i).Chars)
	}
	m := mark.New(s.w.list(rows, "messages"), fmt.Sprintf("range of %d messages", len(rows)))
	if lexicon.Chars(m) > said { // a marker must not be longer than what it replaces
		m = fmt.Sprintf("%d messages, under the ranges below", len(rows))
	}
	return before + fmt.Sprintf("### %d-%d · #%d-#%d %s\n", first, last, s.w.row(rows[0]).Record(), s.w.row(rows[len(rows)-1]).Record(), m)
}

// Heading returns the line above a turn whose message is not shown there.
func (s *Set) Heading(n int) string {
	for i := range s.w.turns {
		if t := &s.w.turns[i]; t.n == n {
			head := strings.TrimSuffix(s.w.heading(t), "\n")
			if s.w.isLast(t) {
				head = fmt.Sprintf("### %d · #%d (asked: see Now)", t.n, s.w.row(t.ask).Record())
			}
			return head + "\n"
		}
	}
	return ""
}

// Asked is the kind of units that begin a turn.
const Asked = "asked"

// Last returns the turn whose message is under Now, or the number of turns plus one.
func (s *Set) Last() int {
	last := &s.w.turns[len(s.w.turns)-1]
	if s.w.isLast(last) {
		return last.n
	}
	return last.n + 1
}
