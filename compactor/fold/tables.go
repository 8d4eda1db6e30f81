package fold

import (
	"math"

	"ccd/internal/transcript"
)

// The tables are capped; what goes first was touched longest ago.
const (
	maxCalls    = 1024 // calls that wait for their result
	maxFiles    = 4096
	maxCommands = 1024
	maxProblems = 256
	maxMended   = 256
	maxPlan     = 200
	maxAgents   = 256
	maxJobs     = 256
	maxPending  = 4096 // bytes kept of a command that waits for its result; a longer one is not looked at again
	maxPath     = 1024 // bytes; a longer one is cut and told apart by its hash
	maxCommand  = 400  // bytes kept of a command
	maxText     = 300  // bytes kept of a plan item or a task
	maxEdits    = 32   // edits kept for replaying a file's content
)

// call is a tool call that waits for its result.
type call struct {
	row    int32
	action transcript.Action
	key    uint64 // of its subject
	fault  uint64 // of the problem that it is if it fails, and that a later success closes
	run    run    // of a command
}

// job is a command that goes on in the background.
type job struct {
	row  int32 // of its call
	key  uint64
	run  run  // what it runs
	over bool // it has ended
}

// Command is what a command did when it last ran.
type Command struct {
	Text     string
	Dir      string // where it ran, "" where not told
	Row      int32  // of the last call
	Exit     int16
	Ended    bool // exit is known
	Pending  bool // no result yet
	Stopped  bool // the agent ended it
	Runs     int
	Other    int16 // the newest exit status before that differed
	OtherRow int32 // of its call
	HadOther bool
}

// Agent is a sub-agent: how it was started and what it reported.
type Agent struct {
	ID     string
	Task   string
	Call   int32 // -1 where not seen
	Report int32 // row of its report, -1 while there is none
}

// PlanItem is one line of the plan as it stands.
type PlanItem struct {
	Key, Text, Status string
	Row               int32 // of the call that made it
}

type tables struct {
	followed int // files that moves of directories were followed for
	files    *table[uint64, File]
	commands *table[uint64, Command]
	problems *table[uint64, problem]
	mended   *table[int32, int32] // by the row of a failed result: the one that made it good
	agents   *table[string, Agent]
	jobs     *table[string, job]
	terms    *table[uint64, termState]
	plan     []PlanItem
	planRow  int32      // of the last call that changed the plan, -1
	oldPlan  []PlanItem // what it replaced, while its result is not known
	oldRow   int32      // of the last call before it
	changes  int        // reads and changes of files so far
	doubtDir string     // the directory below which all files were last put in doubt
	doubtAt  int        // changes by then
}

func newTables() tables {
	return tables{
		files:    newTable[uint64, File](maxFiles),
		commands: newTable[uint64, Command](maxCommands),
		problems: newTable[uint64, problem](maxProblems),
		mended:   newTable[int32, int32](maxMended),
		agents:   newTable[string, Agent](maxAgents),
		jobs:     newTable[string, job](maxJobs),
		terms:    newTable[uint64, termState](maxTerms),
		planRow:  -1, oldRow: -1,
	}
}

func (t *tables) bytes() int64 {
	return int64(t.files.len())*400 + int64(t.jobs.len())*500 + int64(t.commands.len())*400 + int64(t.problems.len())*500 + int64(t.agents.len())*400 +
		int64(t.terms.len())*100 +
		int64(len(t.plan)+len(t.oldPlan))*300
}

// rowsTold gives the rows that the tables name; -1 among them. All others may become past.
func (t *tables) rowsTold(yield func(int32)) {
	each := func(rows ...int32) {
		for _, i := range rows {
			yield(i)
		}
	}
	for e := t.files.newest; e != nil; e = e.older {
		each(e.value.Changed, e.value.Touched, e.value.Read, e.value.Base.Row)
		for _, s := range e.value.Replay {
			yield(s.Row)
		}
	}
	for e := t.jobs.newest; e != nil; e = e.older {
		yield(e.value.row)
	}
	for e := t.commands.newest; e != nil; e = e.older {
		each(e.value.Row, e.value.OtherRow)
	}
	for e := t.problems.newest; e != nil; e = e.older {
		each(e.value.Call, e.value.Result)
	}
	for e := t.agents.newest; e != nil; e = e.older {
		each(e.value.Call, e.value.Report)
	}
	for e := t.terms.newest; e != nil; e = e.older {
		each(e.value.first, e.value.last)
	}
	each(t.planRow, t.oldRow)
}

func (t *tables) agentIDs() []string {
	var ids []string
	for e := t.agents.oldest; e != nil; e = e.newer {
		if e.value.ID != "" {
			ids = append(ids, e.value.ID)
		}
	}
	return ids
}

// addCall understands a call and remembers what its result will be about.
func (f *Fold) addCall(i int32, it *transcript.Item) {
	row := f.rows.at(int(i))
	row.Tool = f.names.number(it.Tool)
	a := it.Understand()
	a.Resolve(f.status.Cwd)
	row.Op = a.Op
	pending := call{row: i, action: a, key: subjectOf(it.Tool, &a)}
	pending.fault, pending.run = faultOf(&a, pending.key), runOf(&a)
	row.Subject = uint32(pending.key)
	if len(a.Command) > maxPending {
		pending.action.Command = ""
	}
	if row.Has(Side) {
		pending.action.Files, pending.action.Plan = nil, nil
	} else {
		f.tables.called(row, &pending, &a)
	}
	if a.Replace {
		pending.action.Plan = nil
	}
	if it.Call != "" {
		*f.calls.touch(clip(it.Call, maxName)) = pending
	}
}

// subjectOf names what a call is about: two calls of one subject do the same thing again. Paths are as resolved.
func subjectOf(tool string, a *transcript.Action) uint64 {
	switch {
	case a.Op == transcript.Command && a.Command != "" && !a.Stdin:
		same := transcript.Same(a.Dir, a.Command)
		return hashOf("command", same.Dir, same.Command)
	case len(a.Files) > 0:
		return hashPath(a.Files[0].Path)
	case a.Query != "":
		return hashOf(tool, a.Query)
	}
	return hashOf(tool)
}

// faultOf names the problem that a call is if it fails: of a file, that it cannot be changed.
func faultOf(a *transcript.Action, key uint64) uint64 {
	if a.Op == transcript.Command || a.Op == transcript.Read || len(a.Files) == 0 {
		return key
	}
	return changeFault(a.Files[0].Path)
}

func changeFault(path string) uint64 { return hashOf("change", transcript.PathKey(path)) }

// called takes what a call tells before its result is known. What a plain command does to files is known by its result
// alone.
func (t *tables) called(row *Row, p *call, a *transcript.Action) {
	for n, ch := range a.Files {
		if a.Op == transcript.Command {
			break
		}
		f := t.file(ch.Path, p.row)
		if n == 0 {
			row.Edits = uint16(min(f.Edits, math.MaxUint16))
		}
		switch ch.Op {
		case transcript.Read:
			if a.Lines != [2]int{} {
				row.Flags |= Partial
			}
		case transcript.Write, transcript.Edit, transcript.Delete, transcript.Rename:
			f.Tried++
		}
	}
	switch a.Op {
	case transcript.Command:
		t.ran(p, a)
	case transcript.Plan:
		t.planned(p.row, a)
	case transcript.Agent:
		g := t.agents.touch(agentKey(p.row))
		*g = Agent{Task: clip(a.Query, maxText), Call: p.row, Report: -1}
	}
}

func (t *tables) ran(p *call, a *transcript.Action) {
	if a.Stdin || a.Command == "" {
		return
	}
	s := t.commands.touch(p.key)
	if s.Runs > 0 && s.Ended {
		s.Other, s.OtherRow, s.HadOther = s.Exit, s.Row, true
	}
	s.Text, s.Dir = clip(a.Command, maxCommand), clip(a.Dir, maxCommand)
	s.Row, s.Ended, s.Pending, s.Stopped = p.row, false, true, false
	s.Runs++
}

func agentKey(i int32) string {
	return "row " + string([]byte{byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)})
}

// PlainCommand is a command without what changes neither its meaning nor its status.
func PlainCommand(cmd string) string { return transcript.Same("", cmd).Command }
