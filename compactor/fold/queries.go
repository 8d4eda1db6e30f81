package fold

import (
	"slices"
	"time"

	"ccd/compactor/limits"
	"ccd/internal/transcript"
)

// The queries below change nothing. What they return by pointer belongs to the fold: it is not to be changed, and holds
// until the next record is added.

// Options returns the options that the fold was made with.
func (f *Fold) Options() limits.Options { return f.o }

// Session returns the session that the fold was made for.
func (f *Fold) Session() transcript.Session { return f.session }

// Row returns the row of item i. Of one that is gone only its record is left, in a place that the next call may use
// again.
func (f *Fold) Row(i int32) *Row { return f.rows.at(int(i)) }

// Rows returns the rows that are still there, [from, to). Some before from may be there too, because a table names
// them.
func (f *Fold) Rows() (from, to int32) { return int32(f.rows.from), int32(f.rows.n) }

// Records returns the records whose rows are still there, [from, to). They count from 0.
func (f *Fold) Records() (from, to int) { return f.records.from, f.records.n }

// Time is a record's time, zero where it has none; of one that is gone, that of the first record of its block.
func (f *Fold) Time(rec int) time.Time { return f.records.at(rec).time() }

// Milli is Time as Unix milliseconds, 0 where the record has none.
func (f *Fold) Milli(rec int) int64 { return f.records.at(rec).milli() }

// Tool is the name of a row's tool as the agent gives it, "tool" where none is known.
func (f *Fold) Tool(r *Row) string { return f.names.name(r.Tool) }

// Client tells how the client speaks that wrote the session.
func (f *Fold) Client() *transcript.Client { return f.client }

// Root is the session's first working directory, from which paths are told; "" where none is known.
func (f *Fold) Root() string { return f.root }

// Humans returns the places of the human messages: n of them so far, of which those in [from, n) are known, and a few
// of the first ones. Human gives their rows.
func (f *Fold) Humans() (from, n int) { return f.humans.from, f.humans.n }

// Human is the row of the human message at place n, -1 where it is gone or there is none.
func (f *Fold) Human(n int) int32 {
	if n < 0 || n >= f.humans.n {
		return -1
	}
	return *f.humans.at(n)
}

// Given is the row of the first text that a session without human messages was given, -1 where there is none.
func (f *Fold) Given() int32 { return f.given }

// LastText is the row of the newest assistant text, -1 where there is none.
func (f *Fold) LastText() int32 { return f.lastRow }

// Files returns the files that the session touched, the one touched last first.
func (f *Fold) Files() []*File { return f.tables.files.newestFirst() }

// File returns what is known of a file, nil where nothing is. The path is absolute as far as that is known.
func (f *Fold) File(path string) *File { return f.tables.files.get(hashPath(path)) }

// FilesForgotten is the number of files that had to go for newer ones.
func (f *Fold) FilesForgotten() int { return f.tables.files.evicted }

// Commands returns the distinct commands of the session, the one that ran last first.
func (f *Fold) Commands() []*Command { return f.tables.commands.newestFirst() }

// CommandsForgotten is the number of commands that had to go for newer ones.
func (f *Fold) CommandsForgotten() int { return f.tables.commands.evicted }

// Problems returns the failures that nothing has made good, the newest first.
func (f *Fold) Problems() []*Problem {
	all := make([]*Problem, 0, f.tables.problems.len())
	for e := f.tables.problems.newest; e != nil; e = e.older {
		all = append(all, &e.value.Problem)
	}
	return all
}

// IsOpen reports whether a failed result is one that nothing has made good.
func (f *Fold) IsOpen(result int32) bool {
	for e := f.tables.problems.newest; e != nil; e = e.older {
		if e.value.Result == result {
			return true
		}
	}
	return false
}

// MendedBy is the row of the result that made a failed result good, -1 where that is not known.
func (f *Fold) MendedBy(result int32) int32 {
	if by := f.tables.mended.get(result); by != nil {
		return *by
	}
	return -1
}

// Agents returns the sub-agents, the one started or heard of last first.
func (f *Fold) Agents() []*Agent { return f.tables.agents.newestFirst() }

// Plan returns the plan as it stands, in order, and the row of the last call that changed it, -1 where none did.
func (f *Fold) Plan() (items []PlanItem, row int32) {
	return slices.Clone(f.tables.plan), f.tables.planRow
}

// Job is a command that goes on in the background.
type Job struct {
	Row  int32  // of its call
	Name string // as later calls name it
}

// Jobs returns the commands in the background that have not ended as far as told, the one started last first.
func (f *Fold) Jobs() []Job {
	var all []Job
	for e := f.tables.jobs.newest; e != nil; e = e.older {
		if !e.value.over {
			all = append(all, Job{Row: e.value.row, Name: e.key})
		}
	}
	return all
}
