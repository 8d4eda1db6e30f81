package compactor

import (
	"math"
	"strings"

	"ccd/compactor/lexicon"
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
	if it.Refused {
		out.Rejected, out.Claimed = true, false
	}
	explainRow(row, &out)
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
	if out.Claimed {
		row.flags |= claimed
	}
	if !out.HasExit && !out.Running && !row.has(failed|rejected) && acts(row.op) && saysFailed(out.Text) {
		row.flags |= failed
	}
	if out.Images > 0 {
		row.flags |= pictured
	}
	if lexicon.HasErrorWord(out.Text) {
		row.flags |= errorLines
	}
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
	first, _, _ := strings.Cut(strings.TrimSpace(lexicon.Head(text, 400)), "\n")
	return first != "" && lexicon.IsError(first, true) && !strings.HasPrefix(strings.ToLower(first), "warn")
}

// done applies a result to the tables.
func (t *tables) done(c *Compactor, i int32, p *call, a *transcript.Action, out *transcript.Outcome) {
	row := c.rows.at(int(i))
	ok := !row.has(failed | rejected)
	t.touched(c, i, p, out)
	switch a.Op {
	case transcript.Command:
		t.ended(row, p, out, kills(c.names.name(row.tool)))
	case transcript.Plan:
		t.planTold(p, out, ok)
	case transcript.Agent:
		t.agentDone(i, p.row, out)
	}
	t.closeOrOpen(i, p, row, out)
}

// touched applies the changes of files that a result proves, and closes the errors that they make good.
func (t *tables) touched(c *Compactor, i int32, p *call, out *transcript.Outcome) {
	row, a := c.rows.at(int(i)), &p.action
	seen := *out
	seen.Failed = row.has(failed)
	tool := strings.ToLower(c.names.name(row.tool))
	ch := change{
		result: i, certain: tool == "edit" || tool == "multiedit", amended: out.Amended,
		shell: a.Op == transcript.Command, fresh: out.Created, over: out.Replaced,
	}
	for n, f := range a.Changes(&seen) {
		ch.FileChange, ch.at = f, step{p.row, int32(n)}
		ch.partial = f.Op == transcript.Read && (row.has(partial) || !whole(tool, a, &seen))
		t.changed(&ch)
		if f.Op == transcript.Other {
			continue
		}
		t.errors.remove(readFault(f.Path))
		if f.Op != transcript.Read {
			t.errors.remove(changeFault(f.Path))
		}
	}
}

// whole reports whether a read gives all of the file. Of the reading tool, the number of lines tells it well enough.
func whole(tool string, a *transcript.Action, out *transcript.Outcome) bool {
	if a.Op == transcript.Read {
		return strings.Count(out.Text, "\n") < 2000
	}
	_, ok := transcript.Reading(tool, a, out).Text()
	return ok
}

// closeOrOpen keeps the list of errors that are not made good. A status that is a filter's proves nothing where the
// output speaks of errors.
func (t *tables) closeOrOpen(i int32, p *call, row *itemRow, out *transcript.Outcome) {
	fault, call := p.fault, p.row
	if j := t.jobs.get(p.action.Job); j != nil && p.action.Stdin {
		fault, call = j.key, j.row
	}
	switch {
	case row.has(rejected) || out.Running:
	case !row.has(failed):
		if !row.has(errorLines) || p.action.Op != transcript.Command || !transcript.Same("", p.action.Command).Filtered {
			t.errors.remove(fault)
		}
	case !harmless(p.action.Command, row, out):
		*t.errors.touch(fault) = openError{call: call, result: i}
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

// ended keeps the exit status of a command, or that it goes on.
func (t *tables) ended(row *itemRow, p *call, out *transcript.Outcome, stops bool) {
	at := job{p.row, p.key}
	if p.action.Stdin {
		j := t.jobs.get(p.action.Job)
		if j == nil || out.Running {
			return
		}
		at = *j
	} else if out.Running && out.Job != "" {
		*t.jobs.touch(clip(out.Job, maxName)) = at
	}
	s := t.commands.get(at.key)
	if s == nil || s.row != at.row {
		return
	}
	s.pending, s.stopped = out.Running, stops && !row.has(failed)
	if row.has(exits) {
		s.end(row.exit)
	}
}

// kills reports whether a tool ends a command that goes on.
func kills(tool string) bool {
	tool = strings.ToLower(tool)
	return strings.HasPrefix(tool, "kill") || tool == "taskstop"
}

// end keeps how a command ended.
func (s *commandState) end(exit int16) {
	s.exit, s.ended, s.pending, s.stopped = exit, true, false, false
	if s.hadOther && s.other == s.exit {
		s.hadOther = false
	}
}

// notice takes a message of the client that a command in the background has ended.
func (c *Compactor) notice(i int32, text string) {
	name, exit, ok := transcript.Notice(text)
	t := &c.tables
	j := t.jobs.get(name)
	if !ok || j == nil {
		return
	}
	row := c.rows.at(int(i))
	if s := t.commands.get(j.key); s != nil && s.row == j.row {
		s.pending = false
		if exit >= 0 {
			s.end(int16(min(exit, math.MaxInt16)))
		}
	}
	switch {
	case exit == 0:
		t.errors.remove(j.key)
	case exit > 0:
		row.flags |= failed | exits
		row.exit = int16(min(exit, math.MaxInt16))
		*t.errors.touch(j.key) = openError{call: j.row, result: i}
	}
	t.jobs.remove(name)
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
