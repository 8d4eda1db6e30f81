package compactor

import (
	"math"
	"strings"

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
	maxPath     = 1024 // bytes; a longer one is cut and told apart by its hash
	maxCommand  = 400  // bytes kept of a command
	maxText     = 300  // bytes kept of a plan item or a task
	maxEdits    = 32   // edits kept for replaying a file's content
)

// call is a tool call that waits for its result.
type call struct {
	row    int32
	action transcript.Action
	key    uint64 // of what a later success closes
}

// fileState is the net effect of a session on one file.
type fileState struct {
	path    string
	from    string // it was renamed from
	to      string // it was renamed to
	created bool   // by this session, as far as told
	deleted bool
	tried   int    // changes asked for
	edits   uint32 // changes made
	reads   int
	changed int32   // row of the last change's call, -1
	touched int32   // row of the last call that read or changed it
	read    int32   // row of the last read's result, -1
	base    int32   // row that holds its whole content: a write's call or a read's result, -1
	replay  []int32 // calls of the edits since base; nil and lost where too many
	lost    bool    // base and replay no longer give the content
}

// commandState is what a command did when it last ran.
type commandState struct {
	text     string
	dir      string // where it ran, "" where not told
	row      int32  // of the last call
	exit     int16
	ended    bool // exit is known
	pending  bool // no result yet
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
type planItem struct{ key, text, status string }

type tables struct {
	files    *table[uint64, fileState]
	commands *table[uint64, commandState]
	errors   *table[uint64, openError]
	agents   *table[string, agentState]
	terms    *table[uint64, termState]
	plan     []planItem
	planRow  int32 // of the last call that changed the plan, -1
}

func newTables() tables {
	return tables{
		files:    newTable[uint64, fileState](maxFiles),
		commands: newTable[uint64, commandState](maxCommands),
		errors:   newTable[uint64, openError](maxErrors),
		agents:   newTable[string, agentState](maxAgents),
		terms:    newTable[uint64, termState](maxTerms),
		planRow:  -1,
	}
}

func (t *tables) bytes() int64 {
	return int64(t.files.len())*320 + int64(t.commands.len())*400 + int64(t.errors.len())*64 + int64(t.agents.len())*400 +
		int64(t.terms.len())*200 +
		int64(len(t.plan))*300
}

// rowsTold gives the rows that the tables name; -1 among them. All others may become past.
func (t *tables) rowsTold(yield func(int32)) {
	each := func(rows ...int32) {
		for _, i := range rows {
			yield(i)
		}
	}
	for e := t.files.newest; e != nil; e = e.older {
		each(e.value.changed, e.value.touched, e.value.read, e.value.base)
		each(e.value.replay...)
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
	yield(t.planRow)
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

// file returns the state of a path, as the newest.
func (t *tables) file(path string, row int32) *fileState {
	f := t.files.touch(hashOf(path))
	if f.path == "" {
		*f = fileState{path: clip(path, maxPath), changed: -1, read: -1, base: -1}
	}
	f.touched = row
	return f
}

// addCall understands a call and remembers what its result will be about.
func (c *Compactor) addCall(i int32, it *transcript.Item) {
	row := c.rows.at(int(i))
	row.tool = c.names.number(it.Tool)
	a := transcript.Understand(it.Tool, it.Raw)
	row.op = a.Op
	pending := call{row: i, action: a, key: subjectOf(it.Tool, a)}
	row.subject = uint32(pending.key)
	pending.action.Plan = nil
	if row.has(side) {
		pending.action.Files = nil
	} else {
		c.tables.called(row, &pending, &a)
	}
	if it.Call != "" {
		*c.calls.touch(clip(it.Call, maxName)) = pending
	}
}

// subjectOf names what a call is about: two calls of one subject do the same thing again.
func subjectOf(tool string, a transcript.Action) uint64 {
	switch {
	case a.Op == transcript.Command && a.Command != "":
		return hashOf("command", a.Dir, plainCommand(a.Command))
	case len(a.Files) > 0:
		return hashOf(a.Files[0].Path)
	case a.Query != "":
		return hashOf(tool, a.Query)
	}
	return hashOf(tool)
}

// called takes what a call tells before its result is known.
func (t *tables) called(row *itemRow, p *call, a *transcript.Action) {
	i := p.row
	for n, ch := range a.Files {
		f := t.file(ch.Path, i)
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
		t.planned(i, a)
	case transcript.Agent:
		g := t.agents.touch(agentKey(i))
		*g = agentState{task: clip(a.Query, maxText), call: i, report: -1}
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
	s.row, s.ended, s.pending = p.row, false, true
	s.runs++
}

// planned applies a call that writes the plan.
func (t *tables) planned(i int32, a *transcript.Action) {
	t.planRow = i
	if a.Replace {
		t.plan = t.plan[:0]
	}
	for _, p := range a.Plan {
		t.plan = putPlan(t.plan, p)
	}
}

// putPlan adds an item to the plan or updates the one of its key.
func putPlan(plan []planItem, p transcript.PlanItem) []planItem {
	for i := range plan {
		if q := &plan[i]; q.key == p.Key && p.Key != "" {
			if p.Status == "deleted" {
				return append(plan[:i], plan[i+1:]...)
			}
			if p.Text != "" {
				q.text = clip(p.Text, maxText)
			}
			if p.Status != "" {
				q.status = clip(p.Status, maxName)
			}
			return plan
		}
	}
	if p.Status == "deleted" || (p.Text == "" && p.Key == "") {
		return plan
	}
	if len(plan) >= maxPlan {
		plan = append(plan[:0], plan[1:]...)
	}
	return append(plan, planItem{key: clip(p.Key, maxText), text: clip(p.Text, maxText), status: clip(p.Status, maxName)})
}

func agentKey(i int32) string {
	return "row " + string([]byte{byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)})
}

// plainCommand is a command without what changes neither its meaning nor its status: blanks, a leading cd, and the
// filters that only shorten its output.
func plainCommand(cmd string) string {
	cmd = strings.TrimSpace(cmd)
	if strings.HasPrefix(cmd, "cd ") {
		if _, rest, ok := strings.Cut(cmd, "&&"); ok {
			cmd = strings.TrimSpace(rest)
		}
	}
	for {
		head, tail, ok := cutLast(cmd, '|')
		tail = strings.TrimSpace(tail)
		filter, _, _ := strings.Cut(tail, " ")
		if !ok || strings.HasSuffix(head, "|") || (filter != "head" && filter != "tail") {
			break
		}
		cmd = strings.TrimSpace(head)
	}
	return strings.TrimSpace(strings.TrimSuffix(cmd, "2>&1"))
}

func cutLast(s string, sep byte) (before, after string, found bool) {
	i := strings.LastIndexByte(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}
