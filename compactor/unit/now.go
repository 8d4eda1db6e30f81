package unit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ccd/compactor/fold"
	"ccd/compactor/lexicon"
	"ccd/compactor/plan"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// The places of what stands under Now.
const (
	orderPlace = iota
	orderAsked
	orderAnswered
	orderUnderWay
	orderPlan
	orderGit
	orderProblems
)

// nowMost is the part of a text that Now may take with the last ask and answer, as a divisor.
const nowMost = 4

// now adds where the work stands: the place, what is under way, the plan, git, open problems.
func (w *writer) now() {
	w.add(&plan.Unit{Section: Now, Order: orderPlace, Must: true, Worth: []float64{worthRange}, Form: func(int) plan.Form {
		return plan.Form{Text: w.place()}
	}})
	w.add(&plan.Unit{Section: Now, Order: orderUnderWay, Must: true, Worth: []float64{worthNow}, Form: func(int) plan.Form {
		return plan.Form{Text: w.underWay()}
	}})
	if items, row := w.f.Plan(); len(items) > 0 && row >= 0 && w.o.On("plan") {
		w.add(&plan.Unit{Section: Now, Order: orderPlan, Kind: "plan", Must: true, Worth: []float64{worthNow, worthNow / 2, worthNow / 3}, Form: func(level int) plan.Form {
			text := w.plan(items, row, []int{600, 1500, 3000}[level])
			return plan.Form{Text: text, Shows: text}
		}})
	}
	g := w.git()
	w.add(&plan.Unit{Section: Now, Order: orderGit, Must: true, Worth: []float64{worthNow}, Form: func(int) plan.Form {
		return plan.Form{Text: g.text(w)}
	}})
	if w.o.On("errors") {
		w.open()
	}
}

// place tells as of when a text is, and where the session works.
func (w *writer) place() string {
	s := w.f.Status()
	parts := []string{fmt.Sprintf("As of #%d", s.Records)}
	if _, last := w.f.Records(); last > 0 && w.f.Milli(last-1) != 0 {
		parts[0] += moment(s.Last, time.Time{})
	}
	dir := transcript.Join("", s.Cwd)
	if dir != "" {
		parts = append(parts, "in "+mark.Inline(dir, 300))
	}
	if root := w.f.Root(); root != "" && !transcript.SamePath(root, dir) {
		parts = append(parts, "paths below "+mark.Inline(root, 300))
	}
	if s.Branch != "" && w.git().branch == "" {
		parts = append(parts, "branch "+mark.Inline(s.Branch, 120))
	}
	return strings.Join(parts, ", ") + ".\n"
}

// mostUnderWay bounds the calls, jobs and sub-agents that are told as under way.
const mostUnderWay = 6

// shortMeta is how long what a client writes of an interruption is at the most, in chars.
const shortMeta = 400

// underWay tells what has no result yet, "" where nothing is.
func (w *writer) underWay() string {
	var said []string
	seen := map[int32]bool{}
	add := func(i int32, what string) {
		if i >= 0 && !seen[i] && len(said) < mostUnderWay && !w.row(i).Gone() {
			seen[i] = true
			said = append(said, fmt.Sprintf("#%d %s", w.row(i).Record(), what))
		}
	}
	for _, j := range w.f.Jobs() {
		a := w.action(j.Row)
		add(j.Row, w.label(w.row(j.Row), &a, 160)+" (in the background)")
	}
	for _, g := range w.f.Agents() {
		if g.Report < 0 && g.Call >= 0 {
			add(g.Call, "sub-agent \""+mark.Inline(g.Task, 120)+"\" (no report yet)")
		}
	}
	from, to := w.f.Rows()
	for i := to - 1; i >= from && i > to-64; i-- {
		row := w.row(i)
		if row.Kind == transcript.Meta && !row.Has(fold.Side) && row.Chars < shortMeta && transcript.Interrupts(w.text(i)) {
			add(i, "interrupted by the human"+moment(w.time(i), w.f.Status().Last))
		}
		if row.Has(fold.Side) || row.Kind == transcript.Meta || row.Kind == transcript.Thinking {
			continue
		}
		if row.Kind != transcript.Call {
			if row.Kind == transcript.Text || row.Kind == transcript.Human {
				break
			}
			continue
		}
		if row.Pair < 0 {
			a := w.action(i)
			add(i, w.label(row, &a, 160)+" (no result)")
		}
	}
	if len(said) == 0 {
		return ""
	}
	return "Under way: " + strings.Join(said, "; ") + "\n"
}

// plan is the plan as last left. Where not all of it fits, what is still open stays, then what was done last.
func (w *writer) plan(items []fold.PlanItem, row int32, room int) string {
	title := fmt.Sprintf("Plan as last left (#%d%s), in the agent's own words:\n", w.row(row).Record(), w.turnsAgo(row))
	room -= len(title)
	shown := planShown(items, room)
	if len(shown) < len(items) {
		shown = planShown(items, room-60)
	}
	var b strings.Builder
	b.WriteString(title)
	for n := range items {
		if line, ok := shown[n]; ok {
			b.WriteString("- " + line + "\n")
		}
	}
	if left := len(items) - len(shown); left > 0 {
		fmt.Fprintf(&b, "- %d more %s\n", left, mark.New(w.id(row), "cut, the plan"))
	}
	return b.String()
}

// turnsAgo tells in which turn something was left, where that is not the last.
func (w *writer) turnsAgo(i int32) string {
	if t := w.turnOf(i); t.n > 0 && t.n < w.turns[len(w.turns)-1].n {
		return fmt.Sprintf(", in turn %d", t.n)
	}
	return ""
}

// maxPlanItem is how much of a plan's item is shown, in chars.
const maxPlanItem = 300

// planShown chooses the lines of a plan that fit into room chars, by their place.
func planShown(items []fold.PlanItem, room int) map[int]string {
	shown := map[int]string{}
	for _, done := range []bool{false, true} {
		for n := range items {
			if done {
				n = len(items) - 1 - n
			}
			if (items[n].Status == "completed") != done {
				continue
			}
			line := box(items[n].Status) + mark.Inline(items[n].Text, maxPlanItem)
			if cost := lexicon.Chars(line) + 3; cost <= room {
				room -= cost
				shown[n] = line
			}
		}
	}
	return shown
}

// box is the check box of a plan item.
func box(status string) string {
	switch status {
	case "completed":
		return "[x] "
	case "in_progress":
		return "[>] "
	}
	return "[ ] "
}

// manyOpen is from how many open problems on their number is told: not all of them may have a line.
const manyOpen = 12

// open adds the problems that nothing has made good, newest first: one line each, then more of what each said. They share
// what Now may take, so that many of them leave room for the conversation.
func (w *writer) open() {
	all := slices.DeleteFunc(slices.Clone(w.f.Problems()), func(e *fold.Problem) bool { return w.beside(int(w.row(e.Call).Rec)) })
	if len(all) >= manyOpen {
		w.add(&plan.Unit{Section: Now, Order: orderProblems, Must: true, Worth: []float64{worthNow}, Form: func(int) plan.Form {
			return plan.Form{Text: fmt.Sprintf("Open problems: %d, newest first; those without a line stand under the ranges below\n", len(all))}
		}})
	}
	pool := &plan.Pool{Most: func(room int) int { return room / nowMost }}
	for n, e := range all {
		w.add(&plan.Unit{
			Section: Now, Order: orderProblems + 1 + n, Kind: "open errors", Must: true, Pool: pool,
			Worth: []float64{worthProblem + fresh(n), worthNow / 3 * fresh(n), worthNow / 6 * fresh(n)},
			Form: func(level int) plan.Form {
				v := []detail{terse, full, full}[level]
				line := "Open: " + w.errorLine(e, v)
				f := plan.Form{Text: line, Shows: strings.TrimSuffix(line, "\n")}
				if level == 2 {
					f.Text += w.moreErrors(e.Result, v, 1500)
				}
				return f
			},
		})
	}
}

// errorLine is a failure in one line: the call, its status, what it said.
func (w *writer) errorLine(e *fold.Problem, v detail) string {
	row := w.row(e.Call)
	a := w.action(e.Call)
	label := w.label(row, &a, v.cmd)
	if len(a.Files) > 0 && !strings.Contains(label, "`") {
		label += " " + w.paths(a.Files, v.cmd)
	}
	said, all := w.wrong(e.Result, v)
	if !all {
		said += " " + mark.New(w.id(e.Result), "output, "+bytesText(w.row(e.Result).Size()))
	}
	return fmt.Sprintf("#%d %s%s: %s\n", row.Record(), label, w.status(e.Result), said)
}

// mostErrors bounds the error lines of one open problem.
const mostErrors = 40

// moreErrors quotes the error lines that the line of an open problem has no room for.
func (w *writer) moreErrors(i int32, v detail, room int) string {
	if w.row(i).Has(fold.Rejected) {
		return ""
	}
	said, _ := w.wrong(i, v)
	lines, _ := lexicon.ErrorLines(w.outcome(i).Text, mostErrors, false)
	var b strings.Builder
	for _, line := range lines {
		if strings.Contains(said, mark.Inline(line, v.err)) {
			continue
		}
		q := mark.Quote("  ", lexicon.Head(line, 2*v.err))
		if room -= lexicon.Chars(q); room < 0 {
			break
		}
		b.WriteString(q)
	}
	return b.String()
}
