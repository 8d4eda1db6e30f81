package session

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccd/compactor/lexicon"
	"ccd/internal/transcript"
)

// addCall takes a tool call. Its effects count when its result proves them.
func (s *Session) addCall(ref Ref, it *transcript.Item) {
	one := s.pairs.now
	a := one.action
	c := callOf(&a)
	c.At, c.Tool, c.Index = ref, one.tool, -1
	if it.Client().NoResults {
		c.State = Unrecorded
	}
	s.Calls = append(s.Calls, c)
	one.call = c
	if !it.Side {
		c.Index = s.push(Event{Kind: Did, Ref: ref, Call: c})
		s.tried(c, &a, nil)
		if a.Op == transcript.Plan && c.State == Unrecorded {
			s.Plan.take(c.Index, &a)
		}
	}
}

func callOf(a *transcript.Action) *Call {
	c := &Call{
		Op: a.Op, Command: clip(a.Command, maxCommand), Dir: clip(a.Dir, maxPath), Query: clip(a.Query, maxCommand), Lines: a.Lines, Stdin: a.Stdin,
	}
	if a.Op == transcript.Command && !a.Stdin && len(a.Command) <= maxTries {
		c.understand(a.Command)
	}
	return c
}

// understand reads what a command line aims at, and whether its status may be another command's.
func (c *Call) understand(line string) {
	parts, ok := transcript.SplitCommand(line)
	c.Silent = hides(line, parts, ok)
	if !ok {
		return
	}
	var goals []string
	for i := range parts {
		if p := plainOf(&parts[i]); !p.isLookUp() && !helpers[p.name] && !lookUps[p.name] {
			goals = append(goals, p.goal())
		}
	}
	c.LookUp, c.Goal = len(goals) == 0, clip(strings.Join(goals, ", "), maxCommand)
}

// pairs pairs results with their calls.
type pairs struct {
	open map[string]*pending // calls without a result, by call ID
	now  *pending            // the call that the newest item is, or that it is the result or an answer of; nil if there is none
}

// pending is a call that has no result, or the one whose result the newest item is.
type pending struct {
	call        *Call // nil in a Tracker
	action      transcript.Action
	tool        string
	record      int64
	plus, minus int64    // lines
	next        *pending // with the same ID

	outcome transcript.Outcome // of its newest result
	failed  bool
	commits []Commit // that git printed in it
}

func (p *pairs) keep(id string, one *pending) {
	if id == "" {
		return
	}
	if first := p.open[id]; first != nil { // their results come in this order
		for first.next != nil {
			first = first.next
		}
		first.next = one
		return
	}
	if len(p.open) >= maxPending { // such a session has no results
		clear(p.open)
	}
	p.open[strings.Clone(id)] = one
}

func (p *pairs) forget(id string) {
	if one := p.open[id]; one != nil && one.next != nil {
		p.open[id] = one.next
	} else {
		delete(p.open, id)
	}
}

// pair takes an item of a call. The effects of a call count when its result proves them.
func (t *Tracker) pair(r *transcript.Record, it *transcript.Item) {
	t.pairs.now = nil
	switch {
	case it.Kind == transcript.Call:
		p := &pending{action: it.Understand(), tool: clip(it.Tool, 200), record: int64(r.N)}
		p.action.Resolve(t.status.Cwd)
		if slices.ContainsFunc(p.action.Files, alters) {
			p.plus, p.minus = lineCounts(patchOf(it.Raw, func() string {
				if p.action.Command != "" { // it is read already
					return p.action.Patch()
				}
				return it.Client().Patch(it.Tool, it.Raw)
			}))
		}
		t.pairs.now = p
		t.pairs.keep(it.Call, p)
	case it.Call == "":
	case it.Kind == transcript.Result:
		p := t.pairs.open[it.Call]
		if t.pairs.now = p; p == nil {
			return
		}
		if explains := p.call != nil || p.counts(it); explains {
			p.explain(it)
			t.changes(r, it, p)
		}
		if !p.outcome.Running && !p.outcome.Rejected { // a reason may follow
			t.pairs.forget(it.Call)
		}
	case it.Kind == transcript.Human && !it.Side:
		t.pairs.now = t.pairs.open[it.Call]
		t.pairs.forget(it.Call)
	}
}

// counts reports whether a result may prove what a sum counts: to explain all results takes as long as to archive them.
func (p *pending) counts(it *transcript.Item) bool {
	prints := p.action.Op == transcript.Command && (bytes.Contains(it.Raw, []byte("n[")) || bytes.Contains(it.Raw, []byte(`"[`)))
	return prints || slices.ContainsFunc(p.action.Files, alters)
}

// explain takes what the newest result says.
func (p *pending) explain(it *transcript.Item) {
	op := p.action.Op
	out := it.Explain(cmp.Or(it.Tool, p.tool), op)
	if it.Refused {
		out.Rejected, out.Faked = true, false
	}
	p.failed = out.Failed || out.HasExit && out.Exit != 0 || !out.HasExit && !out.Running && own[op] && saysFailed(out.Text)
	p.outcome = out
}

// changed yields the files that the newest result proves to be changed or read, with their indexes in the call's.
func (p *pending) changed() iter.Seq2[int, transcript.FileChange] {
	seen := p.outcome
	seen.Failed = p.failed
	return p.action.Changes(&seen)
}

// alters reports whether a change of a file is one, and known.
func alters(f transcript.FileChange) bool {
	return f.Op != transcript.Other && f.Op != transcript.Read && f.Path != ""
}

// Shown notes that the agent has the result of a call in its context, although the transcript does not have it yet.
func (s *Session) Shown(call string) {
	if p := s.pairs.open[call]; p != nil {
		p.call.Shown = true
	}
}

// addResult pairs a result with its call and applies what it proves.
func (s *Session) addResult(ref Ref) {
	p := s.pairs.now
	if p == nil {
		return
	}
	c, a, out, failed := p.call, &p.action, &p.outcome, p.failed
	c.Result = ref
	c.HasExit, c.Exit = out.HasExit, out.Exit
	c.Silent, c.Aborted = c.Silent && !out.Each, out.Stopped
	if out.AgentID != "" {
		c.Agent = clip(out.AgentID, 200)
	}
	switch {
	case out.Rejected:
		c.State = Refused
	case out.Running:
		c.State = Running
		if out.Job != "" && !a.Stdin && c.Index >= 0 {
			if len(s.jobs) < maxPending {
				s.jobs[clip(out.Job, 200)] = c.Index
			}
		}
	case transcript.NotCalled(out.Text):
		c.State = Failed
		c.LookUp = true // nothing ran, so nothing failed
	case failed:
		c.State = Failed
	default:
		c.State = Done
	}
	if a.Stdin {
		s.endJob(a, c, out)
	}
	s.change(p, out)
	if c.Index >= 0 && c.Op == transcript.Plan {
		s.Plan.end(c, a, out)
	}
	if c.Op == transcript.Command && c.State != Refused {
		s.commit(p, out.Text)
	}
}

// endJob takes the end of a background command from the result of a call that reads its output or stops it.
func (s *Session) endJob(a *transcript.Action, c *Call, out *transcript.Outcome) {
	i, ok := s.jobs[a.Job]
	if !ok || out.Running {
		return
	}
	job := s.Events[i].Call
	delete(s.jobs, a.Job)
	job.State, job.HasExit, job.Exit = c.State, out.HasExit, out.Exit
}

// own lists the calls whose result is the tool's own message and not requested content.
var own = map[transcript.Op]bool{transcript.Command: true, transcript.Write: true, transcript.Edit: true, transcript.Delete: true, transcript.Rename: true}

// saysFailed reports whether a text begins with an error.
func saysFailed(text string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(lexicon.Head(text, 400)), "\n")
	return first != "" && lexicon.IsError(first, true) && !strings.HasPrefix(strings.ToLower(first), "warn")
}

// hides reports whether a command line's status is not that of its main command: a pipe, or a list that goes on after a
// failure.
func hides(line string, parts []transcript.Simple, ok bool) bool {
	if !ok {
		return strings.Contains(line, "|") && !strings.Contains(line, "pipefail")
	}
	if strings.Contains(line, "pipefail") {
		return false
	}
	for i := 1; i < len(parts); i++ {
		if j := parts[i].Join; j == "|" || j == ";" || j == "||" || j == "&" {
			before := plainOf(&parts[i-1])
			if before.name != "cd" && before.name != "export" && before.name != "source" && before.name != "." {
				return true
			}
		}
	}
	return false
}

// change applies what a call did to files, as far as the outcome proves it.
func (s *Session) change(p *pending, out *transcript.Outcome) {
	c, a := p.call, &p.action
	i := c.Index
	if i < 0 {
		i = int32(len(s.Events) - 1) // of an inline sub-agent: the event that started it, or a later one
	}
	if i < 0 { // all of the file is a sub-agent's: there is no event to name
		return
	}
	done := map[int]bool{}
	c.Files = nil
	for n, f := range p.changed() {
		done[n] = true
		c.Files = append(c.Files, s.changed(i, n, &f, out.Created))
	}
	s.tried(c, a, done)
}

// changed applies one change of a file in event i.
func (s *Session) changed(i int32, n int, f *transcript.FileChange, created bool) Change {
	file := s.file(f.Path, i)
	c := Change{Op: f.Op, File: file, N: int32(n), Sure: f.Op != transcript.Other, Tree: f.Tree, Into: f.Loose}
	e := Edit{Event: i, Op: f.Op}
	switch f.Op {
	case transcript.Other:
		return c
	case transcript.Read:
		file.Reads++
		return c
	case transcript.Delete:
		e.Gone, file.Deleted = true, true
	case transcript.Rename:
		c.To = s.file(f.To, i)
		c.To.Edits, c.To.Deleted = append(c.To.Edits, e), false
		e.Gone, file.Deleted = true, true
	case transcript.Revert:
	default:
		file.Deleted = false
		file.Created = file.Created || created && len(file.Edits) == 0 && file.Reads == 0
	}
	file.Edits = append(file.Edits, e)
	return c
}

// tried adds the files that a call names and did not change or read: it failed, or the human refused it.
func (s *Session) tried(c *Call, a *transcript.Action, done map[int]bool) {
	if c.Index < 0 || c.Op == transcript.Command {
		return
	}
	for n, f := range a.Files {
		if !done[n] && f.Op != transcript.Other && f.Path != "" {
			c.Files = append(c.Files, Change{Op: f.Op, File: s.file(f.Path, -1), N: int32(n)})
		}
	}
}

// file returns the state of a path; at is the event that uses it, -1 if it only names it.
func (s *Session) file(path string, at int32) *File {
	key := transcript.PathKey(path)
	f := s.byPath[key]
	if f == nil {
		f = &File{Path: clip(path, maxPath), Last: -1}
		s.byPath[strings.Clone(key)] = f
		s.Files = append(s.Files, f)
	}
	f.Last = max(f.Last, at)
	return f
}

// Plan is the agent's plan or todo list, as last left.
type Plan struct {
	Steps []transcript.PlanItem
	Event int32 // the last call that changed it, -1 if there is none

	made []int32 // of each step: the event that made it
}

// maxPlan is how many steps of a plan are kept.
const maxPlan = 200

// take applies a call that writes the plan.
func (p *Plan) take(at int32, a *transcript.Action) {
	if !a.Replace && len(a.Plan) == 0 {
		return
	}
	if a.Replace {
		p.Steps, p.made = nil, nil
	}
	p.Event = at
	for _, item := range a.Plan {
		p.put(item, at)
	}
}

// put adds a step or updates the one with its key.
func (p *Plan) put(item transcript.PlanItem, at int32) {
	item.Key = clip(item.Key, 300)
	for i := range p.Steps {
		q := &p.Steps[i]
		if item.Key == "" || q.Key != item.Key {
			continue
		}
		if item.Status == "deleted" {
			p.Steps, p.made = slices.Delete(p.Steps, i, i+1), slices.Delete(p.made, i, i+1)
			return
		}
		if item.Text != "" {
			q.Text = clip(item.Text, 300)
		}
		if item.Status != "" {
			q.Status = clip(item.Status, 100)
		}
		return
	}
	if item.Status == "deleted" || item.Text == "" || len(p.Steps) >= maxPlan {
		return
	}
	p.Steps = append(p.Steps, transcript.PlanItem{Key: item.Key, Text: clip(item.Text, 300), Status: clip(item.Status, 100)})
	p.made = append(p.made, at)
}

// end applies a call about the plan and its result: the keys of new steps, or the whole list.
func (p *Plan) end(c *Call, a *transcript.Action, out *transcript.Outcome) {
	if c.State == Failed || c.State == Refused {
		return
	}
	switch p.take(c.Index, a); {
	case len(a.Plan) == 0 && !a.Replace && len(out.Plan) > 0:
		was := p.Steps
		p.Steps, p.made = nil, nil
		for _, item := range out.Plan {
			p.put(item, c.Index)
		}
		if !slices.Equal(was, p.Steps) { // to look at a plan does not renew it
			p.Event = c.Index
		}
	case out.PlanID != "":
		for i := range p.Steps {
			if p.made[i] == c.Index && p.Steps[i].Key == "" {
				p.Steps[i].Key = clip(out.PlanID, 300)
			}
		}
	}
}

// Unfinished returns the steps that are neither done nor deleted.
func (p *Plan) Unfinished() (all []transcript.PlanItem) {
	for _, q := range p.Steps {
		if q.Status != "completed" && q.Status != "deleted" && q.Status != "cancelled" {
			all = append(all, q)
		}
	}
	return all
}

// Ending says how a call that has a result ended, as "exit 1"; "" if there is nothing to say.
func (c *Call) Ending() string {
	switch {
	case c.State == Refused:
		return "refused"
	case c.Op == transcript.Command && c.Silent && c.State == Done:
		return "exit hidden"
	case c.Op == transcript.Command && c.HasExit:
		return "exit " + strconv.Itoa(c.Exit)
	case c.State == Failed:
		return "failed"
	}
	return ""
}

// Step is a call with what its result added to the context.
type Step struct {
	*Call
	Tokens int64         // about, converted from the characters of the result
	Took   time.Duration // from the call to the result, 0 if it is not recorded
	Gone   bool          // a compaction took the result out of the context
}

// StepOf measures a call. A step in an inline sub-agent, or without a result, has no tokens.
func (s *Session) StepOf(c *Call) Step {
	step := Step{Call: c, Gone: !s.InContext(c.Result.Rec)}
	if c.Result.Zero() {
		return step
	}
	if per := s.PerToken(); per > 0 && c.Index >= 0 {
		step.Tokens = int64(float64(c.Result.Chars) / per)
	}
	if from, to := s.Time(c.At.Rec), s.Time(c.Result.Rec); !from.IsZero() && to.After(from) {
		step.Took = to.Sub(from)
	}
	return step
}

// Steps returns the calls that added to the context, the largest first: those that are in it, and those that are no more.
func (s *Session) Steps() (in, gone []Step) {
	for _, c := range s.Calls {
		switch one := s.StepOf(c); {
		case one.Tokens == 0:
		case one.Gone:
			gone = append(gone, one)
		default:
			in = append(in, one)
		}
	}
	for _, all := range [][]Step{in, gone} {
		slices.SortStableFunc(all, func(x, y Step) int { return cmp.Compare(y.Tokens, x.Tokens) })
	}
	return in, gone
}

// What is what a call does, in a few words: its command, its file, or what it looks for; "" where its tool says it.
func (c *Call) What() string {
	if len(c.Files) > 0 && c.Op != transcript.Command {
		return c.Files[0].File.Path
	}
	return cmp.Or(c.Command, c.Query)
}
