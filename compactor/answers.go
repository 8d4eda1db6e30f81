package compactor

import (
	"fmt"
	"slices"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// turnEnd is the last that the agent told the human in a turn: between one human message and the next.
type turnEnd struct {
	row    int32 // -1 where there is nothing
	early  bool  // calls follow it
	turn   int   // place of the human message that begins the turn
	pieces []piece

	forms map[int]turnForm // by the chars that they may take
	turnForm
}

// turnForm is how an answer stands below its human message.
type turnForm struct {
	text  string // lines
	told  string // what of the answer they show
	whole bool
}

// answerSteps are the chars of an answer that are shown. Every turn gets the first step before any gets the next.
var answerSteps = []int{160, 320, 640, 1280, 2 * longAsk}

// answersPart chooses what is shown of the last answer of each turn whose human message stands in asked, the newest
// first: short ones whole, of others the best sentences. It returns their lines; withAnswers puts them in their places.
func (d *draft) answersPart(budget int, asked string) string {
	d.notes.turns = map[int32]*turnEnd{}
	var turns []*turnEnd
	for _, e := range askEntries(asked) {
		if e.turn < 0 {
			continue
		}
		if t := d.turnEnd(e.turn); t.row >= 0 && t.row != d.notes.answer && d.err == nil {
			t.turnForm = turnForm{}
			turns = append(turns, t)
		}
	}
	slices.Reverse(turns)
	for _, most := range answerSteps {
		for _, t := range turns {
			if t.whole {
				continue
			}
			f := d.turnForm(t, min(most, max(d.most, shortAsk)))
			if n := lexicon.Chars(f.text) - lexicon.Chars(t.text); n > 0 && n <= budget {
				t.turnForm = f
				budget -= n
			}
		}
	}
	var b strings.Builder
	for _, t := range turns {
		if t.text != "" {
			d.notes.turns[t.row] = t
			b.WriteString(t.text)
		}
	}
	return b.String()
}

// turnEnd finds the answer of the turn that begins with a human message.
func (d *draft) turnEnd(turn int) *turnEnd {
	if t := d.turns[turn]; t != nil {
		return t
	}
	t := &turnEnd{row: -1, turn: turn, forms: map[int]turnForm{}}
	d.turns[turn] = t
	to := int32(d.c.rows.n)
	if turn+1 < d.c.humans.n {
		to = *d.c.humans.at(turn + 1)
	}
	for i := to - 1; i > *d.c.humans.at(turn) && int(i) >= d.c.rows.from; i-- {
		switch row := d.row(i); {
		case row.has(side):
		case row.kind == transcript.Call:
			t.early = true
		case row.kind == transcript.Text:
			t.row = i
			t.pieces = d.pieces(i)
			return t
		}
	}
	return t
}

// turnForm shows an answer in at most so many chars, about.
func (d *draft) turnForm(t *turnEnd, most int) turnForm {
	f, ok := t.forms[most]
	if !ok {
		f = d.newTurnForm(t, most)
		t.forms[most] = f
	}
	return f
}

func (d *draft) newTurnForm(t *turnEnd, most int) turnForm {
	note := "answer"
	if t.early {
		note += ", calls follow"
	}
	start := fmt.Sprintf("   #%d ", d.row(t.row).record())
	told := bestPieces(t.pieces, min(most, maxLine-200))
	all := d.text(t.row)
	switch n := lexicon.Chars(all); {
	case !d.body(t.row).whole || lexicon.Bulk(all) > most && n > lexicon.Chars(told)+markerFrame:
	case n < shortAsk:
		return turnForm{start + note + ":\n" + mark.Quote("   ", all), all, true}
	default:
		return turnForm{start + mark.New(d.id(t.row), note) + "\n" + mark.Quote("   ", all), all, true}
	}
	if told == "" {
		return turnForm{}
	}
	return turnForm{text: start + mark.New(d.id(t.row), note+": "+mark.Inline(told, maxLine-150)) + "\n", told: told}
}

// markerFrame is what the marker of chosen sentences takes beside them, in chars, about.
const markerFrame = 60

// askEntry is what stands in Asked for one human message, or for what turn -1 says: the heading, and messages that only
// a range names.
type askEntry struct {
	turn int
	text string
}

// askEntries cuts the text of Asked: what belongs to a message is indented.
func askEntries(asked string) []askEntry {
	var all []askEntry
	for line := range strings.Lines(asked) {
		if line[0] == ' ' && len(all) > 0 {
			all[len(all)-1].text += line
			continue
		}
		e := askEntry{turn: -1, text: line}
		if n := 0; line[0] >= '0' && line[0] <= '9' {
			if _, err := fmt.Sscanf(line, "%d. #", &n); err == nil {
				e.turn = n - 1
			}
		}
		all = append(all, e)
	}
	return all
}

// withAnswers is Asked with the answers that were chosen, each below its human message.
func (d *draft) withAnswers(asked string) string {
	below := map[int]string{}
	for _, t := range d.notes.turns {
		below[t.turn] = t.text
	}
	var b strings.Builder
	for _, e := range askEntries(asked) {
		b.WriteString(e.text + below[e.turn])
	}
	return b.String()
}

// toldOf is what State shows of a message of the agent's.
func (d *draft) toldOf(i int32) string {
	if t := d.notes.turns[i]; t != nil {
		return t.told
	}
	if i == d.notes.answer {
		return d.notes.answerText
	}
	return ""
}

// brieflyAnswered is State with one sentence of each answer that it does not have whole and that Recent has.
func (d *draft) brieflyAnswered(state string, r recentPart) string {
	for _, i := range r.shown {
		t := d.notes.turns[i]
		if t == nil {
			continue
		}
		if short := d.turnForm(t, answerSteps[0]); lexicon.Chars(short.text) < lexicon.Chars(t.text) {
			state = strings.Replace(state, t.text, short.text, 1)
			t.turnForm = short
		}
	}
	return state
}
