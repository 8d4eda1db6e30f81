package fold

import (
	"math"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/transcript"
)

// addResult pairs a result with its call and applies what the call has now done.
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
		out.Rejected, out.Claimed = true, false
	}
	explainRow(row, &out)
	if p != nil && p.run.lookUp {
		row.Flags |= Looks
	}
	if row.Has(Side) || p == nil {
		return
	}
	f.tables.done(f, i, p, &a, &out)
	if !out.Running {
		f.calls.remove(it.Call)
	}
}

// explainRow keeps in the row what an outcome tells.
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
	if out.Claimed {
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
func (t *tables) done(f *Fold, i int32, p *call, a *transcript.Action, out *transcript.Outcome) {
	row := f.rows.at(int(i))
	ok := !row.Has(Failed | Rejected)
	t.touched(f, i, p, out)
	switch a.Op {
	case transcript.Command:
		t.ended(row, p, out, kills(f.names.name(row.Tool)))
	case transcript.Plan:
		t.planTold(p, out, ok)
	case transcript.Agent:
		t.agentDone(i, p.row, out)
	}
	t.closeOrOpen(i, p, row, out)
}

// touched applies the changes of files that a result proves, and closes the errors that they make good.
func (t *tables) touched(f *Fold, i int32, p *call, out *transcript.Outcome) {
	row, a := f.rows.at(int(i)), &p.action
	seen := *out
	seen.Failed = row.Has(Failed)
	tool := strings.ToLower(f.names.name(row.Tool))
	ch := change{
		result: i, certain: tool == "edit" || tool == "multiedit", amended: out.Amended,
		shell: a.Op == transcript.Command, fresh: out.Created, over: out.Replaced,
	}
	for n, f := range a.Changes(&seen) {
		ch.FileChange, ch.at = f, Step{p.row, int32(n)}
		ch.partial = f.Op == transcript.Read && (row.Has(Partial) || !whole(tool, a, &seen))
		t.changed(&ch)
		if f.Op == transcript.Other {
			continue
		}
		if f.Op != transcript.Read {
			t.close(changeFault(f.Path), i)
		}
		if f.Op == transcript.Delete {
			t.dropped(f.Path)
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

// ended keeps the exit status of a command, or that it goes on.
func (t *tables) ended(row *Row, p *call, out *transcript.Outcome, stops bool) {
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

// kills reports whether a tool ends a command that goes on.
func kills(tool string) bool {
	tool = strings.ToLower(tool)
	return strings.HasPrefix(tool, "kill") || tool == "taskstop"
}

// end keeps how a command ended.
func (s *Command) end(exit int16) {
	s.Exit, s.Ended, s.Pending, s.Stopped = exit, true, false, false
	if s.HadOther && s.Other == s.Exit {
		s.HadOther = false
	}
}

// notice takes a message of the client that a command in the background has ended.
func (f *Fold) notice(i int32, text string) {
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
		t.madeGood(j.run, row.Has(ErrorLines), i)
	case exit > 0:
		row.Flags |= Failed | Exits
		row.Exit = int16(min(exit, math.MaxInt16))
		t.open(j.key, j.run, "", Problem{Call: j.row, Result: i})
	}
	t.jobs.remove(name)
}

func (t *tables) agentDone(i, callRow int32, out *transcript.Outcome) {
	g := t.agents.get(agentKey(callRow))
	if g == nil {
		return
	}
	g.Report = i
	if out.AgentID != "" {
		g.ID = clip(out.AgentID, maxName)
	}
}

// report takes a record that launches a sub-agent or brings its report: the newest text of it is what it reported.
func (t *tables) report(f *Fold, id string, rec int) {
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
