package compactor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
)

// notes is what the parts of a companion tell each other and the verification.
type notes struct {
	asked      map[int32]int // human messages that Asked shows whole, by row, and their number there
	facts      []fact
	seen       map[factKey]bool
	answer     int32              // row of the last answer, -1 where State does not show it
	answerText string             // it, where State shows it whole
	turns      map[int32]*turnEnd // answers that Asked shows, by row
	filed      map[int32]filed    // by the row that the content comes from
}

// fact is one key fact: the text that shows it. One whose text is nowhere in the companion is recoverable by the range
// of its record.
type fact struct {
	kind string
	text string
	row  int32
	must bool // human messages, edited paths, open errors: shown or counted
}

// part is one heading of State. Render gives its lines within about budget chars.
type part struct {
	name   string // the strategy that switches it off
	title  string
	weight int // its share where not all fit
	most   int // chars that it takes at most even where there is room: the rest is counted
	render func(budget int) string
	text   string
	short  bool // it had to be shortened
}

// state renders State into at most budget chars: each part whole where all fit, else by their weights.
func (d *draft) state(budget int) []*part {
	answer := &part{name: "answer", weight: 16, most: 5000, render: d.answerPart}
	if d.c.o.on("answer") {
		answer.fill(min(budget, answer.most)) // its notes are for the answers before it and for the decisions
	}
	asked := &part{name: "asked", weight: 150, most: budget, render: d.askedPart}
	answers := &part{name: "answers", weight: 44, most: max(6000, budget/2)}
	answers.render = func(budget int) string { return d.answersPart(budget, asked.text) }
	open := &part{name: "errors", weight: 20, most: max(5000, budget/5), render: d.errorsPart}
	mended := &part{name: "errors", weight: 18, most: max(3000, budget/6), title: "### Errors made good since\n"}
	mended.render = func(budget int) string { return d.mendedPart(budget, open.text) }
	parts := []*part{
		asked,
		{name: "corrections", weight: 6, most: max(300, budget/12), title: "### Corrections and constraints\n", render: d.correctionsPart},
		{name: "plan", weight: 8, most: 3000, render: d.planPart},
		{name: "files", weight: 24, most: max(6000, budget/4), render: d.filesPart},
		{name: "commands", weight: 26, most: max(6000, budget/4), title: "### Commands, newest first (exit status)\n", render: d.commandsPart},
		open,
		mended,
		answers,
		{name: "decisions", weight: 26, most: max(6000, budget/4), title: "### Decisions, and what was rejected\n", render: d.decisionsPart},
		{name: "agents", weight: 8, most: min(6000, budget/5), title: "### Sub-agents\n", render: d.agentsPart},
		answer,
	}
	parts = slices.DeleteFunc(parts, func(p *part) bool { return !d.c.o.on(p.name) })
	for _, p := range parts {
		p.fill(min(budget, p.most))
	}
	fit(parts, budget)
	spread(parts, budget)
	asked.text, answers.text = d.withAnswers(asked.text), ""
	return parts
}

func joined(parts []*part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.text)
	}
	return b.String()
}

func (p *part) fill(budget int) {
	p.text = ""
	if budget <= len(p.title) {
		return
	}
	if body := p.render(budget - len(p.title)); body != "" {
		p.text = p.title + body
	}
}

// fit renders those parts again that take more than their share, until the whole fits. What small parts do not need
// goes to the others.
func fit(parts []*part, budget int) {
	for range 4 {
		sum := 0
		for _, p := range parts {
			sum += lexicon.Chars(p.text)
		}
		if sum <= budget {
			return
		}
		for i, share := range divide(parts, budget) {
			if lexicon.Chars(parts[i].text) > share {
				parts[i].fill(share)
				parts[i].short = true
			}
		}
		budget -= max(0, budget/100)
	}
}

// spread gives what is left to the parts that had to be shortened, the first ones first.
func spread(parts []*part, budget int) {
	for _, p := range parts {
		budget -= lexicon.Chars(p.text)
	}
	for _, p := range parts {
		if !p.short || budget < 100 {
			continue
		}
		old, n := p.text, lexicon.Chars(p.text)
		p.fill(min(n+budget, p.most))
		if grown := lexicon.Chars(p.text) - n; grown <= budget && grown > 0 {
			budget -= grown
		} else {
			p.text = old
		}
	}
}

// divide gives each part what it needs, at most its weight's part of what the smaller ones leave.
func divide(parts []*part, budget int) []int {
	share := make([]int, len(parts))
	done := make([]bool, len(parts))
	left, weight := budget, 0
	for _, p := range parts {
		weight += p.weight
	}
	for changed := true; changed; {
		changed = false
		for i, p := range parts {
			if n := lexicon.Chars(p.text); !done[i] && n*weight <= left*p.weight {
				done[i], share[i], changed = true, n, true
				left -= n
				weight -= p.weight
			}
		}
	}
	for i, p := range parts {
		if !done[i] {
			share[i] = left * p.weight / weight
		}
	}
	return share
}

// lines collects lines, or pieces of a line, while they fit.
type lines struct {
	b    strings.Builder
	room int
}

// add takes a piece unless it does not fit.
func (l *lines) add(s string) bool {
	n := lexicon.Chars(s)
	if n > l.room {
		return false
	}
	l.room -= n
	l.b.WriteString(s)
	return true
}

// flow joins pieces by " · " to list lines of about 1000 chars.
func flow(pieces []string) string {
	var b strings.Builder
	n := 0
	for _, p := range pieces {
		switch {
		case n == 0:
			b.WriteString("- ")
		case n+lexicon.Chars(p) > 1000:
			b.WriteString("\n- ")
			n = 0
		default:
			b.WriteString(" · ")
			n += 3
		}
		b.WriteString(p)
		n += lexicon.Chars(p)
	}
	if n > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

// bullets lists pieces one a line: what is added later leaves the other lines as they are.
func bullets(pieces []string) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString("- " + p + "\n")
	}
	return b.String()
}

// fitting is how many of the pieces, from the first on, fit into room once they are listed.
func fitting(pieces []string, room int) int {
	used := 2
	for n, p := range pieces {
		if used += lexicon.Chars(p) + 3; used > room {
			return n
		}
	}
	return len(pieces)
}

// rest names the items that a list could not hold: at most maxList of them have an ID of their own, all of them stand
// in their ranges.
func (d *draft) rest(items []int32, what string) string {
	if len(items) == 0 {
		return ""
	}
	named := items[:min(len(items), maxList)]
	return mark.New(d.list(named, what), fmt.Sprintf("range of %d more", len(items)))
}

// moment is when a record was written: with the day where it differs from the one before.
func moment(t, before time.Time) string {
	if t.IsZero() {
		return ""
	}
	if t.Format(time.DateOnly) == before.Format(time.DateOnly) {
		return " " + t.Format("15:04Z")
	}
	return " " + t.Format("2006-01-02T15:04Z")
}
