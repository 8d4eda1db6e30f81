package compactor

import (
	"math"
	"strings"

	"ccd/internal/transcript"
)

// addResult pairs a result with its call and applies what the call has now done.
func (c *Compactor) addResult(i int32, it *transcript.Item) {
	row := c.rows.at(int(i))
	row.tool = c.names.number(it.Tool)
	var p *call
	if it.Call != "" {
		p = c.calls.get(it.Call)
	}
	var a transcript.Action
	if p != nil {
		a = p.action
		first := c.rows.at(int(p.row))
		if first.pair < 0 {
			first.pair = i
		}
		row.pair, row.op, row.subject, row.edits = p.row, first.op, first.subject, first.edits
		row.flags |= first.flags & partial
		if row.tool == 0 {
			row.tool = first.tool
		}
	}
	out := transcript.Explain(it.Tool, row.op, it.Raw, it.Failed)
	explainRow(row, &out)
	if row.op == transcript.Command && !row.has(side) {
		c.mentionOutput(i, out.Text)
	}
	if row.has(side) || p == nil {
		return
	}
	c.tables.done(c, i, p, &a, &out)
	if !out.Running {
		c.calls.remove(it.Call)
	}
}

// explainRow keeps in the row what an outcome tells.
func explainRow(row *itemRow, out *transcript.Outcome) {
	if out.Failed {
		row.flags |= failed
	}
	if out.HasExit {
		row.flags |= exits
		row.exit = int16(max(math.MinInt16, min(math.MaxInt16, out.Exit)))
		if out.Exit != 0 {
			row.flags |= failed
		}
	}
	if out.Rejected {
		row.flags |= rejected
	}
	if !out.HasExit && !out.Running && !row.has(failed|rejected) && acts(row.op) && saysFailed(out.Text) {
		row.flags |= failed
	}
	if out.Images > 0 {
		row.flags |= pictured
	}
	if hasErrorWord(out.Text) {
		row.flags |= errorLines
	}
	row.flags |= shapeOf(out.Text)
}

// acts reports whether a call of this kind answers with its own words, not with what it was asked for: what these begin
// with tells how it went where no status does.
func acts(op transcript.Op) bool {
	switch op {
	case transcript.Command, transcript.Write, transcript.Edit, transcript.Delete, transcript.Rename:
		return true
	}
	return false
}

// saysFailed reports whether a text opens with an error.
func saysFailed(text string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(head(text, 400)), "\n")
	return first != "" && isError(first, true) && !strings.HasPrefix(strings.ToLower(first), "warn")
}

// done applies a result to the tables.
func (t *tables) done(c *Compactor, i int32, p *call, a *transcript.Action, out *transcript.Outcome) {
	row := c.rows.at(int(i))
	ok := !row.has(failed | rejected)
	for n := range a.Files {
		if ok {
			t.changed(p.row, i, row, &a.Files[n])
		}
	}
	switch a.Op {
	case transcript.Command:
		t.ended(row, p)
	case transcript.Plan:
		if out.PlanID != "" {
			t.name(p.row, out.PlanID)
		}
	case transcript.Agent:
		t.agentDone(i, p.row, out)
	}
	t.closeOrOpen(i, p, row, out)
}

// closeOrOpen keeps the list of errors that are not made good.
func (t *tables) closeOrOpen(i int32, p *call, row *itemRow, out *transcript.Outcome) {
	switch {
	case row.has(rejected) || out.Running:
	case !row.has(failed):
		t.errors.remove(p.key)
	case !harmless(p.action.Command, row, out):
		*t.errors.touch(p.key) = openError{call: p.row, result: i}
	}
}

// harmless reports whether a status other than 0 is an answer, not a fault: a search without a hit, a comparison that
// finds a difference.
func harmless(command string, row *itemRow, out *transcript.Outcome) bool {
	if !row.has(exits) || row.exit != 1 || row.has(errorLines) {
		return false
	}
	word, _, _ := strings.Cut(plainCommand(command), " ")
	switch word {
	case "grep", "rg", "egrep", "fgrep", "test", "[", "diff", "cmp", "which", "pgrep":
		return true
	case "git":
		return strings.HasPrefix(plainCommand(command), "git diff")
	}
	return false
}

// changed applies one file change that succeeded.
func (t *tables) changed(callRow, resultRow int32, row *itemRow, ch *transcript.FileChange) {
	f := t.file(ch.Path, callRow)
	switch ch.Op {
	case transcript.Read:
		f.reads++
		f.read = resultRow
		if !row.has(partial) {
			f.base, f.replay, f.lost = resultRow, nil, false
		}
		return
	case transcript.Write:
		f.created = f.created || (f.reads == 0 && f.edits == 0)
		f.deleted = false
		f.base, f.replay, f.lost = callRow, nil, false
	case transcript.Edit:
		if len(f.replay) >= maxEdits {
			f.lost = true
		} else {
			f.replay = append(f.replay, callRow)
		}
	case transcript.Delete:
		f.deleted, f.base, f.replay = true, -1, nil
	case transcript.Rename:
		t.renamed(f, ch, callRow)
	}
	f.edits++
	f.changed = callRow
}

func (t *tables) renamed(f *fileState, ch *transcript.FileChange, callRow int32) {
	f.to = clip(ch.To, maxPath)
	path, created := f.path, f.created
	if ch.To == "" || ch.To == ch.Path {
		return
	}
	to := t.file(ch.To, callRow)
	to.from, to.created, to.deleted, to.changed = path, created, false, callRow
	to.edits++
	to.lost = true
}

// ended keeps the exit status of a command.
func (t *tables) ended(row *itemRow, p *call) {
	s := t.commands.get(p.key)
	if s == nil || s.row != p.row {
		return
	}
	s.pending = false
	if row.has(exits) {
		s.exit, s.ended = row.exit, true
		if s.hadOther && s.other == s.exit {
			s.hadOther = false
		}
	}
}

// name gives a plan item that the agent created the key it got.
func (t *tables) name(callRow int32, key string) {
	if t.planRow == callRow && len(t.plan) > 0 {
		t.plan[len(t.plan)-1].key = clip(key, maxText)
		return
	}
	for i := range t.plan {
		if t.plan[i].key == "" || t.plan[i].key == t.plan[i].text {
			t.plan[i].key = clip(key, maxText)
			return
		}
	}
}

func (t *tables) agentDone(i, callRow int32, out *transcript.Outcome) {
	g := t.agents.get(agentKey(callRow))
	if g == nil {
		return
	}
	g.report = i
	if out.AgentID != "" {
		g.id = clip(out.AgentID, maxName)
	}
}

// report takes a record that launches a sub-agent or brings its report: the newest text of it is what it reported.
func (t *tables) report(c *Compactor, id string, rec int) {
	from, to := c.items(rec)
	best := int32(-1)
	for i := from; i < to; i++ {
		if row := c.rows.at(i); !row.has(side) && row.kind != transcript.Call && row.chars > 0 {
			best = int32(i)
		}
	}
	for e := t.agents.newest; e != nil; e = e.older {
		g := &e.value
		if g.id == id || (best >= 0 && g.call >= 0 && c.rows.at(int(best)).pair == g.call) {
			g.id = clip(id, maxName)
			if best >= 0 {
				g.report = best
			}
			return
		}
	}
	*t.agents.touch(clip(id, maxName)) = agentState{id: clip(id, maxName), call: -1, report: best}
}
