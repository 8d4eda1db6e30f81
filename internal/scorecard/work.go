package scorecard

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/transcript"
)

// call is a tool call without a result so far.
type call struct {
	tool   string
	action transcript.Action
	asks   asks
	at     source
}

// asks is what a call asks the person.
type asks struct {
	Questions []struct {
		ID       string `json:"id"`
		Question string `json:"question"`
	} `json:"questions"`
	Plan string `json:"plan"`
}

// openError is a command that failed and has not succeeded since.
type openError struct {
	command string
	*fact
}

type planItem struct {
	transcript.PlanItem
	at source
}

func (f *Facts) addCall(it *transcript.Item, input []byte) {
	c := call{tool: strings.Clone(it.Tool), action: it.Understand(), at: f.at}
	switch c.action.Op {
	case transcript.Plan:
		f.addPlan(c)
	case transcript.Ask:
		_ = json.Unmarshal(input, &c.asks) // input of another form gives no facts
	}
	f.addDecisions(changes(&c.action))
	if it.Call == "" || len(f.calls) >= maxCalls {
		f.addCommand(c, transcript.Outcome{})
		return
	}
	f.calls[strings.Clone(it.Call)] = c
}

// changes reports whether a call changes something: a file, or anything else by a command that is no look-up.
func changes(a *transcript.Action) bool {
	switch a.Op {
	case transcript.Write, transcript.Edit, transcript.Delete, transcript.Rename:
		return true
	case transcript.Command:
		return !lookup(a.Command)
	}
	return false
}

var (
	reads   = lazy(`^(?:ls|cat|head|tail|sed -n|grep|rg|find|fd|which|type|command -v|wc|stat|file|du|pwd|echo|tree|test|\[|jq|sort|nl|printenv|date|git (?:status|log|diff|show|branch|remote|rev-parse|ls-files|grep|blame)|\S+ --?version)(?:\s|$)`)
	setting = lazy(`^(?:cd (?:"[^"]*"|\S+) ?(?:&&|;) ?|\w+=\S* |(?:sudo|time|nice|timeout \S+) )+`)
	piped   = lazy(`(?:\s*2>&1|\s*\|\s*(?:tail|head|cat|grep|tee)\b[^|]*)+$`)
)

// bare returns a command without settings before it and without pipes that only cut its output.
func bare(command string) string {
	return piped().ReplaceAllString(setting().ReplaceAllString(normal(command), ""), "")
}

// lookup reports whether a command only looks something up, so that its failure is an answer, too.
func lookup(command string) bool { return reads().MatchString(bare(command)) }

// addReply adds a person's answer to a question, or what they said about a call that they refused. It returns false if
// that text is also a message of its own.
func (f *Facts) addReply(it *transcript.Item, text string) bool {
	c := f.calls[it.Call]
	delete(f.calls, it.Call)
	if it.Failed {
		said, _ := it.Said()
		f.addRefusal(c, normal(said))
		return false
	}
	f.addQuestions(c, text)
	return true
}

// quotedAnswer matches an answer as Claude Code writes it.
var quotedAnswer = lazy(`"="((?:[^"\\]|\\.)*)"`)

// addQuestions adds questions with their answers, or a plan that was approved.
func (f *Facts) addQuestions(c call, text string) {
	var told struct {
		Answers map[string]struct {
			Answers []string `json:"answers"`
		} `json:"answers"`
	}
	_ = json.Unmarshal([]byte(text), &told) // if it is no JSON, it is text
	for _, q := range c.asks.Questions {
		answer := strings.Join(told.Answers[q.ID].Answers, ", ")
		if _, rest, ok := strings.Cut(text, q.Question); ok && answer == "" {
			if m := quotedAnswer().FindStringSubmatch(rest); m != nil {
				answer = m[1]
			}
		}
		if answer != "" {
			f.addPair(Questions, c, lexicon.Head(normal(q.Question), lineChars), lexicon.Head(normal(answer), cmdChars), "")
		}
	}
	f.addShownPlan(c, "approved")
}

// addShownPlan adds a plan that was shown to the person, by its first line.
func (f *Facts) addShownPlan(c call, state string) {
	line, _, _ := strings.Cut(strings.TrimSpace(c.asks.Plan), "\n")
	f.addPair(Questions, c, lexicon.Head(normal(strings.TrimLeft(line, "# ")), cmdChars), "", state)
}

// addPair adds a fact with one part in a call and the other in its result.
func (f *Facts) addPair(class Class, c call, text, tail, state string) {
	if text == "" {
		return
	}
	at := f.at
	if c.at != (source{}) {
		f.at = c.at
	}
	if one := f.note(class, text, fact{text: text, strong: true}); one != nil {
		one.tail, one.status, one.output = tail, state, at
	}
	f.at = at
}

// addRefusal adds a call that the person refused, with what they said about it.
func (f *Facts) addRefusal(c call, why string) {
	what := bare(c.action.Command)
	if len(c.action.Files) > 0 && what == "" {
		what = transcript.Base(c.action.Files[0].Path)
	}
	if f.addShownPlan(c, "refused"); what == "" && c.asks.Plan == "" {
		what = normal(cmp.Or(c.action.Query, c.tool))
	}
	f.addPair(Refusals, c, lexicon.Head(what, shortChars), lexicon.Head(why, lineChars), "refused")
}

func (f *Facts) addResult(it *transcript.Item) {
	c := f.calls[it.Call]
	delete(f.calls, it.Call)
	out := it.Explain(cmp.Or(c.tool, it.Tool), c.action.Op)
	f.addCommand(c, out)
	if c.action.Op == transcript.Plan && out.PlanID != "" && len(c.action.Plan) == 1 {
		f.setPlanKey(c, out.PlanID)
	}
	if out.Rejected && strings.Contains(out.Text, "user") {
		f.addRefusal(c, "")
	}
	if out.Rejected || out.Running {
		return
	}
	if c.action.Op == transcript.Agent && !strings.HasPrefix(out.Text, "Async agent launched") {
		f.addSentences(Reports, []saying{{out.Text, f.at}})
	}
	if c.action.Op == transcript.Command && !c.action.Stdin {
		f.addOutcome(c, &out)
	} else if failed(&out) {
		f.addError(out.Text)
	}
	f.addTrace(c, &out)
}

// addNotice adds the report of a background sub-agent.
func (f *Facts) addNotice(text string) {
	_, rest, _ := strings.Cut(text, "<result>")
	if report, _, ok := strings.Cut(rest, "</result>"); ok {
		f.addSentences(Reports, []saying{{report, f.at}})
	}
}

func failed(out *transcript.Outcome) bool { return out.Failed || out.HasExit && out.Exit != 0 }

// addError adds the line of a failed result that says why.
func (f *Facts) addError(text string) string {
	line := problem(text)
	if line != "" {
		f.note(Errors, line, fact{text: line})
	}
	return line
}

// addOutcome adds the result of a command, and opens or closes its error. A look-up that fails, and a command that
// prints nothing, is no error.
func (f *Facts) addOutcome(c call, out *transcript.Outcome) {
	key := bare(c.action.Command)
	if key == "" {
		return
	}
	f.git.read(c.action.Command, out, f.at)
	bad := failed(out)
	f.open = slices.DeleteFunc(f.open, func(e openError) bool { return e.command == key || !bad && out.HasExit && sameGoal(e.command, key) })
	if strings.TrimSpace(out.Text) == "" || lookup(key) {
		return
	}
	line := outcome(out.Text)
	if bad {
		line = f.addError(out.Text)
	}
	if line != "" {
		f.addPair(Outcomes, c, lexicon.Head(key, shortChars), lexicon.Head(line, cmdChars), "")
	}
	if bad && len(f.open) < maxFacts/10 {
		one := &fact{text: lexicon.Head(key, cmdChars), status: status(out), strong: true, sources: []source{f.at, c.at}, output: f.at}
		if line != "" {
			one.text, one.status, one.sources = line, "", []source{c.at, f.at}
		}
		f.open = append(f.open, openError{key, one})
	}
}

// sameGoal reports whether a command runs the same program as a failed one, with at least the same arguments, flags
// aside.
func sameGoal(failed, command string) bool {
	plain := func(command string) (all []string) {
		for _, w := range strings.Fields(command) {
			if w[0] != '-' {
				all = append(all, w)
			}
		}
		return all
	}
	x, y := plain(failed), plain(command)
	return len(x) > 1 && len(y) > 1 && x[0] == y[0] && !slices.ContainsFunc(x, func(w string) bool { return !slices.Contains(y, w) })
}

// status returns how a command ended: its exit status, "failed", or "" if that is unknown.
func status(out *transcript.Outcome) string {
	switch {
	case out.HasExit:
		return strconv.Itoa(out.Exit)
	case out.Failed:
		return "failed"
	}
	return ""
}

// lookupWeight is the weight of a command that only looks something up; other commands weigh 1.
const lookupWeight = 0.25

// addCommand adds what a call did, once its result is known.
func (f *Facts) addCommand(c call, out transcript.Outcome) {
	if out.Rejected {
		return
	}
	at := f.at
	f.at = c.at
	defer func() { f.at = at }()
	if whole := normal(c.action.Command); c.action.Op == transcript.Command && !c.action.Stdin && whole != "" {
		one := fact{text: lexicon.Head(whole, cmdChars), strong: true}
		if lookup(whole) {
			one.weight = lookupWeight
		}
		if one := f.note(Commands, whole, one); one != nil {
			one.status, one.output = status(&out), at
		}
	}
	if failed(&out) || c.action.Op == transcript.Command && !out.HasExit {
		return
	}
	f.addFiles(&c.action, &out)
}

// addPlan adds a plan as written, or applies a call's changes to it.
func (f *Facts) addPlan(c call) {
	if c.action.Replace {
		f.plan = nil
	}
	for _, p := range c.action.Plan {
		i := slices.IndexFunc(f.plan, func(q planItem) bool { return p.Key != "" && q.Key == p.Key })
		switch {
		case i >= 0 && !c.action.Replace:
			f.plan[i].Text, f.plan[i].Status = cmp.Or(p.Text, f.plan[i].Text), cmp.Or(p.Status, f.plan[i].Status)
		case p.Text != "" && len(f.plan) < maxFacts/10:
			f.plan = append(f.plan, planItem{p, c.at})
		}
	}
}

// setPlanKey gives the item that a call added the key in the call's result.
func (f *Facts) setPlanKey(c call, key string) {
	for i := len(f.plan) - 1; i >= 0; i-- {
		if f.plan[i].at == c.at && f.plan[i].Key == "" {
			f.plan[i].Key = key
			return
		}
	}
}

// addTrace adds what a text must show of a long result that it omits.
func (f *Facts) addTrace(c call, out *transcript.Outcome) {
	if !long(out.Text, longResult) || failed(out) {
		return
	}
	switch c.action.Op {
	case transcript.Read:
		content, _, ok := transcript.FileText(out.Text)
		if len(c.action.Files) > 0 && ok {
			name, n := c.action.Files[0].Path, strconv.Itoa(1+strings.Count(strings.TrimSuffix(content, "\n"), "\n"))
			f.note(Contents, name+"\n"+n, fact{text: name, status: n, tail: lexicon.Head(normal(lexicon.Head(content, longResult)), lineChars)})
		}
	case transcript.Search, transcript.Web:
		for line := range strings.Lines(lexicon.Head(out.Text, longResult)) {
			if l := lexicon.Head(normal(line), cmdChars); length(l) > 0 && strings.ContainsAny(l, "./") {
				f.note(Hits, l, fact{text: l})
				break
			}
		}
	}
}
