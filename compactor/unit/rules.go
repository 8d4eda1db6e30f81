package unit

import (
	"fmt"
	"strings"

	"ccd/compactor/fold"
	"ccd/compactor/lexicon"
	"ccd/compactor/plan"
	"ccd/compactor/prose"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

const (
	maxRule   = 300 // chars shown of a rule
	maxOfAsk  = 4   // rules taken from one message
	rulesMost = 8   // the share of a text for rules, as a divisor
	maxRules  = 60  // rules in all, newest first
	leastRule = 12  // chars; a shorter sentence means nothing alone
	longRule  = 600 // chars from which a message counts as a paste, in which only wording identifies rules
)

// rules adds the human's lasting instructions: constraints, corrections and reasons for refusals, newest first, each once.
func (w *writer) rules() {
	if !w.o.On("corrections") {
		return
	}
	seen := map[string]bool{}
	pool := &plan.Pool{Most: func(room int) int { return room / rulesMost }}
	count := 0
	for n := len(w.turns) - 1; n >= 0 && count < maxRules; n-- {
		i := w.turns[n].ask
		if i < 0 || w.row(i).Gone() || w.row(i).Has(fold.Back) || w.beside(int(w.row(i).Rec)) {
			continue
		}
		for _, r := range w.rulesOf(&w.turns[n]) {
			key := lexicon.Lower(strings.Join(strings.Fields(r), " "))
			if seen[key] || lexicon.Chars(r) < leastRule {
				continue
			}
			seen[key] = true
			line := fmt.Sprintf("- \"%s\" (#%d)\n", mark.Inline(r, maxRule), w.row(i).Record())
			if row := w.row(i); w.refused(i) {
				line = fmt.Sprintf("- Refused %s (#%d): \"%s\"\n", w.label(row.Pair, 160), w.row(row.Pair).Record(), mark.Inline(r, maxRule))
			}
			w.add(&plan.Unit{
				Section: Rules, Order: count, Kind: "rules", Must: true, Pool: pool, Worth: []float64{worthRule + fresh(count)},
				Form: func(int) plan.Form { return shows(line) },
			})
			count++
		}
	}
}

// rulesOf returns the rules in a human message: the reason for a refusal, else the sentences that correct or constrain.
func (w *writer) rulesOf(t *turn) []string {
	i, row := t.ask, w.row(t.ask)
	if w.refused(i) || w.undone(t) {
		return []string{lexicon.SentenceHead(w.text(i), maxRule)}
	}
	if !row.Has(fold.Corrects|fold.Constrains) || row.Pair >= 0 { // an answer to a question is not a rule
		return nil
	}
	type key struct{ first, corrects bool }
	return derive(w.Source, i, key{t.n < 2, row.Has(fold.Corrects)}, func([]byte) []string {
		return rulesIn(w.text(i), t.n < 2, row.Has(fold.Corrects))
	})
}

// rulesIn returns the sentences of a human message that correct or constrain; the first message corrects nothing.
func rulesIn(text string, first, corrects bool) []string {
	if lexicon.Chars(text) > longRule { // in a paste, only the text around it is the person's own
		text = lexicon.HeadAt(text, longRule/3) + "\n" + lexicon.TailAt(text, longRule/3)
	}
	var all []string
	for _, s := range lexicon.Sentences(text) {
		if told := prose.Tells(s); len(all) < maxOfAsk && (told.Constrains || !first && told.Corrects) {
			all = append(all, s)
		}
	}
	if len(all) == 0 && corrects && lexicon.Chars(text) < longRule {
		for _, s := range lexicon.Sentences(text) {
			return []string{s}
		}
	}
	return all
}

// refused reports whether a human message refuses a call or a plan.
func (w *writer) refused(i int32) bool {
	p := w.row(i).Pair
	if p < 0 || w.row(p).Kind != transcript.Call {
		return false
	}
	_, plan := w.proposed(p)
	return w.row(p).Has(fold.Rejected) || plan != "" && !transcript.Approves(w.text(i))
}

// undone reports whether the first edit after a human message undoes the edit before it, which makes the message a
// correction in any language.
func (w *writer) undone(t *turn) bool {
	if t.n < 2 {
		return false
	}
	first, before := w.edit(t.from, t.to, 1), w.edit(t.from-1, -1, -1)
	if first < 0 || before < 0 || !w.maySwap(first, before) || lexicon.Chars(w.text(t.ask)) > maxRule {
		return false
	}
	_, now, ok := transcript.Edits(w.body(first).raw)
	_, was, known := transcript.Edits(w.body(before).raw)
	if !ok || !known || len(now) == 0 || len(was) == 0 {
		return false
	}
	last := was[len(was)-1]
	return now[0].Old == last.New && now[0].New == last.Old
}

// swapSlack is how much two inputs that only swap their texts may differ in length because of a flag, in bytes.
const swapSlack = 64

// maySwap reports by their rows alone whether an edit may undo another one: same file and about the same length. Only then are
// both read.
func (w *writer) maySwap(now, was int32) bool {
	a, b := w.row(now), w.row(was)
	if a.Subject != b.Subject {
		return false
	}
	n := a.Size() - b.Size()
	return -swapSlack <= n && n <= swapSlack || w.f.Tool(a) == "MultiEdit" || w.f.Tool(b) == "MultiEdit"
}

// maxEditBack is how many rows are searched for an edit.
const maxEditBack = 400

// edit returns the first edit of a file from row from towards row to, in steps of step; -1 if there is none near.
func (w *writer) edit(from, to, step int32) int32 {
	first, last := w.f.Rows()
	for i, n := from, 0; i != to && i >= first && i < last && n < maxEditBack; i, n = i+step, n+1 {
		if row := w.row(i); row.Kind == transcript.Call && row.Op == transcript.Edit && !row.Has(fold.Side) {
			return i
		}
	}
	return -1
}
