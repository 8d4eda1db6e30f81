package fold

import (
	"slices"
	"time"

	"ccd/compactor/limits"
	"ccd/internal/transcript"
)

// The queries below change nothing. The pointers that they return must not be written through, and are valid until the next
// record is added.

// Options returns the options that the fold was made with.
func (f *Fold) Options() limits.Options { return f.o }

// Session returns the session that the fold was made for.
func (f *Fold) Session() transcript.Session { return f.session }

// Row returns the row of item i. For a dropped item it returns only the record, in a row that the next call may overwrite.
func (f *Fold) Row(i int32) *Row { return f.rows.at(int(i)) }

// Rows returns the rows that are kept, [from, to). Some before from may be kept too, because a table refers to
// them.
func (f *Fold) Rows() (from, to int32) { return int32(f.rows.from), int32(f.rows.n) }

// Records returns the records whose rows are kept, [from, to), counted from 0.
func (f *Fold) Records() (from, to int) { return f.records.from, f.records.n }

// Time returns a record's time, zero if it has none. For a dropped record it is the time of its block's first record.
func (f *Fold) Time(rec int) time.Time {
	if m := f.Milli(rec); m != 0 {
		return time.UnixMilli(m).UTC()
	}
	return time.Time{}
}

// Milli returns Time as Unix milliseconds, 0 if the record has none.
func (f *Fold) Milli(rec int) int64 { return f.records.at(rec).milli }

// Tool returns the agent's name for a row's tool, "tool" if unknown.
func (f *Fold) Tool(r *Row) string { return f.names.name(r.Tool) }

// Client returns the description of the client that wrote the session.
func (f *Fold) Client() *transcript.Client { return f.client }

// Root returns the session's first working directory, relative to which paths are shown; "" if unknown.
func (f *Fold) Root() string { return f.root }

// Humans returns how many human messages there are (n) and from which index on their rows are kept; a few of the first ones
// are kept, too. Human returns their rows.
func (f *Fold) Humans() (from, n int) { return f.humans.from, f.humans.n }

// Human returns the row of the human message with index n, -1 if it was dropped or does not exist.
func (f *Fold) Human(n int) int32 {
	if n < 0 || n >= f.humans.n {
		return -1
	}
	return *f.humans.at(n)
}

// Given returns the row of the first text given to a session without human messages, -1 if there is none.
func (f *Fold) Given() int32 { return f.given }

// LastText returns the row of the newest assistant text, -1 if there is none.
func (f *Fold) LastText() int32 { return f.lastRow }

// Files returns the files that the session touched, most recently touched first.
func (f *Fold) Files() []*File { return f.tables.files.newestFirst() }

// File returns what is known of a file, nil if nothing. The path is absolute as far as that is known.
func (f *Fold) File(path string) *File { return f.tables.files.get(hashPath(path)) }

// FilesForgotten returns how many files were dropped in favour of newer ones.
func (f *Fold) FilesForgotten() int { return f.tables.files.evicted }

// Commands returns the distinct commands of the session, most recently run first.
func (f *Fold) Commands() []*Command { return f.tables.commands.newestFirst() }

// CommandsForgotten returns how many commands were dropped in favour of newer ones.
func (f *Fold) CommandsForgotten() int { return f.tables.commands.evicted }

// Problems returns the unresolved failures, newest first.
func (f *Fold) Problems() []*Problem {
	all := make([]*Problem, 0, f.tables.problems.len())
	for e := f.tables.problems.newest; e != nil; e = e.older {
		all = append(all, &e.value.Problem)
	}
	return all
}

// IsOpen reports whether a failed result is unresolved.
func (f *Fold) IsOpen(result int32) bool {
	for e := f.tables.problems.newest; e != nil; e = e.older {
		if e.value.Result == result {
			return true
		}
	}
	return false
}

// ResolvedBy returns the row of the result that resolved a failed result, -1 if unknown.
func (f *Fold) ResolvedBy(result int32) int32 {
	if by := f.tables.resolved.get(result); by != nil {
		return *by
	}
	return -1
}

// Agents returns the sub-agents, most recently started or reporting first.
func (f *Fold) Agents() []*Agent { return f.tables.agents.newestFirst() }

// Plan returns the current plan in order, and the row of the last call that changed it, -1 if none did.
func (f *Fold) Plan() (items []PlanItem, row int32) {
	return slices.Clone(f.tables.plan), f.tables.planRow
}

// Job is a command that runs in the background.
type Job struct {
	Row  int32  // row of its call
	Name string // the name by which later calls refer to it
}

// Jobs returns the background commands that are not known to have ended, most recently started first.
func (f *Fold) Jobs() []Job {
	var all []Job
	for e := f.tables.jobs.newest; e != nil; e = e.older {
		if !e.value.over {
			all = append(all, Job{Row: e.value.row, Name: e.key})
		}
	}
	return all
}
