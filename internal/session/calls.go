package session

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ccd/compactor/lexicon"
	"ccd/internal/transcript"
)

// addCall takes a tool call. Its effects count when its result proves them.
func (s *Session) addCall(ref Ref, r *transcript.Record, it *transcript.Item) {
	a := it.Understand()
	a.Resolve(s.status.Cwd)
	c := &Call{
		At: ref, Tool: clip(it.Tool, 200), Op: a.Op, Command: clip(a.Command, maxCommand), Dir: clip(a.Dir, maxPath), Query: clip(a.Query, maxCommand),
		Lines: a.Lines, Stdin: a.Stdin, Fixed: -1, Replaced: -1, Index: -1,
	}
	if a.Op == transcript.Command && !a.Stdin && len(a.Command) <= maxTries {
		c.run = runOf(&a)
		c.LookUp = c.run.lookUp
		parts, ok := transcript.SplitCommand(a.Command)
		c.pipe = hides(a.Command, parts, ok)
		if ok && !c.LookUp {
			c.Acts = actsOf(a.Command, parts)
		}
	}
	if it.Client().NoResults {
		c.State = Unrecorded
	}
	s.Calls = append(s.Calls, c)
	one := &pending{call: c, action: a, swaps: swapsOf(s.client, it.Tool, it.Raw, &a)}
	if len(one.swaps) == 1 && len(one.swaps[0]) == 1 && !one.swaps[0][0].whole {
		c.swap = [2]uint64{hashOf(one.swaps[0][0].old), hashOf(one.swaps[0][0].new)}
	}
	if it.Side {
		s.keepCall(it.Call, one)
		return
	}
	c.Index = s.push(Event{Kind: Did, Ref: ref, Call: c})
	s.tried(c, &a, nil)
	s.keepCall(it.Call, one)
	s.use(callWords(&a, it.Raw), c.Index)
	if a.Op == transcript.Plan {
		s.Plan.begin(c.Index, &a)
		c.Plans = true
	}
}

// callWords returns the part of a call's input that shows which earlier values it uses.
func callWords(a *transcript.Action, raw []byte) string {
	if a.Op == transcript.Command || a.Op == transcript.Read || a.Op == transcript.Search {
		text := a.Command + " " + a.Query
		for _, f := range a.Files {
			text += " " + f.Path
		}
		return text
	}
	return string(transcript.Unescaped(raw[:min(len(raw), lexicon.Searched)]))
}

func (s *Session) keepCall(id string, one *pending) {
	if id == "" {
		return
	}
	if first := s.pending[id]; first != nil { // their results come in this order
		for first.next != nil {
			first = first.next
		}
		first.next = one
		return
	}
	if len(s.order) >= maxPending {
		delete(s.pending, s.order[0])
		s.order = s.order[1:]
	}
	s.pending[strings.Clone(id)] = one
	s.order = append(s.order, strings.Clone(id))
}

func (s *Session) forgetCall(id string) {
	if p := s.pending[id]; p != nil && p.next != nil {
		s.pending[id] = p.next
		return
	}
	delete(s.pending, id)
	if i := slices.Index(s.order, id); i >= 0 {
		s.order = slices.Delete(s.order, i, i+1)
	}
}

// addResult pairs a result with its call and applies what it proves.
func (s *Session) addResult(ref Ref, r *transcript.Record, it *transcript.Item) {
	p := s.pending[it.Call]
	if p == nil || it.Call == "" {
		return
	}
	c, a := p.call, &p.action
	tool := it.Tool
	if tool == "" {
		tool = c.Tool
	}
	out := it.Explain(tool, c.Op)
	if it.Refused {
		out.Rejected, out.Faked = true, false
	}
	c.Result = ref
	c.Errors = c.Op == transcript.Command && lexicon.HasErrorWord(out.Text)
	c.HasExit, c.Exit = out.HasExit, out.Exit
	c.Silent, c.Aborted = c.pipe && !out.Each, out.Stopped
	for i := range c.run.goals {
		c.run.goals[i].proved = c.run.goals[i].proved || out.Each
	}
	if out.AgentID != "" {
		c.Agent = clip(out.AgentID, 200)
	}
	failed := out.Failed || out.HasExit && out.Exit != 0 || !out.HasExit && !out.Running && acts(c.Op) && saysFailed(out.Text)
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
	if !out.Running && !out.Rejected { // a reason may follow
		s.forgetCall(it.Call)
	}
	if a.Stdin {
		s.endJob(a, c, &out)
	}
	s.change(p, &out, failed)
	if c.Index < 0 {
		return
	}
	switch c.Op {
	case transcript.Command:
		s.readGit(c, a.Command, out.Text)
		for _, line := range lexicon.LastLines(out.Text, lastLines) {
			if len(s.lines) < maxUses {
				s.lines[hashOf(strings.TrimSpace(line))]++
			}
		}
	case transcript.Plan:
		s.Plan.end(c, a, &out)
	}
	if c.State == Failed && c.Op == transcript.Command {
		c.failing = failing(out.Text)
	}
	s.settle(c, c.Index, out.Text)
}

// lastLines is how many last lines of each output are counted.
const lastLines = 8

// Repeated reports whether a line was among the last ones of more than one output, so that it says nothing about a run.
func (s *Session) Repeated(line string) bool { return s.lines[hashOf(strings.TrimSpace(line))] > 1 }

// endJob takes the end of a background command from the result of a call that reads its output or stops it.
func (s *Session) endJob(a *transcript.Action, c *Call, out *transcript.Outcome) {
	i, ok := s.jobs[a.Job]
	if !ok || out.Running {
		return
	}
	job := s.Events[i].Call
	delete(s.jobs, a.Job)
	job.State, job.HasExit, job.Exit = c.State, out.HasExit, out.Exit
	s.settle(job, i, "")
}

// answers reports whether a failure is an answer and not a problem: of a look-up, of a comparison that found a difference,
// of a silent condition that the rest of the line depends on, or of a missing program.
func (c *Call) answers() bool {
	if c.LookUp || c.HasExit && c.Exit == notFound {
		return true
	}
	if !c.HasExit || c.Exit != 1 || c.Errors {
		return false
	}
	return c.run.compares || c.run.guarded && c.Result.Chars < 3
}

// notFound is the exit status of a shell that cannot find a program.
const notFound = 127

// settle marks the earlier failures that a success resolves: of the same command, of a goal that it covers, of the tests that
// its output names, or of the same file.
func (s *Session) settle(c *Call, at int32, out string) {
	if c.State != Done {
		return
	}
	looked := 0
	for i := len(s.Events) - 1; i >= 0 && looked < 400; i-- {
		f := s.Events[i].Call
		if s.Events[i].Kind != Did || f == c {
			continue
		}
		looked++
		if (f.State == Failed || f.State == Done && f.Silent && f.Errors) && f.Fixed < 0 && (resolves(c, f) || passes(c, f, out)) {
			f.Fixed = at
		}
	}
}

// passes reports whether the output of a run that succeeded names all that failed in another one.
func passes(c, f *Call, out string) bool {
	return c.Op == transcript.Command && c.HasExit && !c.Silent && !c.LookUp && !c.Errors && len(f.failing) > 0 &&
		!slices.ContainsFunc(f.failing, func(name string) bool { return !strings.Contains(out, name) })
}

// maxFailing is how many names are kept of what failed in a run.
const maxFailing = 24

// failing returns what a test runner calls failed: the longest word beside its FAIL or FAILED. The packages that hold the
// tests are left out if there are tests.
func failing(out string) (tests []string) {
	var holders []string
	for line := range strings.Lines(out) {
		if !strings.Contains(line, "FAIL") || len(tests)+len(holders) >= maxFailing {
			continue
		}
		name, fails := "", false
		for w := range strings.FieldsSeq(line) {
			if w = strings.TrimRight(w, ":"); w == "FAIL" || w == "FAILED" {
				fails = true
			} else if len(w) > len(name) && strings.ContainsFunc(w, unicode.IsLetter) {
				name = w
			}
		}
		switch {
		case !fails || len(name) < 4:
		case strings.Contains(name, "/") && !strings.Contains(name, "::"):
			holders = append(holders, clip(name, maxTarget))
		default:
			tests = append(tests, clip(name, maxTarget))
		}
	}
	if len(tests) == 0 {
		return holders
	}
	return tests
}

// resolves reports whether the success of c resolves the failure f.
func resolves(c, f *Call) bool {
	if c.Op == transcript.Command && f.Op == transcript.Command {
		if c.Command == f.Command && c.Dir == f.Dir && !(c.Silent && c.Errors) {
			return true
		}
		if len(f.run.goals) == 0 {
			return false
		}
		for i := range f.run.goals {
			covered := false
			for j := range c.run.goals {
				g := &c.run.goals[j]
				covered = covered || g.proved && !(g.piped && c.Errors) && g.covers(&f.run.goals[i], f.failing)
			}
			if !covered {
				return false
			}
		}
		return true
	}
	if f.Op == transcript.Command || c.Op == transcript.Read || c.Op == transcript.Search {
		return false
	}
	for _, a := range f.Files {
		for _, b := range c.Files {
			if a.File == b.File && b.Op != transcript.Read {
				return true
			}
		}
	}
	return false
}

// acts reports whether the result of such a call is the tool's own message and not requested content.
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
func (s *Session) change(p *pending, out *transcript.Outcome, failed bool) {
	c, a := p.call, &p.action
	seen := *out
	seen.Failed = failed
	i := c.Index
	if i < 0 {
		i = int32(len(s.Events) - 1) // of an inline sub-agent: the event that started it, or a later one
	}
	done := map[int]bool{}
	c.Files = nil
	for n, f := range a.Changes(&seen) {
		done[n] = true
		file := s.file(f.Path, i)
		if f.Op == transcript.Edit && n < len(p.swaps) && nothing(p.swaps[n]) { // it resolves nothing either
			c.Files = append(c.Files, Change{Op: transcript.Read, File: file, N: int32(n)})
			c.Replaced = i
			continue
		}
		c.Files = append(c.Files, Change{Op: f.Op, File: file, N: int32(n), Sure: f.Op != transcript.Other, Tree: f.Tree, Into: f.Loose})
		e := Edit{Event: i, Op: f.Op, Sub: c.Index < 0, Shell: a.Op == transcript.Command}
		switch f.Op {
		case transcript.Other:
		case transcript.Read:
			file.Reads++
			if text, ok := s.client.Reading(c.Tool, a, out).Text(); ok {
				file.seen(text, i)
			}
		case transcript.Revert:
			file.discard(i)
			file.Edits = append(file.Edits, e)
		case transcript.Delete:
			file.clear(i)
			e.Gone = true
			file.Edits, file.Deleted = append(file.Edits, e), true
			file.Open = !(file.Created && file.Open) // created and deleted between two commits: nothing is left
		case transcript.Rename:
			to := s.file(f.To, i)
			to.clear(i)
			to.lines, to.recent, to.written, file.lines = file.lines, file.recent, file.written, nil
			to.apply(p, n, i, out, false)
			to.Edits, to.Open = append(to.Edits, e), true
			e.Gone = true
			file.Edits, file.Deleted, file.Open = append(file.Edits, e), true, true
			c.Files[len(c.Files)-1].To = to
		default:
			file.Edits, file.Deleted = append(file.Edits, e), false
			file.apply(p, n, i, out, file.change(c, i))
			file.Created = file.Created || out.Created && len(file.Edits) == 1 && file.Reads == 0
		}
	}
	s.tried(c, a, done)
}

// nothing reports whether what a call writes is what stood there.
func nothing(all []swap) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(w swap) bool { return w.whole || w.old != w.new })
}

// change opens a file, and reports whether the change is the exact inverse of an earlier one. If all changes are undone, the file is
// not open.
func (f *File) change(c *Call, at int32) (undoes bool) {
	switch {
	case !f.Open:
		f.swaps, f.open, f.Opened = map[[2]uint64]*Call{}, 0, at
	case f.swaps == nil: // it was moved or deleted
		f.swaps, f.open = map[[2]uint64]*Call{}, 1
	}
	inverse := [2]uint64{c.swap[1], c.swap[0]}
	if first := f.swaps[inverse]; first != nil && c.swap[0] != 0 {
		delete(f.swaps, inverse)
		f.open--
		f.Open = f.open > 0
		first.Replaced, c.Replaced, c.Undoes = at, at, first
		return true
	}
	f.Open, f.swaps[c.swap] = true, c
	f.open++
	return false
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

// File returns what is known of a file, nil if nothing.
func (s *Session) File(path string) *File { return s.byPath[transcript.PathKey(path)] }

// Plan is the agent's plan or todo list, as last left.
type Plan struct {
	Steps []transcript.PlanItem
	Event int32 // the last call that changed it, -1 if there is none

	made  []int32 // of each step: the event that made it
	old   []transcript.PlanItem
	oldAt []int32
	was   int32
}

// maxPlan is how many steps of a plan are kept.
const maxPlan = 200

// begin applies a call that writes the plan.
func (p *Plan) begin(at int32, a *transcript.Action) {
	if !a.Replace && len(a.Plan) == 0 {
		return
	}
	p.was, p.old, p.oldAt = p.Event, slices.Clone(p.Steps), slices.Clone(p.made)
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

// end applies the result of a call about the plan: the keys of new steps, the whole list, or a failure.
func (p *Plan) end(c *Call, a *transcript.Action, out *transcript.Outcome) {
	switch {
	case c.State == Failed || c.State == Refused:
		if p.Event == c.Index && p.old != nil {
			p.Steps, p.made, p.Event = p.old, p.oldAt, p.was
		}
	case len(a.Plan) == 0 && !a.Replace && len(out.Plan) > 0:
		p.Steps, p.made, p.Event = nil, nil, c.Index
		for _, item := range out.Plan {
			p.put(item, c.Index)
		}
	case out.PlanID != "":
		for i := range p.Steps {
			if p.made[i] == c.Index && p.Steps[i].Key == "" {
				p.Steps[i].Key = clip(out.PlanID, 300)
			}
		}
	}
	p.old = nil
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

// Made returns the event that made a step of its own, -1 if the step is one of a list.
func (p *Plan) Made(step transcript.PlanItem) int32 {
	for i := range p.Steps {
		if p.Steps[i] == step && (i == 0 || p.made[i-1] != p.made[i]) && (i+1 == len(p.Steps) || p.made[i+1] != p.made[i]) {
			return p.made[i]
		}
	}
	return -1
}

// uses remembers in which event a value was last used: by a call, or in a message. It forgets the values used longest ago.
type uses struct{ now, before map[uint64]int32 }

// maxUses is how many values are kept at least, and half of how many at most.
const maxUses = 1 << 16

func newUses() uses { return uses{now: map[uint64]int32{}} }

// use notes the values of a text in an event.
func (s *Session) use(text string, at int32) {
	u := &s.uses
	lexicon.Terms(text[:min(len(text), lexicon.Searched)], func(term string) bool {
		if len(u.now) >= maxUses {
			u.now, u.before = map[uint64]int32{}, u.now
		}
		u.now[hashOf(term)] = at
		return true
	})
}

// UsedAfter reports whether a value of an earlier text is used by a message or a call after event at.
func (s *Session) UsedAfter(term string, at int32) bool {
	key := hashOf(term)
	if last, ok := s.uses.now[key]; ok {
		return last > at
	}
	return s.uses.before[key] > at
}

// hashOf returns the key of a short string (FNV-1a). It is never 0.
func hashOf(text string) uint64 {
	h := uint64(14695981039346656037)
	for j := range len(text) {
		h = (h ^ uint64(text[j])) * 1099511628211
	}
	return max(h, 1)
}

// Unresolved reports whether a call failed in a way that is a problem, and nothing later succeeded where it failed.
func (c *Call) Unresolved() bool {
	return c.State == Failed && !c.Aborted && c.Fixed < 0 && !c.answers()
}

// Ending says how a call that has a result ended, as "exit 1"; "" if there is nothing to say.
func (c *Call) Ending() string {
	switch {
	case c.State == Refused:
		return "refused"
	case c.Op == transcript.Command && c.Silent && c.State == Done:
		return "exit unknown"
	case c.Op == transcript.Command && c.HasExit:
		return "exit " + strconv.Itoa(c.Exit)
	case c.State == Failed:
		return "failed"
	}
	return ""
}

// Goal returns the program and sub-command that a command is about, "" if it has several or they are unknown.
func (c *Call) Goal() string {
	if len(c.run.goals) != 1 {
		return ""
	}
	return c.run.goals[0].what + " " + c.run.goals[0].narrow
}

// Git reports whether a command runs git.
func (c *Call) Git() bool {
	for i := range c.run.goals {
		if c.run.goals[i].what == "git" || strings.HasPrefix(c.run.goals[i].what, "git ") {
			return true
		}
	}
	return len(c.run.goals) == 0 && strings.Contains(c.Command, "git ")
}

// checkWords are the words by which build tools name what checks the work.
var checkWords = []string{"test", "build", "lint", "check", "vet", "compile", "tsc", "spec"}

// Remote reports whether a command talks to another machine, so that it checks nothing here.
func (c *Call) Remote() bool {
	for i := range c.run.goals {
		if program, _, _ := strings.Cut(c.run.goals[i].what, " "); remote[program] {
			return true
		}
	}
	return false
}

var remote = set("gh glab curl wget ssh scp rsync http")

// Aims reports whether a command does more than to look and to prepare, as far as is known.
func (c *Call) Aims() bool { return !c.LookUp && (len(c.run.goals) > 0 || !c.run.known) }

// Checks reports whether a command builds, tests or checks something, by its own words.
func (c *Call) Checks() bool {
	if c.Remote() || c.Git() {
		return false
	}
	for i := range c.run.goals {
		for _, w := range checkWords {
			if strings.Contains(c.run.goals[i].what, w) {
				return true
			}
		}
	}
	return false
}

// Repeats reports whether a command that checks the whole work includes what a narrower one does, by the word for it: "make
// test" is said to run the tests that "go test ./a" runs.
func (c *Call) Repeats(f *Call) bool {
	for i := range c.run.goals {
		g := &c.run.goals[i]
		if g.narrow != "" || len(g.targets) > 0 || !g.proved {
			continue
		}
		for _, w := range checkWords {
			if strings.Contains(g.what, w) && slices.ContainsFunc(f.run.goals, func(o goal) bool { return strings.Contains(o.what, w) }) {
				return true
			}
		}
	}
	return false
}

// Proves reports whether a check of the whole work without an error in its output proves that what failed in another one is mended: tests
// also build, but what builds may not pass its tests.
func (c *Call) Proves(f *Call) bool {
	tests := func(g goal) bool { return strings.Contains(g.what, "test") || strings.Contains(g.what, "spec") }
	return !c.Errors && c.Checks() && slices.ContainsFunc(c.run.goals, func(g goal) bool {
		whole := len(g.targets) == 0 || slices.ContainsFunc(g.targets, func(t string) bool { return strings.HasSuffix(t, "/...") })
		return g.proved && whole && g.narrow == "" && (tests(g) || !slices.ContainsFunc(f.run.goals, tests))
	})
}

// Named returns the files that a successful command names as its operands, in their order, resolved to its directory: of
// programs that read files and of git. What other programs take may be a pattern, a filter or a name of a test.
func (c *Call) Named() (paths []string) {
	parts, ok := transcript.SplitCommand(c.Command)
	if !ok || c.State != Done {
		return nil
	}
	dir := c.Dir
	for i := range parts {
		p := plainOf(&parts[i])
		if p.name == "cd" && len(p.args) == 1 {
			dir = transcript.Join(dir, p.args[0])
			continue
		}
		if !p.isLookUp() && p.name != "git" {
			continue
		}
		pattern := searchers[p.name]
		for _, w := range p.args {
			if strings.HasPrefix(w, "-") {
				continue
			}
			if pattern {
				pattern = false
				continue
			}
			if isPath(w) && !globs[p.name] {
				paths = append(paths, transcript.Join(dir, w))
			}
		}
	}
	return paths
}

// searchers take a pattern before their files; globs take names of files that need not exist.
var (
	searchers = set("grep egrep fgrep rg ag ack sed awk jq yq")
	globs     = set("find fd rg echo printf test [ which type locate")
)

// isPath reports whether a word of a command is the name of a file: plain characters, with a short ending.
func isPath(w string) bool {
	if len(w) < 4 || len(w) > 300 || w[0] == '-' || strings.Contains(w, "..") || strings.ContainsAny(w, "*?$`'\"{}()[]<>|&;:=@%^!,\\ \t\n") {
		return false
	}
	base := w[strings.LastIndexByte(w, '/')+1:]
	dot := strings.LastIndexByte(base, '.')
	end := base[dot+1:]
	return dot > 0 && end != "" && len(end) <= 6 && strings.Trim(end, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == "" &&
		strings.Trim(end, "0123456789") != ""
}

// actsOf returns the simple commands of a line that do something, as words, without what only looks or prepares.
func actsOf(line string, parts []transcript.Simple) (all []string) {
	if line, ok := alone(line, parts); ok {
		return []string{clip(line, maxCommand)}
	}
	for i := range parts {
		p := plainOf(&parts[i])
		if p.name == "" || p.isLookUp() || helpers[p.name] || lookUps[p.name] && (p.writes || len(p.args) == 0) {
			continue
		}
		words := make([]string, 0, len(parts[i].Words))
		for _, w := range parts[i].Words {
			words = append(words, shown(line, w))
		}
		all = append(all, clip(strings.Join(words, " "), maxCommand))
	}
	return all
}

// alone returns a line as it was written, with its variables, if it has one command, perhaps behind a change of directory.
func alone(line string, parts []transcript.Simple) (string, bool) {
	line = strings.TrimSpace(line)
	if len(parts) == 2 && parts[1].Join == "&&" && len(parts[0].Words) == 2 && parts[0].Words[0] == "cd" {
		_, line, _ = strings.Cut(line, "&&")
		parts = parts[1:]
	}
	line = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), "2>&1"))
	return line, len(parts) == 1 && !strings.Contains(line, "\n")
}

// longText is from how many bytes on a word with a blank is a text that a command passes on, and not a name or a pattern.
const longText = 40

// shown returns a word of a command as its line has it. Of a text it shows no more than that there is one.
func shown(line, w string) string {
	if len(w) >= longText && strings.ContainsAny(w, " \n") {
		name, _, ok := strings.Cut(w, "=")
		if quote, _, _ := strings.Cut(name, " "); !ok || quote != name {
			return "'…'"
		}
		if strings.Contains(line, name+"=\"") {
			return name + "=\"…\""
		}
		return name + "='…'"
	}
	if w == "" || strings.ContainsAny(w, " \t\n|&;<>()$`\\\"'*?[]#~{}") {
		for _, form := range []string{"'" + w + "'", "\"" + w + "\"", w} {
			if w != "" && strings.Contains(line, form) && (form != w || !strings.ContainsAny(w, " \t\n")) {
				return form
			}
		}
		return transcript.ShellWord(w)
	}
	return w
}
