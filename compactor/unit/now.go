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

// The order of the units under Now.
const (
	orderPlace = iota
	orderAsked
	orderAnswered
	orderUnderWay
	orderPlan
	orderGit
	orderProblems
)

// nowMost is the share of a text that Now may take, including the last ask and answer, as a divisor.
const nowMost = 4

// now adds the state of the work: the place, running work, the plan, git, open problems.
func (w *writer) now() {
	w.add(&plan.Unit{Section: Now, Order: orderPlace, Must: true, Worth: []float64{worthRange}, Form: func(int) plan.Form {
		return plan.Form{Text: w.place()}
	}})
	w.add(&plan.Unit{Section: Now, Order: orderUnderWay, Must: true, Worth: []float64{worthNow}, Form: func(int) plan.Form {
		return plan.Form{Text: w.underWay()}
	}})
	if items, row := w.f.Plan(); len(items) > 0 && row >= 0 && w.o.On("plan") {
		w.add(&plan.Unit{Section: Now, Order: orderPlan, Kind: "plan", Must: true, Worth: []float64{worthNow, worthNow / 2}, Form: func(level int) plan.Form {
			text := w.plan(items, row, []int{600, 3000}[level])
			return plan.Form{Text: text, Shows: text}
		}})
	}
	g := w.git()
	w.add(&plan.Unit{Section: Now, Order: orderGit, Must: true, Worth: []float64{worthNow}, Form: func(int) plan.Form {
		return plan.Form{Text: g.text()}
	}})
	if w.o.On("errors") {
		w.open()
	}
}

// place says up to which record and time the text goes, and where the session works.
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

// mostUnderWay is how many running calls, jobs and sub-agents are listed.
const mostUnderWay = 6

// shortMeta is the maximum length of a client's notice of an interruption, in chars.
const shortMeta = 400

// underWay lists what has no result yet, "" if nothing.
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
		add(j.Row, w.label(j.Row, 160)+" (in the background)")
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
			add(i, w.label(i, 160)+" (no result)")
		}
	}
	if len(said) == 0 {
		return ""
	}
	return "Under way: " + strings.Join(said, "; ") + "\n"
}

// plan returns the current plan. If not all of it fits, open items come first, then those done last.
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

// turnsAgo names the turn of a row if it is not the last one.
func (w *writer) turnsAgo(i int32) string {
	if t := w.turnOf(i); t.n > 0 && t.n < w.turns[len(w.turns)-1].n {
		return fmt.Sprintf(", in turn %d", t.n)
	}
	return ""
}

// maxPlanItem is how much of a plan's item is shown, in chars.
const maxPlanItem = 300

// planShown chooses the lines of a plan that fit into room chars, by index.
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

// box returns the check box of a plan item.
func box(status string) string {
	switch status {
	case "completed":
		return "[x] "
	case "in_progress":
		return "[>] "
	}
	return "[ ] "
}

// manyOpen is from how many open problems their number is shown, because not all of them may get a line.
const manyOpen = 12

// open adds the unresolved problems, newest first: one line each, then more of each error. They share the limit of Now, so
// that many of them leave room for the conversation.
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
				f := shows("Open: " + w.errorLine(e, []detail{terse, full, full}[level]))
				if level == 2 {
					f.Text += w.moreErrors(e.Result, 1500)
				}
				return f
			},
		})
	}
}

// errorLine returns a failure in one line: the call, its status and its error.
func (w *writer) errorLine(e *fold.Problem, v detail) string {
	row := w.row(e.Call)
	a := w.action(e.Call)
	label := w.label(e.Call, v.cmd)
	if len(a.Files) > 0 && !strings.Contains(label, "`") {
		label += " " + w.paths(a.Files, v.cmd)
	}
	said, all := w.wrong(e.Result, v)
	if !all {
		said += " " + mark.New(w.id(e.Result), "output, "+bytesText(w.row(e.Result).Size()))
	}
	return fmt.Sprintf("#%d %s%s: %s\n", row.Record(), label, w.status(e.Result), said)
}

// mostErrors is how many error lines of one open problem are shown.
const mostErrors = 40

// moreErrors quotes the error lines that do not fit into the line of an open problem.
func (w *writer) moreErrors(i int32, room int) string {
	if w.row(i).Has(fold.Rejected) {
		return ""
	}
	said, _ := w.wrong(i, full)
	lines, _ := w.errorLines(i, mostErrors, false)
	more := ""
	for _, line := range lines {
		if q := mark.Quote("  ", lexicon.Head(line, 2*full.err)); !strings.Contains(said, mark.Inline(line, full.err)) && lexicon.Chars(more)+lexicon.Chars(q) <= room {
			more += q
		}
	}
	return more
}
