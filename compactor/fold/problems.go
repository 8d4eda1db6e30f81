package fold

import (
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// A problem is a failed run or a failed change of a file. A success of the same command, a change of the same file, or
// successes of all its goals resolve it. It is dropped if its file is deleted. A failed look-up is an answer, not a problem.

// Problem is an unresolved failure, by its rows.
type Problem struct {
	Call   int32
	Result int32 // the result that reports the failure
}

// problem is a Problem with what can resolve it.
type problem struct {
	Problem
	goals []goal // unresolved goals; none if only its own command can resolve it
	path  string // the file that it should have changed, "" for a run
}

// updateProblems updates the problems. The exit status of a filter proves nothing if the output has error lines.
func (t *tables) updateProblems(i int32, p *call, row *Row, out *transcript.Outcome) {
	fault, call, r, path := p.fault, p.row, p.run, ""
	if j := t.jobs.get(p.action.Job); j != nil && p.action.Stdin {
		fault, call, r = j.key, j.row, j.run
	}
	if p.action.Op != transcript.Command && len(p.action.Files) > 0 {
		path = p.action.Files[0].Path
	}
	switch {
	case row.Has(Rejected) || out.Running:
	case !row.Has(Failed):
		if !row.Has(ErrorLines) || p.action.Op != transcript.Command || !transcript.NormalizeRun("", p.action.Command).Filtered {
			t.close(fault, i)
		}
		t.closeGoals(r, row.Has(ErrorLines), i)
	case p.action.Op == transcript.Read || p.action.Op == transcript.Search, transcript.NotCalled(out.Text):
	case !r.answers(row, out.Text):
		t.open(fault, r, path, Problem{Call: call, Result: i})
	}
}

// answers reports whether a non-zero status is an answer and not a problem: of a look-up, of a comparison that found a
// difference, of a silent condition that the rest of the line depends on, or of a missing program.
func (r *run) answers(row *Row, text string) bool {
	if r.lookUp || row.Has(Exits) && row.Exit == notFound {
		return true
	}
	if !row.Has(Exits) || row.Exit != 1 || row.Has(ErrorLines) {
		return false
	}
	return r.compares || r.guarded && strings.TrimSpace(text) == ""
}

// notFound is the exit status of a shell that cannot find a program.
const notFound = 127

// close drops a problem that a result resolves.
func (t *tables) close(fault uint64, by int32) {
	if p := t.problems.get(fault); p != nil {
		*t.resolved.touch(p.Result) = by
		t.problems.remove(fault)
	}
}

// open adds a problem in place of one with the same call or command.
func (t *tables) open(fault uint64, r run, path string, p Problem) {
	*t.problems.touch(fault) = problem{Problem: p, goals: slices.Clone(r.goals), path: clip(path, maxPath)}
}

// closeGoals removes the goals that a success covers from all problems, and closes problems without goals left.
func (t *tables) closeGoals(r run, speaksOfErrors bool, by int32) {
	for n := range r.goals {
		g := &r.goals[n]
		if !g.proved || g.piped && speaksOfErrors {
			continue
		}
		for e := t.problems.newest; e != nil; {
			p, older := &e.value, e.older
			if len(p.goals) > 0 {
				p.goals = slices.DeleteFunc(p.goals, func(failed goal) bool { return g.covers(&failed) })
				if len(p.goals) == 0 {
					t.close(e.key, by)
				}
			}
			e = older
		}
	}
}

// dropProblems closes the problems of a deleted path and of the files below it.
func (t *tables) dropProblems(path string) {
	for e := t.problems.newest; e != nil; {
		older := e.older
		if p := e.value.path; p != "" {
			if _, below := transcript.Below(p, path); below || transcript.SamePath(p, path) {
				t.problems.remove(e.key)
			}
		}
		e = older
	}
}
