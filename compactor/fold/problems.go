package fold

import (
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// A problem is a run that failed, or a change of a file that failed. It is made good by a success of the same command,
// by a change of the same file, or by successes of the goals that it had. It is dropped with the file that it was to
// change. What only looks is no problem: its failure is an answer.

// Problem is a failure that nothing has made good yet, by its rows.
type Problem struct {
	Call   int32
	Result int32 // that tells of the failure
}

// problem is a Problem with what may make it good.
type problem struct {
	Problem
	goals []goal // that are not made good; none where only its own command does it
	path  string // of the file that it was to change, "" for a run
}

// closeOrOpen keeps the list of problems. A status that is a filter's proves nothing where the output speaks of errors.
func (t *tables) closeOrOpen(i int32, p *call, row *Row, out *transcript.Outcome) {
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
		if !row.Has(ErrorLines) || p.action.Op != transcript.Command || !transcript.Same("", p.action.Command).Filtered {
			t.close(fault, i)
		}
		t.madeGood(r, row.Has(ErrorLines), i)
	case p.action.Op == transcript.Read || p.action.Op == transcript.Search, transcript.NotCalled(out.Text):
	case !r.answers(row, out.Text):
		t.open(fault, r, path, Problem{Call: call, Result: i})
	}
}

// answers reports whether a status other than 0 is an answer, not a problem: of a look-up, of a comparison that finds a
// difference, of a condition that the rest of the line waits for and that says nothing, of a program that is not there.
func (r *run) answers(row *Row, text string) bool {
	if r.lookUp || row.Has(Exits) && row.Exit == notFound {
		return true
	}
	if !row.Has(Exits) || row.Exit != 1 || row.Has(ErrorLines) {
		return false
	}
	return r.compares || r.guarded && strings.TrimSpace(text) == ""
}

// notFound is the exit status of a shell that finds no such program.
const notFound = 127

// close drops a problem that a result makes good.
func (t *tables) close(fault uint64, by int32) {
	if p := t.problems.get(fault); p != nil {
		*t.mended.touch(p.Result) = by
		t.problems.remove(fault)
	}
}

// open takes a problem in; one of the same call, or of the same command, is no longer told.
func (t *tables) open(fault uint64, r run, path string, p Problem) {
	*t.problems.touch(fault) = problem{Problem: p, goals: slices.Clone(r.goals), path: clip(path, maxPath)}
}

// madeGood closes the problems whose goals a success has reached, and takes the goals that it has reached off the others.
func (t *tables) madeGood(r run, speaksOfErrors bool, by int32) {
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

// dropped closes the problems of files that were deleted: the one named, and those below it.
func (t *tables) dropped(path string) {
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
