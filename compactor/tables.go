package compactor

import (
	"math"

	"ccd/internal/transcript"
)

// The tables of what State tells are capped; what goes first was touched longest ago.
const (
	maxCalls    = 1024 // calls that wait for their result
	maxFiles    = 4096
	maxCommands = 1024
	maxErrors   = 256
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
	fault  uint64 // of the error that it is if it fails, and that a later success closes
}

// job is a command that goes on in the background.
type job struct {
	row int32 // of its call
	key uint64
}

// commandState is what a command did when it last ran.
type commandState struct {
	text     string
	dir      string // where it ran, "" where not told
	row      int32  // of the last call
	exit     int16
	ended    bool // exit is known
	pending  bool // no result yet
	stopped  bool // the agent ended it
	runs     int
	other    int16 // the newest exit status before that differed
	otherRow int32 // of its call
	hadOther bool
}

// openError is a failure that nothing has made good yet.
type openError struct{ call, result int32 }

// agentState is a sub-agent: how it was started and what it reported.
type agentState struct {
	id     string
	task   string
	call   int32 // -1 where not seen
	report int32 // row of its report, -1 while there is none
}

// planItem is one line of the plan as it stands.
type planItem struct {
	key, text, status string
	row               int32 // of the call that made it
}

type tables struct {
	followed int // files that moves of directories were followed for
	files    *table[uint64, fileState]
	commands *table[uint64, commandState]
	errors   *table[uint64, openError]
	agents   *table[string, agentState]
	jobs     *table[string, job]
	terms    *table[uint64, termState]
	plan     []planItem
	planRow  int32      // of the last call that changed the plan, -1
	oldPlan  []planItem // what it replaced, while its result is not known
	oldRow   int32      // of the last call before it
	changes  int        // reads and changes of files so far
	doubtDir string     // the directory below which all files were last put in doubt
	doubtAt  int        // changes by then
}

func newTables() tables {
	return tables{
		files:    newTable[uint64, fileState](maxFiles),
		commands: newTable[uint64, commandState](maxCommands),
		errors:   newTable[uint64, openError](maxErrors),
		agents:   newTable[string, agentState](maxAgents),
		jobs:     newTable[string, job](maxJobs),
		terms:    newTable[uint64, termState](maxTerms),
		planRow:  -1, oldRow: -1,
	}
}

func (t *tables) bytes() int64 {
	return int64(t.files.len())*400 + int64(t.jobs.len())*100 + int64(t.commands.len())*400 + int64(t.errors.len())*64 + int64(t.agents.len())*400 +
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
		each(e.value.changed, e.value.touched, e.value.read, e.value.base.row)
		for _, s := range e.value.replay {
			yield(s.row)
		}
	}
	for e := t.jobs.newest; e != nil; e = e.older {
		yield(e.value.row)
	}
	for e := t.commands.newest; e != nil; e = e.older {
		each(e.value.row, e.value.otherRow)
	}
	for e := t.errors.newest; e != nil; e = e.older {
		each(e.value.call, e.value.result)
	}
	for e := t.agents.newest; e != nil; e = e.older {
		each(e.value.call, e.value.report)
	}
	for e := t.terms.newest; e != nil; e = e.older {
		each(e.value.first, e.value.last)
	}
	each(t.planRow, t.oldRow)
}

func (t *tables) agentIDs() []string {
	var ids []string
	for e := t.agents.oldest; e != nil; e = e.newer {
		if e.value.id != "" {
			ids = append(ids, e.value.id)
		}
	}
	return ids
}

// addCall understands a call and remembers what its result will be about.
func (c *Compactor) addCall(i int32, it *transcript.Item) {
	row := c.rows.at(int(i))
	row.tool = c.names.number(it.Tool)
	a := transcript.Understand(it.Tool, it.Raw)
	a.Resolve(c.status.Cwd)
	row.op = a.Op
	pending := call{row: i, action: a, key: subjectOf(it.Tool, &a)}
	pending.fault = faultOf(&a, pending.key)
	row.subject = uint32(pending.key)
	if len(a.Command) > maxPending {
		pending.action.Command = ""
	}
	if row.has(side) {
		pending.action.Files, pending.action.Plan = nil, nil
	} else {
		c.tables.called(row, &pending, &a)
	}
	if a.Replace {
		pending.action.Plan = nil
	}
	if it.Call != "" {
		*c.calls.touch(clip(it.Call, maxName)) = pending
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

// faultOf names the error that a call is if it fails: of a file, whether it was to be read or changed.
func faultOf(a *transcript.Action, key uint64) uint64 {
	if a.Op == transcript.Command || len(a.Files) == 0 {
		return key
	}
	return fileFault(&a.Files[0])
}

func readFault(path string) uint64   { return hashOf("read", transcript.PathKey(path)) }
func changeFault(path string) uint64 { return hashOf("change", transcript.PathKey(path)) }

func fileFault(ch *transcript.FileChange) uint64 {
	if ch.Op == transcript.Read {
		return readFault(ch.Path)
	}
	return changeFault(ch.Path)
}

// called takes what a call tells before its result is known. What a plain command does to files is known by its result
// alone.
func (t *tables) called(row *itemRow, p *call, a *transcript.Action) {
	for n, ch := range a.Files {
		if a.Op == transcript.Command {
			break
		}
		f := t.file(ch.Path, p.row)
		if n == 0 {
			row.edits = uint16(min(f.edits, math.MaxUint16))
		}
		switch ch.Op {
		case transcript.Read:
			if a.Lines != [2]int{} {
				row.flags |= partial
			}
		case transcript.Write, transcript.Edit, transcript.Delete, transcript.Rename:
			f.tried++
		}
	}
	switch a.Op {
	case transcript.Command:
		t.ran(p, a)
	case transcript.Plan:
		t.planned(p.row, a)
	case transcript.Agent:
		g := t.agents.touch(agentKey(p.row))
		*g = agentState{task: clip(a.Query, maxText), call: p.row, report: -1}
	}
}

func (t *tables) ran(p *call, a *transcript.Action) {
	if a.Stdin || a.Command == "" {
		return
	}
	s := t.commands.touch(p.key)
	if s.runs > 0 && s.ended {
		s.other, s.otherRow, s.hadOther = s.exit, s.row, true
	}
	s.text, s.dir = clip(a.Command, maxCommand), clip(a.Dir, maxCommand)
	s.row, s.ended, s.pending, s.stopped = p.row, false, true, false
	s.runs++
}

func agentKey(i int32) string {
	return "row " + string([]byte{byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)})
}

// plainCommand is a command without what changes neither its meaning nor its status.
func plainCommand(cmd string) string { return transcript.Same("", cmd).Command }
