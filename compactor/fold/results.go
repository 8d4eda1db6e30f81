package fold

import (
	"math"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/transcript"
)

// addResult pairs a result with its call and applies the call's effects.
func (f *Fold) addResult(i int32, it *transcript.Item) {
	row := f.rows.at(int(i))
	row.Tool = f.names.number(it.Tool)
	var p *call
	if it.Call != "" {
		p = f.calls.get(it.Call)
	}
	var a transcript.Action
	if p != nil {
		a = p.action
		first := f.rows.at(int(p.row))
		if first.Pair < 0 {
			first.Pair = i
		}
		row.Pair, row.Op, row.Subject, row.Edits = p.row, first.Op, first.Subject, first.Edits
		row.Flags |= first.Flags & Partial
		if row.Tool == 0 {
			row.Tool = first.Tool
		}
	}
	out := it.Explain(it.Tool, row.Op)
	if it.Refused {
		out.Rejected, out.Faked = true, false
	}
	explainRow(row, &out)
	if p != nil && p.run.lookUp {
		row.Flags |= Looks
	}
	if row.Has(Side) || p == nil {
		return
	}
	f.tables.applyResult(f, i, p, &a, &out)
	if !out.Running {
		f.calls.remove(it.Call)
	}
}

// explainRow stores an outcome in the row.
func explainRow(row *Row, out *transcript.Outcome) {
	if out.Failed {
		row.Flags |= Failed
	}
	if out.HasExit {
		row.Flags |= Exits
		row.Exit = int16(max(math.MinInt16, min(math.MaxInt16, out.Exit)))
		if out.Exit != 0 {
			row.Flags |= Failed
		}
	}
	if out.Rejected {
		row.Flags |= Rejected
	}
	if out.Faked {
		row.Flags |= Claimed
	}
	if !out.HasExit && !out.Running && !row.Has(Failed|Rejected) && acts(row.Op) && saysFailed(out.Text) {
		row.Flags |= Failed
	}
	if out.Images > 0 {
		row.Flags |= Pictured
	}
	if lexicon.HasErrorWord(out.Text) {
		row.Flags |= ErrorLines
	}
}

// acts reports whether the result of such a call is the tool's own message and not requested content. If there is no status,
// the beginning of that message shows whether the call failed.
func acts(op transcript.Op) bool {
	switch op {
	case transcript.Command, transcript.Write, transcript.Edit, transcript.Delete, transcript.Rename:
		return true
	}
	return false
}

// saysFailed reports whether a text begins with an error.
func saysFailed(text string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(lexicon.Head(text, 400)), "\n")
	return first != "" && lexicon.IsError(first, true) && !strings.HasPrefix(strings.ToLower(first), "warn")
}

// applyResult applies a result to the tables.
func (t *tables) applyResult(f *Fold, i int32, p *call, a *transcript.Action, out *transcript.Outcome) {
	row := f.rows.at(int(i))
	ok := !row.Has(Failed | Rejected)
	t.applyChanges(f, i, p, out)
	switch a.Op {
	case transcript.Command:
		t.endCommand(row, p, out, kills(f.names.name(row.Tool)))
	case transcript.Plan:
		t.applyPlanResult(p, out, ok)
	case transcript.Agent:
		t.setReport(i, p.row, out)
	}
	t.updateProblems(i, p, row, out)
}

// applyChanges applies the file changes that a result proves, and closes the problems that they resolve.
func (t *tables) applyChanges(f *Fold, i int32, p *call, out *transcript.Outcome) {
	row, a := f.rows.at(int(i)), &p.action
	seen := *out
	seen.Failed = row.Has(Failed)
	tool := strings.ToLower(f.names.name(row.Tool))
	ch := change{
		result: i, certain: tool == "edit" || tool == "multiedit", amended: out.Amended,
		shell: a.Op == transcript.Command, fresh: out.Created, over: out.Replaced,
	}
	client := f.client
	for n, f := range a.Changes(&seen) {
		ch.FileChange, ch.at = f, Step{p.row, int32(n)}
		ch.partial = f.Op == transcript.Read && (row.Has(Partial) || !whole(client, tool, a, &seen))
		t.applyChange(&ch)
		if f.Op == transcript.Other {
			continue
		}
		if f.Op != transcript.Read {
			t.close(changeFault(f.Path), i)
		}
		if f.Op == transcript.Delete {
			t.dropProblems(f.Path)
		}
	}
}

// whole reports whether a read returned the whole file. For the reading tool, the number of lines shows it well enough.
func whole(c *transcript.Client, tool string, a *transcript.Action, out *transcript.Outcome) bool {
	if a.Op == transcript.Read {
		return strings.Count(out.Text, "\n") < 2000
	}
	_, ok := c.Reading(tool, a, out).Text()
	return ok
}

// endCommand stores the exit status of a command, or that it is still running.
func (t *tables) endCommand(row *Row, p *call, out *transcript.Outcome, stops bool) {
	at := &job{row: p.row, key: p.key, run: p.run}
	if p.action.Stdin {
		j := t.jobs.get(p.action.Job)
		if j == nil || out.Running {
			return
		}
		j.over = true
		at = j
	} else if out.Running && out.Job != "" {
		*t.jobs.touch(clip(out.Job, maxName)) = *at
	}
	s := t.commands.get(at.key)
	if s == nil || s.Row != at.row {
		return
	}
	s.Pending, s.Stopped = out.Running, stops && !row.Has(Failed)
	if row.Has(Exits) {
		s.end(row.Exit)
	}
}

// kills reports whether a tool ends a background command.
func kills(tool string) bool {
	tool = strings.ToLower(tool)
	return strings.HasPrefix(tool, "kill") || tool == "taskstop"
}

// end stores how a command ended.
func (s *Command) end(exit int16) {
	s.Exit, s.Ended, s.Pending, s.Stopped = exit, true, false, false
	if s.HadOther && s.Other == s.Exit {
		s.HadOther = false
	}
}

// endJob handles the client's message that a background command has ended.
func (f *Fold) endJob(i int32, text string) {
	name, exit, ok := transcript.Notice(text)
	t := &f.tables
	j := t.jobs.get(name)
	if !ok || j == nil {
		return
	}
	row := f.rows.at(int(i))
	if s := t.commands.get(j.key); s != nil && s.Row == j.row {
		s.Pending = false
		if exit >= 0 {
			s.end(int16(min(exit, math.MaxInt16)))
		}
	}
	switch {
	case exit == 0:
		t.close(j.key, i)
		t.closeGoals(j.run, row.Has(ErrorLines), i)
	case exit > 0:
		row.Flags |= Failed | Exits
		row.Exit = int16(min(exit, math.MaxInt16))
		t.open(j.key, j.run, "", Problem{Call: j.row, Result: i})
	}
	t.jobs.remove(name)
}

func (t *tables) setReport(i, callRow int32, out *transcript.Outcome) {
	g := t.agents.get(agentKey(callRow))
	if g == nil {
		return
	}
	g.Report = i
	if out.AgentID != "" {
		g.ID = clip(out.AgentID, maxName)
	}
}

// linkReport links a record that starts a sub-agent or carries its report. The last text in the record is the report.
func (t *tables) linkReport(f *Fold, id string, rec int) {
	from, to := f.Items(rec)
	best := int32(-1)
	for i := from; i < to; i++ {
		if row := f.rows.at(int(i)); !row.Has(Side) && row.Kind != transcript.Call && row.Chars > 0 {
			best = i
		}
	}
	for e := t.agents.newest; e != nil; e = e.older {
		g := &e.value
		if g.ID == id || (best >= 0 && g.Call >= 0 && f.rows.at(int(best)).Pair == g.Call) {
			g.ID = clip(id, maxName)
			if best >= 0 {
				g.Report = best
			}
			return
		}
	}
	*t.agents.touch(clip(id, maxName)) = Agent{ID: clip(id, maxName), Call: -1, Report: best}
}
