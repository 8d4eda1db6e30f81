package fold

import (
	"math"

	"ccd/internal/transcript"
)

// The tables have maximum sizes and drop the least recently touched entries first.
const (
	maxCalls    = 1024 // calls without a result yet
	maxFiles    = 4096
	maxCommands = 1024
	maxProblems = 256
	maxMended   = 256
	maxPlan     = 200
	maxAgents   = 256
	maxJobs     = 256
	maxPending  = 4096 // bytes; the text of a longer command is not kept until its result, and not analyzed
	maxPath     = 1024 // bytes; a longer one is cut and identified by its hash
	maxCommand  = 400  // bytes kept of a command
	maxText     = 300  // bytes kept of a plan item or a task
	maxEdits    = 32   // edits kept for replaying a file's content
)

// call is a tool call without a result yet.
type call struct {
	row    int32
	action transcript.Action
	key    uint64 // of its subject
	fault  uint64 // key of the problem if it fails, which a later success closes
	run    run    // of a command
}

// job is a command that runs in the background.
type job struct {
	row  int32 // of its call
	key  uint64
	run  run  // what it runs
	over bool // it has ended
}

// Command is a distinct command with its last run.
type Command struct {
	Text     string
	Dir      string // where it ran, "" if unknown
	Row      int32  // of the last call
	Exit     int16
	Ended    bool // exit is known
	Pending  bool // no result yet
	Stopped  bool // the agent ended it
	Runs     int
	Other    int16 // the newest exit status before that differed
	OtherRow int32 // of its call
	HadOther bool
	LookUp   bool // Text only lists, reads, searches or tests for existence
}

// Agent is a sub-agent: how it was started and what it reported.
type Agent struct {
	ID     string
	Task   string
	Call   int32 // -1 if not seen
	Report int32 // row of its report, -1 if there is none yet
}

// PlanItem is one line of the current plan.
type PlanItem struct {
	Key, Text, Status string
	Row               int32 // of the call that made it
}

type tables struct {
	followed int // number of files for which moves of directories were followed
	files    *table[uint64, File]
	commands *table[uint64, Command]
	problems *table[uint64, problem]
	resolved *table[int32, int32] // by the row of a failed result: the row of the one that resolved it
	agents   *table[string, Agent]
	jobs     *table[string, job]
	terms    *table[uint64, termState]
	plan     []PlanItem
	planRow  int32      // of the last call that changed the plan, -1
	oldPlan  []PlanItem // the plan before that call, until its result is known
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
		resolved: newTable[int32, int32](maxMended),
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

// eachRow yields the rows that the tables refer to, and -1 for missing ones. All others may become past.
func (t *tables) eachRow(yield func(int32)) {
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

// addCall analyzes a call and remembers it until its result.
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
		f.tables.applyCall(row, &pending, &a)
	}
	if a.Replace {
		pending.action.Plan = nil
	}
	if it.Call != "" {
		*f.calls.touch(clip(it.Call, maxName)) = pending
	}
}

// subjectOf returns the key of what a call is about: a command in its directory, else its first file, else the tool and its
// query. Paths are resolved.
func subjectOf(tool string, a *transcript.Action) uint64 {
	switch {
	case a.Op == transcript.Command && a.Command != "" && !a.Stdin:
		same := transcript.NormalizeRun(a.Dir, a.Command)
		return hashOf("command", same.Dir, same.Command)
	case len(a.Files) > 0:
		return hashPath(a.Files[0].Path)
	case a.Query != "":
		return hashOf(tool, a.Query)
	}
	return hashOf(tool)
}

// faultOf returns the key of the problem if a call fails. For a change, it is the same for all changes of that file.
func faultOf(a *transcript.Action, key uint64) uint64 {
	if a.Op == transcript.Command || a.Op == transcript.Read || len(a.Files) == 0 {
		return key
	}
	return changeFault(a.Files[0].Path)
}

func changeFault(path string) uint64 { return hashOf("change", transcript.PathKey(path)) }

// applyCall applies what is known of a call before its result. The effect of a shell command on files is known only from its
// result.
func (t *tables) applyCall(row *Row, p *call, a *transcript.Action) {
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
		t.startCommand(p, a)
	case transcript.Plan:
		t.applyPlan(p.row, a)
	case transcript.Agent:
		g := t.agents.touch(agentKey(p.row))
		*g = Agent{Task: clip(a.Query, maxText), Call: p.row, Report: -1}
	}
}

func (t *tables) startCommand(p *call, a *transcript.Action) {
	if a.Stdin || a.Command == "" {
		return
	}
	s := t.commands.touch(p.key)
	if s.Runs > 0 && s.Ended {
		s.Other, s.OtherRow, s.HadOther = s.Exit, s.Row, true
	}
	s.Text, s.Dir, s.LookUp = clip(a.Command, maxCommand), clip(a.Dir, maxCommand), p.run.lookUp
	if len(a.Command) > maxCommand {
		s.LookUp = runOf(&transcript.Action{Op: transcript.Command, Command: s.Text}).lookUp
	}
	s.Row, s.Ended, s.Pending, s.Stopped = p.row, false, true, false
	s.Runs++
}

func agentKey(i int32) string {
	return "row " + string([]byte{byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)})
}
