package compactor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// The room of the handover in a text, in chars: a share of the text within these bounds.
const (
	handoverPart  = 6
	leastHandover = 1200
	mostHandover  = 2450
	smallHandover = 1800 // below it, lists are shorter
	mostLines     = 12
	quoteParts    = 8 // a quote has this part of the handover
	leastLine     = 120
	leastCut      = 10 // chars that the mark of a cut line takes at most
)

// saysSomething is how long a message must be to be a task by itself, in the width of an alphabet.
const saysSomething = 50

// handover is the state of the work: observations, each with the record that shows it. Nothing in it is inferred.
type handover struct {
	*draft
	quote int // chars of a quote
	big   bool
	lines []string
	asks  []*event // what the human said to the agent, in order
	chain []*event // of it, the task and what was said since
}

// claim is what a line says of a record: that it has a text.
type claim struct {
	ref session.Ref
	has string
}

// makeHandover returns the lines of the handover, in at most room chars.
func (d *draft) makeHandover(room int) string {
	h := &handover{draft: d, quote: room / quoteParts, big: room > smallHandover}
	for _, e := range d.events {
		if (e.kind == human || e.kind == refusal) && !e.Back {
			h.asks = append(h.asks, e)
		}
	}
	for _, line := range []func(){h.task, h.turn, h.compacted, h.plans, h.git, h.checks, h.failures, h.refusals, h.standing} {
		line()
	}
	return h.fit(room)
}

// fit joins the lines that fit, as the reader's client counts; in little room the last ones go first.
func (h *handover) fit(room int) string {
	var b strings.Builder
	for _, line := range h.lines[:min(len(h.lines), mostLines)] {
		if room < leastLine {
			break
		}
		line = lexicon.Head(line, mark.MaxLine-1)
		if size := h.reader.Size(line); size >= room {
			most := lexicon.Chars(line) * (room - leastCut) / size
			line = strings.TrimRight(lexicon.Head(line, max(0, most)), " ") + " …"
		}
		b.WriteString(line + "\n")
		room -= h.reader.Size(line) + 1
	}
	return b.String()
}

func (h *handover) line(format string, args ...any) {
	h.lines = append(h.lines, fmt.Sprintf(format, args...))
}

// proves notes that a line quotes a record.
func (h *handover) proves(ref session.Ref, quoted string) string {
	h.claims = append(h.claims, claim{ref, quoted})
	return quoted
}

// said returns what an event says, on one line.
func (h *handover) said(e *event) string {
	if e.Ref.Kind == transcript.Image {
		return e.Attached()
	}
	return joined(shownText(h.src.Text(e.Ref)))
}

// begins quotes the beginning of a text, and its end if it is long.
func (h *handover) begins(ref session.Ref, text string, most int) string {
	if ref.Kind == transcript.Image {
		return text
	}
	if lexicon.Chars(text) <= most {
		return asText(h.proves(ref, text), 0)
	}
	head := h.proves(ref, strings.TrimSpace(lexicon.HeadAt(text, most*2/3)))
	tail := h.proves(ref, strings.TrimSpace(lexicon.TailAt(text, most/3)))
	return asText(head+" … "+tail, 0)
}

// ends quotes the first sentence of a text and as many of the last ones as fit.
func (h *handover) ends(ref session.Ref, most int) string {
	text := withoutCode(shownText(h.src.Text(ref)))
	all := sentences(text)
	if one := joined(text); lexicon.Chars(one) <= most || len(all) == 0 {
		for _, s := range all {
			h.provesWords(ref, s.text)
		}
		return asText(one, most)
	}
	first := h.provesWords(ref, strings.TrimSpace(lexicon.HeadAt(all[0].text, most/3)))
	room := most - lexicon.Chars(first) - 4
	var tail []string
	for _, s := range slices.Backward(all[1:]) {
		n := lexicon.Chars(s.text) + 1
		if n > room {
			if len(tail) == 0 {
				tail = append(tail, h.provesWords(ref, lexicon.TailAt(s.text, room)))
			}
			break
		}
		room -= n
		tail = append(tail, h.provesWords(ref, s.text))
	}
	slices.Reverse(tail)
	return asText(first+" … "+strings.Join(tail, " "), 0)
}

// provesWords is proves, unless the words are ccd's own in place of code.
func (h *handover) provesWords(ref session.Ref, text string) string {
	if strings.HasPrefix(text, codeMark) {
		return text
	}
	return h.proves(ref, text)
}

// codeMark begins what a quote has in place of a block of code.
const codeMark = "[code, "

// withoutCode returns a text with a mark in place of each fenced block.
func withoutCode(text string) string {
	var b strings.Builder
	var fences lexicon.Fences
	code := 0
	for line := range strings.Lines(text) {
		switch fence, inside := fences.Line(line); {
		case fence && inside:
			code = 0
		case fence:
			fmt.Fprintf(&b, "%s%d lines]\n", codeMark, code)
		case inside:
			code++
		default:
			b.WriteString(line)
		}
	}
	return b.String()
}

// task quotes the newest message that says something by itself, and the shorter ones since, each with what it replies to.
func (h *handover) task() {
	h.chain = h.newestAsks()
	for i, e := range h.chain {
		name, most := "Task", 3*h.quote
		if i > 0 {
			name, most = "then", h.quote
			if n := h.between(h.chain[i-1], e); n > 0 {
				name = fmt.Sprintf("then, after %d more", n)
			}
		}
		how := ""
		switch {
		case e.kind == refusal:
			how = ", refusing " + h.doing(e.Call, 70)
		case e.Kind == session.Queued:
			how = ", while you worked"
		}
		text := h.said(e)
		h.line("%s (#%d%s%s%s): %s%s", name, e.n, h.stamp(e), how, e.With(), h.begins(e.Ref, text, most), h.repliesTo(e, text))
	}
}

// newestAsks returns the human's newest messages, at most three, back to one that is a task by itself; if none of them is, with the
// newest before them that is.
func (h *handover) newestAsks() (all []*event) {
	isTask := func(e *event) bool {
		return e.kind != refusal && e.Kind != session.Queued && lexicon.Width(h.said(e)) >= saysSomething && !h.settled(e)
	}
	for _, e := range slices.Backward(h.asks) {
		found := isTask(e)
		if found || len(all) < 3 {
			all = append(all, e)
		}
		if found {
			break
		}
	}
	slices.Reverse(all)
	return all
}

// settled reports whether a message was a question that the agent answered in words alone.
func (h *handover) settled(e *event) bool {
	if text := h.said(e); !strings.HasSuffix(text, "?") && !strings.HasSuffix(text, "？") && !strings.HasSuffix(text, "؟") {
		return false
	}
	for _, after := range h.events[e.index+1:] {
		switch {
		case after.heading():
			return true
		case after.kind == edit, after.kind == run, after.kind == check, after.kind == gitRun, after.kind == report, after.kind == planned:
			return false
		}
	}
	return false
}

// between returns how many messages of the human are between two.
func (h *handover) between(a, b *event) (n int) {
	for _, e := range h.asks {
		if e.index > a.index && e.index < b.index {
			n++
		}
	}
	return n
}

// stamp is the time of an event.
func (h *handover) stamp(e *event) string {
	if e.time.IsZero() {
		return ""
	}
	return e.time.Format(", 2006-01-02 15:04Z")
}

// leastReply is how long words must be to be replied to, in the width of an alphabet: a greeting is shorter.
const leastReply = 12

// repliesTo quotes the words of the agent that a short message replies to.
func (h *handover) repliesTo(e *event, text string) string {
	if lexicon.Width(text) >= 2*saysSomething {
		return ""
	}
	for _, before := range slices.Backward(h.events[:e.index]) {
		switch {
		case before.Back, before.Kind == session.Thought, before.Kind == session.Noted, before.Kind == session.Said && lexicon.Width(h.said(before)) < leastReply:
			continue
		case before.Kind == session.Said:
			return fmt.Sprintf(" (to your #%d: %s)", before.n, h.ends(before.Ref, h.quote))
		}
		break
	}
	return ""
}

// compacted says that the newest compactions freed little: each time the context was full again a few events later.
func (h *handover) compacted() {
	const fewEvents, often = 8, 3
	all := h.s.Bounds
	from := len(all) - 1
	for from > 0 && all[from].Event-all[from-1].Event <= fewEvents {
		from--
	}
	if n := len(all) - from; n >= often {
		h.line("Compacted %d times from #%d to #%d: the context was soon full again.", n, int(all[from].Rec)+1, int(all[len(all)-1].Rec)+1)
	}
}

// turn says how the turn stands: who is to speak, what the agent said last, what it did since, and what stopped it.
func (h *handover) turn() {
	end, words := h.newest()
	if end == nil {
		return
	}
	switch {
	case end.Kind == session.Stopped:
		h.line("Stopped (#%d): %s", end.n, mark.Inline(stopWords(end.Note), 160))
	case end.kind == human:
		h.line("Your move: #%d has no answer yet.", end.n)
	}
	if words != nil {
		name := "Your last words"
		if words.Ends && end == words {
			name = "The human's move; your turn ended"
		}
		h.line("%s (#%d): %s", name, words.n, h.ends(words.Ref, 2*h.quote))
	}
	h.since(words, end)
}

// newest returns the newest event of the work, and the newest words of the agent unless they answered something before the task.
func (h *handover) newest() (end, words *event) {
	for _, e := range slices.Backward(h.events) {
		if end == nil && e.Kind != session.Thought && e.Kind != session.Noted && e.Kind != session.Withdrawn {
			end = e
		}
		if e.Kind == session.Said {
			words = e
			break
		}
	}
	if len(h.chain) > 0 && words != nil && words.n < h.chain[0].n {
		words = nil
	}
	return end, words
}

// since lists the calls after the agent's last words, with their outcome.
func (h *handover) since(words, end *event) {
	calls := h.callsSince(words)
	if end.kind == human || len(calls) == 0 {
		return
	}
	if c := calls[0].Call; c.Op == transcript.Ask && c.State == session.Pending {
		h.line("The human's move: %s (#%d) has no answer yet.", h.doing(c, 2*h.quote), c.At.N())
		return
	}
	most := 2
	if h.big {
		most = 5
	}
	n := len(calls)
	calls = calls[:min(n, most)]
	slices.Reverse(calls)
	all := make([]string, 0, len(calls))
	for _, e := range calls {
		why := ""
		if e.failed {
			why = h.errorLine(e.Call)
		}
		all = append(all, fmt.Sprintf("%s%s%s (#%d)", h.doing(e.Call, 70), ending(e.Call), why, e.n))
	}
	name := "Last calls"
	if words != nil && !slices.ContainsFunc(h.events[words.index:], (*event).heading) {
		name = "After them"
	}
	h.line("%s (%d): %s", name, n, strings.Join(all, "; "))
}

// callsSince returns the calls after the agent's last words and the human's, the newest first.
func (h *handover) callsSince(words *event) (calls []*event) {
	for _, e := range slices.Backward(h.events) {
		if words != nil && e.n < words.n || e.kind == human {
			break
		}
		if e.Kind == session.Did && e.kind != steps {
			calls = append(calls, e)
		}
	}
	return calls
}

// plans says what became of the newest plan that the agent showed, and which steps of its list are open.
func (h *handover) plans() {
	for _, e := range slices.Backward(h.events) {
		if e.kind == planned && e.turn >= h.turns-1 {
			words := ""
			if e.Call.State == session.Refused && !e.Call.Words.Zero() {
				words = "; the human said: " + h.begins(e.Call.Words, joined(h.src.Text(e.Call.Words)), h.quote)
			}
			h.line("Plan shown (#%d)%s: %s%s", e.n, verdict(e.Call), mark.Inline(strings.TrimLeft(h.planText(e.Call), "# "), h.quote), words)
			break
		}
	}
	p := &h.s.Plan
	open := p.Unfinished()
	at := h.eventAt(p.Event)
	if len(open) == 0 || at == nil || at.turn < h.turns-2 { // the work went on to something else
		return
	}
	most := 3
	if h.big {
		most = 6
	}
	slices.SortStableFunc(open, func(a, b transcript.PlanItem) int { return started(b) - started(a) })
	var all []string
	for _, step := range open[:min(len(open), most)] {
		text := mark.Inline(step.Text, 90)
		if started(step) > 0 {
			text += " [in progress]"
		}
		all = append(all, text)
	}
	if n := len(open) - len(all); n > 0 {
		all = append(all, fmt.Sprintf("and %d more", n))
	}
	h.line("Plan (#%d), %d of %d steps open: %s", h.s.Events[p.Event].N(), len(open), len(p.Steps), strings.Join(all, "; "))
}

func started(step transcript.PlanItem) int {
	if step.Status == "in_progress" {
		return 1
	}
	return 0
}

// checks lists what was built and tested after the last edit, or since git changed the files.
func (h *handover) checks() {
	var all []string
	since := "the last edit"
	seen := map[string]bool{}
	for _, e := range slices.Backward(h.events) {
		if e.kind == edit && e.Call.State == session.Done {
			break
		}
		if e.kind == gitRun && e.Call.State == session.Done && slices.ContainsFunc(e.git, moves) && !h.elsewhere(e.Call) {
			since = fmt.Sprintf("git changed the files (#%d)", e.n)
			break
		}
		if e.kind != check || seen[e.Call.Goal] || e.Call.State == session.Refused || len(all) == 4 {
			continue
		}
		seen[e.Call.Goal] = true
		all = append(all, fmt.Sprintf("%s%s%s (#%d)", h.doing(e.Call, 90), ending(e.Call), h.lastLine(e.Call), e.n))
	}
	if len(all) > 0 {
		h.line("Checks since %s, newest first: %s", since, strings.Join(all, "; "))
	}
}

// echoes matches a line in which a runner says what it runs, as `[lint] $ golangci-lint run`.
var echoes = regexp.MustCompile(`^(?:\[[^\]]*\] )?[$>] `)

// lastLine quotes the last line of an output.
func (h *handover) lastLine(c *session.Call) string {
	rows := strings.Split(strings.TrimSpace(h.output(c)), "\n")
	for _, row := range slices.Backward(rows) {
		if echoes.MatchString(row) {
			continue
		}
		last := joined(row)
		if !hasWord(last) || lexicon.Chars(last) > 100 {
			break
		}
		return ": " + asText(h.proves(c.Result, last), 0)
	}
	return ""
}

// failures lists the checks that failed, if nothing ran since that covers them and did not fail.
func (h *handover) failures() {
	var later, all []*event
	for _, e := range slices.Backward(h.events) {
		if e.Kind != session.Did || e.Call.Goal == "" || e.turn < h.turns-1 {
			continue
		}
		failed := e.kind == check && e.failed && !e.Call.Aborted
		covered := slices.ContainsFunc(later, func(l *event) bool { return l.Call.Covers(e.Call) })
		if failed && !covered && len(all) < 3 {
			all = append(all, e)
		}
		if failed || e.Call.State == session.Done && !(e.Call.Silent && h.reportsErrors(e.Call)) {
			later = append(later, e)
		}
	}
	h.failed(all)
}

// failed prints commands that failed, each with its error.
func (h *handover) failed(all []*event) {
	var told []string
	for _, e := range all {
		told = append(told, fmt.Sprintf("`%s`%s (#%d)%s", mark.Inline(h.relative(e.Call.Command), 90), ending(e.Call), e.n, h.errorLine(e.Call)))
	}
	if len(told) > 0 {
		h.line("Failed, not seen to pass since: %s", strings.Join(told, "; "))
	}
}

// reportsErrors reports whether an output has a line that begins with an error.
func (h *handover) reportsErrors(c *session.Call) bool {
	for range lexicon.NumberedErrors(h.output(c), true) {
		return true
	}
	return false
}

// errorLine quotes the first line of an output that reports an error, else the last one.
func (h *handover) errorLine(c *session.Call) string {
	text := h.output(c)
	listed := strings.Contains("\n"+text, "\nE  ") // a listing of the source, with the error in its lines that begin with E
	for _, line := range lexicon.NumberedErrors(text, true) {
		if strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "warn") || listed && !strings.HasPrefix(line, "E  ") {
			continue
		}
		line = joined(lexicon.Head(line, 140))
		return ": " + asText(h.proves(c.Result, line), 0)
	}
	return h.lastLine(c)
}

// refusals lists what the human refused and the agent has not run since.
func (h *handover) refusals() {
	done := map[string]bool{}
	var all []string
	for _, e := range slices.Backward(h.events) {
		if e.Call == nil || e.Kind != session.Did && e.Kind != session.Shell || e.kind == planned || e.kind == choice || len(all) == 3 {
			continue
		}
		what := h.doing(e.Call, 90)
		if e.Call.State != session.Refused {
			done[what] = true
			continue
		}
		if done[what] {
			continue
		}
		done[what] = true
		one := fmt.Sprintf("%s (#%d)", what, e.n)
		if told := slices.ContainsFunc(h.chain, func(c *event) bool { return c.Call == e.Call }); !told && !e.Call.Words.Zero() {
			one += ": " + h.begins(e.Call.Words, joined(h.src.Text(e.Call.Words)), h.quote)
		}
		all = append(all, one)
	}
	if len(all) > 0 {
		h.line("Refused, not run since: %s", strings.Join(all, "; "))
	}
}
