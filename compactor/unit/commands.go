package unit

import (
	"fmt"
	"regexp"
	"strings"

	"ccd/compactor/fold"
	"ccd/compactor/lexicon"
	"ccd/compactor/plan"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// How much of a command is shown, with little room and with more.
const (
	shortCommand = 110
	longCommand  = 200
	maxOutcome   = 200 // chars shown of the line with the outcome
	mustRun      = 8   // newest runs that get a line before anything else competes
)

// commands adds the distinct commands, newest first, with their last status and outcome.
func (w *writer) commands() {
	if !w.o.On("commands") {
		return
	}
	all := w.f.Commands()
	runs, looks := 0, 0
	for n, c := range all {
		row := w.row(c.Row)
		if row.Gone() || w.holds(int(row.Rec)) {
			continue
		}
		u := &plan.Unit{Section: Commands, Order: n}
		if c.LookUp {
			u.Worth = []float64{worthLook * fresh(looks)}
			looks++
		} else {
			u.Kind, u.Must = "commands", runs < mustRun
			u.Worth = []float64{(worthRun + 2) * fresh(runs), worthRun * fresh(runs)}
			runs++
		}
		most := longCommand
		if strings.Contains(c.Text, "<<") { // more of a truncated script adds nothing
			most = shortCommand
		}
		u.Form = func(level int) plan.Form {
			line := "- " + w.command(c, []int{shortCommand, most}[level], level > 0 && !w.spent()) + "\n"
			return shows(line)
		}
		w.add(u)
	}
	if n := w.f.CommandsForgotten(); n > 0 {
		w.add(&plan.Unit{Section: Commands, Order: len(all), Worth: []float64{worthRun}, Form: func(int) plan.Form {
			return plan.Form{Text: forgotten(n, "commands")}
		}})
	}
}

// command returns a command with its status, and its directory if that is not the working directory; told adds the outcome.
func (w *writer) command(c *fold.Command, most int, told bool) string {
	var b strings.Builder
	same := transcript.NormalizeRun(c.Dir, c.Text)
	fmt.Fprintf(&b, "#%d %s", w.row(c.Row).Record(), code(same.Command, most))
	if same.Dir != "" && !transcript.SamePath(same.Dir, w.f.Root()) {
		b.WriteString(" in " + code(w.short(same.Dir), 100))
	}
	result := w.row(c.Row).Pair
	switch {
	case c.Ended:
		fmt.Fprintf(&b, " -> %d", c.Exit)
	case c.Stopped:
		b.WriteString(" (stopped)")
	case result >= 0 && w.row(c.Row).Has(fold.Rejected):
		fmt.Fprintf(&b, " -> refused by the human (#%d)", w.row(result).Record())
	case result >= 0 && w.row(result).Has(fold.Failed|fold.Rejected):
		b.WriteString(w.status(result))
	case c.Pending:
		b.WriteString(" (no result yet)")
	}
	if same.Filtered || masked.MatchString(c.Text) {
		b.WriteString(" (status of the last part)")
	}
	if c.HadOther {
		fmt.Fprintf(&b, " (was %d at #%d)", c.Other, w.row(c.OtherRow).Record())
	} else if c.Runs > 2 {
		fmt.Fprintf(&b, " (%dx)", c.Runs)
	}
	if told && result >= 0 && w.row(result).Kind == transcript.Result {
		out := w.outcome(result) // for a background command, only its beginning
		if line := w.outcomeLine(result); line != "" && !out.Running {
			b.WriteString(": " + code(line, maxOutcome))
		}
		if out.Text != "" {
			fmt.Fprintf(&b, " (result #%d)", w.row(result).Record())
		}
	}
	return b.String()
}

// masked matches lines whose status is not that of the work, because they end with something that always succeeds.
var masked = regexp.MustCompile(`\|\| *(?:true|:|echo\b[^|&;]*)(?: |$)|; *(?:true|echo\b[^|&;]*)$`)

// lineKey is the key of outcomeLine.
type lineKey struct{ failed bool }

// outcomeLine returns the line of an output that shows the outcome: the error of a failure, else a commit, a push, the
// summary line, or the only line.
func (w *writer) outcomeLine(i int32) string {
	failed := w.row(i).Has(fold.Failed)
	return derive(w.Source, i, lineKey{failed}, func([]byte) string {
		if failed {
			if lines, _ := w.errorLines(i, 1, false); len(lines) > 0 {
				return lines[0]
			}
		}
		return resultLine(w.outcome(i).Text, failed)
	})
}

// resultLine returns the line of an output without error lines.
func resultLine(text string, failed bool) string {
	if all := matches(gitCommit, text, "["); all != nil {
		return all[0][0]
	}
	if s := lexicon.SummaryLine(text); s != "" {
		return s
	}
	lines := lexicon.LastLines(text, 3)
	for _, l := range lines {
		if gitPush.MatchString(l) {
			return strings.TrimSpace(l)
		}
	}
	if n := len(lines); n == 1 || failed && n > 0 {
		return strings.TrimSpace(lines[n-1])
	}
	return ""
}

// forgotten returns the line for the entries that a table dropped, which the ranges still cover.
func forgotten(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("- before them %d more %s, under the ranges below\n", n, what)
}

// maxResolved is how many failures are looked at.
const maxResolved = 200

// resolved adds the failures that were resolved later, newest first: the call and its error. It does not repeat the error of
// an open problem or of a newer failure, and skips look-ups that found nothing.
func (w *writer) resolved() {
	if !w.o.On("errors") {
		return
	}
	seen := map[string]bool{}
	from, to := w.f.Rows()
	n := 0
	for i := to - 1; i >= from && n < maxResolved; i-- {
		row := w.row(i)
		if row.Kind != transcript.Result || !row.Has(fold.Failed) || row.Has(fold.Side|fold.Rejected|fold.Looks) || row.Pair < 0 || w.f.IsOpen(i) || w.holds(int(row.Rec)) ||
			row.Op == transcript.Read || row.Op == transcript.Search {
			continue
		}
		newer := n
		n++
		u := &plan.Unit{Section: Problems, Order: newer, Kind: "errors", Worth: []float64{worthResolved * fresh(newer), worthResolved / 2 * fresh(newer)}}
		said := map[int]string{}
		u.Form = func(level int) plan.Form {
			v := []detail{terse, full}[level]
			if _, ok := said[0]; !ok && w.spent() {
				return plan.Form{}
			} else if !ok {
				said[0] = w.unsaid(i, terse, seen)
			}
			what := said[0]
			if what == "" {
				return plan.Form{}
			}
			if level > 0 {
				what, _ = w.wrong(i, v)
			}
			line := fmt.Sprintf("- #%d %s%s: %s%s\n", w.row(row.Pair).Record(), w.label(row.Pair, []int{40, 120}[level]), w.status(i), what, w.resolvedBy(i))
			return shows(line)
		}
		w.add(u)
	}
}

// resolvedBy names the record that resolved a failure, "" if unknown.
func (w *writer) resolvedBy(result int32) string {
	if by := w.f.ResolvedBy(result); by >= 0 && !w.row(by).Gone() {
		return fmt.Sprintf(" (made good by #%d)", w.row(by).Record())
	}
	return ""
}

// unsaid returns the part of a failure's error that no newer failure had, and adds it to seen.
func (w *writer) unsaid(i int32, v detail, seen map[string]bool) string {
	lines, _ := w.errorLines(i, 2*v.errors, false)
	if len(lines) == 0 {
		lines = lexicon.LastLines(w.outcome(i).Text, 1)
	}
	var left []string
	for _, l := range lines {
		if key := numberless(l); len(left) < v.errors && !seen[key] {
			seen[key] = true
			left = append(left, l)
		}
	}
	return faults(left, 0, "", v)
}

// numberless returns a line without its numbers, because lines that differ only in numbers are repetitions.
func numberless(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, mark.Inline(s, 0))
}
