package unit

import (
	"fmt"
	"strings"

	"ccd/compactor/fold"
	"ccd/compactor/lexicon"
	"ccd/compactor/plan"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

const (
	maxRule   = 300 // chars shown of a rule
	maxOfAsk  = 4   // rules taken of one message
	rulesMost = 8   // the part of a text that they may take, as a divisor
	maxRules  = 60  // of all, newest first
	leastRule = 12  // chars; a shorter sentence says nothing alone
	longRule  = 600 // chars from which on a message is a paste, of which only the words tell a rule
)

// rules adds what the human set for good: constraints, corrections, and the reasons of refusals, newest first, each once.
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
				a := w.action(row.Pair)
				line = fmt.Sprintf("- Refused %s (#%d): \"%s\"\n", w.label(w.row(row.Pair), &a, 160), w.row(row.Pair).Record(), mark.Inline(r, maxRule))
			}
			w.add(&plan.Unit{
				Section: Rules, Order: count, Kind: "rules", Must: true, Pool: pool, Worth: []float64{worthRule + fresh(count)},
				Form: func(int) plan.Form { return plan.Form{Text: line, Shows: strings.TrimSuffix(line, "\n")} },
			})
			count++
		}
	}
}

// rulesOf are the rules in a human message: why a call was refused; else its sentences that correct or constrain.
func (w *writer) rulesOf(t *turn) []string {
	i, row := t.ask, w.row(t.ask)
	if w.refused(i) || w.undone(t) {
		return []string{lexicon.SentenceHead(w.text(i), maxRule)}
	}
	if !row.Has(fold.Corrects|fold.Constrains) || row.Pair >= 0 { // what answers a question is no rule
		return nil
	}
	text := w.text(i)
	if lexicon.Chars(text) > longRule { // of a paste only what stands around it is the person's own
		text = lexicon.HeadAt(text, longRule/3) + "\n" + lexicon.TailAt(text, longRule/3)
	}
	var all []string
	for s := range lexicon.Sentences(text) {
		if len(all) < maxOfAsk && (fold.IsConstraint(s) || t.n > 1 && fold.IsCorrection(s)) {
			all = append(all, s)
		}
	}
	if len(all) == 0 && row.Has(fold.Corrects) && lexicon.Chars(text) < longRule {
		for s := range lexicon.Sentences(text) {
			return []string{s}
		}
	}
	return all
}

// refused reports whether a human message is why a call or a plan was refused.
func (w *writer) refused(i int32) bool {
	p := w.row(i).Pair
	if p < 0 || w.row(p).Kind != transcript.Call {
		return false
	}
	_, plan := w.put(p)
	return w.row(p).Has(fold.Rejected) || plan != "" && !transcript.Approves(w.text(i))
}

// undone reports whether the first edit after a human message takes the one before it back: what the human said was a
// correction, in any language.
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

// swapSlack is by how much two inputs may differ that only swap their texts: by a flag that one of them gives, in bytes.
const swapSlack = 64

// maySwap reports whether an edit may take another one back, by their rows alone: it is of the same file and about as
// long. Only then both are read.
func (w *writer) maySwap(now, was int32) bool {
	a, b := w.row(now), w.row(was)
	if a.Subject != b.Subject {
		return false
	}
	n := a.Size() - b.Size()
	return -swapSlack <= n && n <= swapSlack || w.f.Tool(a) == "MultiEdit" || w.f.Tool(b) == "MultiEdit"
}

// maxEditBack bounds the rows looked at for an edit.
const maxEditBack = 400

// edit is the first edit of a file from a row on, in steps of one row, before another; -1 where there is none near.
func (w *writer) edit(from, to, step int32) int32 {
	first, last := w.f.Rows()
	for i, n := from, 0; i != to && i >= first && i < last && n < maxEditBack; i, n = i+step, n+1 {
		if row := w.row(i); row.Kind == transcript.Call && row.Op == transcript.Edit && !row.Has(fold.Side) {
			return i
		}
	}
	return -1
}
