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
	"ccd/internal/words"
)

// The room of the handover in a text, in chars: a share of the text within these bounds.
const (
	handoverPart  = 6
	leastHandover = 1200
	mostHandover  = 2450
	smallHandover = 1800 // below it, lists are shorter
	mostLines     = 12
	quoteParts    = 8 // a quote has this part of the handover
	shortParts    = 6 // a message of the human of this part is not cut
	leastLine     = 120
	leastCut      = 10 // chars that the mark of a cut line takes at most
)

// saysSomething is how long a message must be to be a task by itself, in the width of an alphabet.
const saysSomething = 50

// longReply is how long a message is that needs no other words to be understood.
const longReply = 300

// handover is the state of the work: observations, each with the record that shows it. Nothing in it is inferred.
type handover struct {
	*draft
	most       amounts
	quote      int // chars of a quote
	short      int // chars of a message that is never cut
	lines      []string
	asks       []*event        // what the human said to the agent, in order
	chain      []*event        // of it, what the first lines quote
	checkedNow map[*event]bool // the checks since the files changed
	told       *event          // the words of the agent that are quoted as what the human replied to
}

// amounts are how much the lines of a handover have.
type amounts struct{ quotes, calls, steps, files, standing int } // quotes: of how many the words are that a message answers

var (
	small = amounts{quotes: 2, calls: 2, steps: 3, files: 5, standing: 2}
	large = amounts{quotes: 3, calls: 5, steps: 6, files: 10, standing: 5}
)

// claim is what a line says of a record: that it has a text.
type claim struct {
	ref session.Ref
	has string
}

// leastQuoted is how short quotes get, in chars, before lines are left out.
const leastQuoted = 80

// makeHandover returns the lines of the handover, in at most room chars. Shorter quotes come before fewer lines.
func (d *draft) makeHandover(room int) string {
	h := &handover{draft: d, most: small, quote: room / quoteParts, short: room / shortParts, checkedNow: map[*event]bool{}}
	if room > smallHandover {
		h.most = large
	}
	for _, e := range d.events {
		if h.isAsk(e) {
			h.asks = append(h.asks, e)
		}
	}
	for {
		h.lines, h.claims, h.chain, h.told = nil, nil, nil, nil
		for _, part := range []func(){h.task, h.turn, h.plans, h.git, h.checks, h.failures, h.refusals, h.standing} {
			part()
		}
		if h.size() <= room || h.quote <= leastQuoted {
			return h.fit(room)
		}
		h.quote, h.short = h.quote*3/4, max(leastLine, h.short*3/4)
	}
}

// size is that of all lines, as the reader's client counts.
func (h *handover) size() (n int) {
	for _, line := range h.lines {
		n += h.reader.Size(line) + 1
	}
	return n
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
			line = strings.TrimRight(untorn(lexicon.Head(line, max(0, most))), " ;,") + " …"
		}
		b.WriteString(line + "\n")
		room -= h.reader.Size(line) + 1
	}
	return b.String()
}

// untorn returns the beginning of a line without a record's number, or a status, that is not whole.
func untorn(line string) string {
	if i := strings.LastIndexAny(line, "([#"); i >= 0 && len(line)-i < 2*leastCut && !strings.ContainsAny(line[i:], ")]") {
		return line[:i]
	}
	return line
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

// task quotes the message that began the turn, and what the human said since. If that message names nothing by itself, the newest one
// before it that does comes first.
func (h *handover) task() {
	turn := h.newestTurn()
	if turn == nil {
		return
	}
	if anchor := h.anchor(turn); anchor != nil {
		name := "Asked before"
		if n := slices.Index(h.asks, turn) - slices.Index(h.asks, anchor) - 1; n > 0 {
			name += fmt.Sprintf(", %d more since", n)
		}
		h.ask(name, anchor, h.short, "")
	}
	h.ask("Task", turn, 3*h.quote, h.answering(turn))
	var left []*event
	since := h.asksAfter(turn)
	quoted := h.quotedSince(since)
	for i, e := range since {
		if !quoted[e] {
			left = append(left, e)
			continue
		}
		name := "then"
		if len(left) > 0 {
			name = "then, after " + numbers(left)
		}
		left = nil
		most := h.short
		if i == len(since)-1 { // the newest counts most
			most = 2 * h.quote
		}
		h.ask(name, e, most, h.answering(e))
	}
}

// quotedSince returns which messages since the task are quoted: the newest, and of the others the newest that says something by itself.
func (h *handover) quotedSince(since []*event) map[*event]bool {
	quoted := map[*event]bool{}
	for _, bare := range []bool{false, true} {
		for i, e := range slices.Backward(since) {
			if len(quoted) < mostSince && (bare || i == len(since)-1 || lexicon.Width(h.said(e)) >= saysSomething) {
				quoted[e] = true
			}
		}
	}
	return quoted
}

// numbers names records, in the order of the text: "#33, #40".
func numbers(all []*event) string {
	var names []string
	for _, e := range all[:min(len(all), mostListed)] {
		names = append(names, fmt.Sprintf("#%d", e.n))
	}
	if n := len(all) - len(names); n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ")
}

// mostSince is how many messages since the task are quoted.
const mostSince = 2

// ask prints the line of what the human said, and of what it answers.
func (h *handover) ask(name string, e *event, most int, answering string) {
	h.chain = append(h.chain, e)
	n := e.n
	if e.kind == choice {
		n = e.Call.Words.N()
	}
	h.line("%s (#%d%s%s%s): %s%s", name, n, words.Format(e.time, ", 2006-01-02 15:04Z"), h.how(e), e.With(), h.asked(e, most), answering)
}

// newestTurn returns the newest message that began a turn, nil if there is none.
func (h *handover) newestTurn() (turn *event) {
	for _, e := range slices.Backward(h.asks) {
		turn = e
		before := h.before(e)
		if e.heading() && (before == nil || !h.isAsk(before)) && !h.cutsIn(e) {
			break
		}
	}
	return turn
}

// anchor returns the newest message that names something by itself before one that does not, nil if that one does.
func (h *handover) anchor(turn *event) *event {
	said := h.said(turn)
	shortQuestion := asks(said) && lexicon.Width(said) < saysSomething // which is about what was asked before
	if h.isTask(turn) && !shortQuestion {
		return nil
	}
	for _, e := range slices.Backward(h.asks) {
		if e.index < turn.index && h.isTask(e) {
			return e
		}
	}
	return nil
}

// asksAfter returns what the human said after an event.
func (h *handover) asksAfter(e *event) []*event {
	i := slices.IndexFunc(h.asks, func(a *event) bool { return a.index > e.index })
	if i < 0 {
		return nil
	}
	return h.asks[i:]
}

// ended says with which record the turn of a message ended, "" if it did not.
func (h *handover) ended(e *event) string {
	end := ""
	for _, next := range h.events[e.index+1:] {
		switch {
		case next.heading() && !next.undone:
			return end
		case next.kind == final:
			end = fmt.Sprintf(", your turn ended #%d", next.n)
		case next.Kind == session.Did, next.Kind == session.Stopped:
			end = ""
		}
	}
	return ""
}

// how says in which way the human said something, "" for a message.
func (h *handover) how(e *event) string {
	switch {
	case e.kind == refusal:
		return ", refusing " + h.doing(e.Call, 70)
	case e.kind == choice:
		return ", choosing"
	case e.approves():
		return ", approving the plan"
	case e.Kind == session.Queued:
		return ", while you worked"
	}
	return h.ended(e)
}

// asked quotes what the human said.
func (h *handover) asked(e *event, most int) string {
	switch {
	case e.kind == choice:
		text := h.src.Text(e.Call.Words)
		said := h.excerpt(e.Call.Words, text, most, "")
		if strings.Contains(text, e.Call.Query) {
			return said
		}
		return said + " (asked \"" + mark.Inline(e.Call.Query, h.quote) + "\")"
	case e.approves():
		return h.excerpt(e.Call.At, h.planText(e.Call), most, "")
	case e.Ref.Kind == transcript.Image:
		return e.Attached()
	}
	return h.wordsOf(e, most, "")
}

// wordsOf quotes what an event says.
func (h *handover) wordsOf(e *event, most int, reply string) string {
	return h.excerpt(e.Ref, shownText(h.src.Text(e.Ref)), most, reply)
}

// answering quotes the agent's words that a message of the human replies to, "" if there are none or the message is long.
func (h *handover) answering(e *event) string {
	to := h.repliesTo(e)
	if e.kind != human || to == nil {
		return ""
	}
	text := h.said(e)
	if lexicon.Width(text) >= longReply {
		return ""
	}
	h.told = to
	return fmt.Sprintf(" (to your #%d: %s)", to.n, h.wordsOf(to, h.most.quotes*h.quote, text))
}

// isAsk reports whether an event is something that the human said to the agent.
func (h *handover) isAsk(e *event) bool {
	if e.Back || e.undone {
		return false
	}
	return e.kind == human || e.kind == refusal || e.kind == choice && !e.Call.Words.Zero() || e.approves()
}

// approves reports whether the human approved a plan.
func (e *event) approves() bool { return e.kind == planned && e.Call.State == session.Done }

// isTask reports whether a message begins a turn, and says something without what was said before it.
func (h *handover) isTask(e *event) bool {
	if e.kind != human || e.Kind == session.Queued || h.settled(e) {
		return false
	}
	return h.hasContent(e) && (h.repliesTo(e) != nil || !h.cutsIn(e))
}

// cutsIn reports whether a message is about what the agent was at work on: a long one after a stop is a task of its own.
func (h *handover) cutsIn(e *event) bool {
	before := h.before(e)
	return before != nil && (before.Kind == session.Did || before.Kind == session.Stopped && lexicon.Width(h.said(e)) < longReply)
}

// before returns the event before another one that is done or said, nil if there is none.
func (h *handover) before(e *event) *event {
	for _, b := range slices.Backward(h.events[:e.index]) {
		if !h.passive(b) {
			return b
		}
	}
	return nil
}

// hasContent reports whether a message names something: it is long, or has two words or a name.
func (h *handover) hasContent(e *event) bool {
	text := h.said(e)
	if lexicon.Width(text) >= saysSomething {
		return true
	}
	t, n := h.words.of(text), 0
	for _, f := range strings.Fields(text) {
		if lexicon.IsValue(strings.Trim(f, ".,:;!?()")) && !lexicon.IsNumber(strings.Trim(f, ".,:;!?()#")) {
			n += 2
		}
	}
	if lexicon.EndsWide(text) {
		return len(t.words) > 4
	}
	return n+len(t.words) > 1
}

// settled reports whether a message was a question that the agent answered in words alone.
func (h *handover) settled(e *event) bool {
	if !asks(h.said(e)) {
		return false
	}
	for _, after := range h.events[e.index+1:] {
		switch {
		case after.heading(), after.kind == choice:
			return true
		case after.kind == edit, after.kind == run, after.kind == check, after.kind == gitRun, after.kind == report, after.kind == planned:
			return false
		}
	}
	return false
}

// asks reports whether a text ends with a question.
func asks(text string) bool {
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") || strings.HasSuffix(text, "؟")
}

// leastReply is how long words must be to be replied to, in the width of an alphabet: a greeting is shorter.
const leastReply = 12

// passive reports whether an event is nothing that is done or said: a thought, a report.
func (h *handover) passive(e *event) bool {
	return e.Back || e.undone || e.Kind == session.Thought || e.Kind == session.Noted
}

// repliesTo returns the words of the agent right before those of the human, nil if there are none.
func (h *handover) repliesTo(e *event) *event {
	before := h.before(e)
	for before != nil && before.Kind == session.Said && lexicon.Width(h.said(before)) < leastReply {
		before = h.before(before)
	}
	if before == nil || before.Kind != session.Said {
		return nil
	}
	return before
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
	if words != nil && words != h.told {
		name, since := "Your last words", ""
		if words.Ends && end == words && !h.s.SubAgent() { // whose result is its last word
			name = "The human's move; your turn ended"
		} else if h.events[len(h.events)-1] == words && len(h.callsSince(words)) == 0 {
			since = ", nothing after them"
		} else if at := slices.IndexFunc(h.events[words.index:], func(e *event) bool { return e.Kind == session.Stopped }); at > 0 && end.Kind != session.Stopped {
			since = fmt.Sprintf(", then stopped #%d", h.events[words.index+at].n)
		}
		h.line("%s (#%d%s): %s", name, words.n, since, h.wordsOf(words, 2*h.quote, ""))
	}
	h.thought(words)
	h.since(words, end)
}

// thought quotes what the agent thought after its last words.
func (h *handover) thought(words *event) {
	for _, e := range slices.Backward(h.events) {
		if e == words || h.isAsk(e) {
			return
		}
		if e.Kind == session.Thought {
			h.line("Your last thought (#%d): %s", e.n, h.wordsOf(e, h.quote, ""))
			return
		}
	}
}

// newest returns the newest event of the work, and the newest words of the agent unless the human has begun a turn since.
func (h *handover) newest() (end, words *event) {
	for _, e := range slices.Backward(h.events) {
		if e.undone {
			continue
		}
		if end == nil && e.Kind != session.Thought && e.Kind != session.Noted && e.Kind != session.Withdrawn && e.Kind != session.Shell {
			end = e
		}
		if e.Kind == session.Said {
			return end, e
		}
		if e.heading() && !h.cutsIn(e) {
			break
		}
	}
	return end, nil
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
	n := len(calls)
	calls = calls[:min(n, h.most.calls)]
	slices.Reverse(calls)
	all := make([]string, 0, len(calls))
	for _, e := range calls {
		why := ""
		if e.failed {
			why = h.errorLine(e.Call)
		}
		all = append(all, fmt.Sprintf("%s%s%s (#%d)", h.doing(e.Call, 70), ending(e.Call), why, e.n))
	}
	since := ""
	if words != nil && !slices.ContainsFunc(h.events[words.index:], (*event).heading) {
		since = fmt.Sprintf(" since #%d", words.n)
	}
	h.line("Last calls%s (%d): %s", since, n, strings.Join(all, "; "))
}

// callsSince returns the calls after the agent's last words and the human's, the newest first.
func (h *handover) callsSince(words *event) (calls []*event) {
	for _, e := range slices.Backward(h.events) {
		if words != nil && e.n < words.n || e.heading() {
			break
		}
		if e.Kind == session.Did && e.kind != steps {
			calls = append(calls, e)
		}
	}
	return calls
}

// plans says which steps of the agent's list are open.
func (h *handover) plans() {
	p := &h.s.Plan
	open := p.Unfinished()
	at := h.eventAt(p.Event)
	if len(open) == 0 || at == nil {
		return
	}
	most := h.most.steps
	if at.turn < h.turns-2 { // the work may have gone on to something else
		if most = 2; h.most == small {
			return
		}
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
	since := ""
	if said := h.asksAfter(at); len(said) > 0 && said[len(said)-1].Call != at.Call {
		since = fmt.Sprintf("; the human spoke since, last #%d", said[len(said)-1].n)
	}
	h.line("Plan (#%d), %d of %d steps open: %s%s", h.s.Events[p.Event].N(), len(open), len(p.Steps), strings.Join(all, "; "), since)
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
	barrier, since := h.barrier()
	type goal struct {
		name   string
		hidden bool // its status, by a pipe
	}
	seen := map[goal]bool{}
	for _, e := range slices.Backward(h.events) {
		if e == barrier {
			break
		}
		if !e.checks() || len(all) == 4 || !h.covers(e.Call, barrier) {
			continue
		}
		one := goal{e.Call.Goal, e.Call.Silent}
		if seen[one] || seen[goal{one.name, false}] { // a hidden status does not replace one that is seen
			continue
		}
		seen[one] = true
		h.checkedNow[e] = true
		all = append(all, h.checked(e))
	}
	switch {
	case len(all) > 0 && barrier == nil:
		h.line("Checks, newest first: %s", strings.Join(all, "; "))
	case len(all) > 0:
		h.line("Checks since %s #%d, newest first: %s", since, barrier.n, strings.Join(all, "; "))
	case barrier != nil:
		h.unchecked(barrier, since)
	}
}

// barrier returns the newest event that changed the files, and what it was.
func (h *handover) barrier() (e *event, what string) {
	for _, e := range slices.Backward(h.events) {
		switch {
		case e.kind == edit && e.Call.State == session.Done:
			return e, "the edit"
		case e.kind == gitRun && !h.elsewhere(e.Call) && h.movedFiles(e):
			return e, "git changed the files"
		}
	}
	return nil, ""
}

// movedFiles reports whether one of git's commands in a line changed the files. One that found nothing new did not.
func (h *handover) movedFiles(e *event) bool {
	return slices.ContainsFunc(e.git, func(args []string) bool {
		return changesFiles(e, args) && !(commits[args[0]] && printedStill.MatchString(h.output(e.Call)))
	})
}

// changesFiles reports whether a git command changed the files: it moved the work tree, or stopped in a conflict.
func changesFiles(e *event, args []string) bool {
	return moves(args) && madeBranch(args) == "" && (e.Call.State == session.Done || e.failed && commits[args[0]])
}

// checks reports whether an event built or tested something to its end.
func (e *event) checks() bool {
	if e.kind != check && (e.kind != gitRun || !e.Call.Checks()) {
		return false
	}
	return e.Call.State != session.Refused && e.Call.State != session.Pending
}

// covers reports whether a check ran where the file of an edit is, or where the session's files are.
func (h *handover) covers(c *session.Call, barrier *event) bool {
	if barrier != nil && barrier.kind == edit && transcript.Inside(barrier.Call.Files[0].File.Path, h.dirOf(c)) {
		return true
	}
	return !h.elsewhere(c)
}

// unchecked says that nothing was built or tested since a change of files, and how the newest check before it went.
func (h *handover) unchecked(barrier *event, since string) {
	for _, e := range slices.Backward(h.events[:barrier.index]) {
		if e.checks() && h.covers(e.Call, barrier) {
			h.line("No check since %s #%d; the newest before: %s", since, barrier.n, h.checked(e))
			return
		}
	}
}

// checked says how a check ended.
func (h *handover) checked(e *event) string {
	result := ""
	if e.failed || e.Call.Silent && h.reportsErrors(e.Call) {
		result = h.errorLine(e.Call)
	} else if len(e.git) == 0 { // else the last lines are git's
		result = h.lastLine(e.Call)
	}
	return fmt.Sprintf("%s%s%s (#%d)", h.doing(e.Call, 90), ending(e.Call), result, e.n)
}

// result quotes a line of an output, behind what printed it.
func (h *handover) result(c *session.Call, line string) string {
	return ": " + asText(h.proves(c.Result, line), 0)
}

// mostResult is how long a line is that says how a run ended, in chars.
const mostResult = 100

// exits matches the line of a client that says which status a command had.
var exits = regexp.MustCompile(`^\W*(?:Command|Process)?\s*exited with (?:exit )?code \d+\W*$`)

// echoed matches a line in which a runner prints the command that it is about to run: "$ go vet", "[lint] $ golangci-lint run".
var echoed = regexp.MustCompile(`^(?:\[[^\s\]]+\] )?\$ \D`)

// lastLine quotes the last line of an output that is not there twice.
func (h *handover) lastLine(c *session.Call) string {
	rows, count := strings.Split(strings.TrimSpace(h.output(c)), "\n"), map[string]int{}
	for _, row := range rows {
		count[row]++
	}
	for _, row := range slices.Backward(rows) {
		if exits.MatchString(row) || echoed.MatchString(row) || count[row] > 1 && len(count) > 1 {
			continue
		}
		last := joined(row)
		if !hasWord(last) || lexicon.Chars(last) > mostResult {
			break
		}
		return h.result(c, last)
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
		if failed && len(all) < 3 && !h.checkedNow[e] && !h.ranAgain(e, later) {
			all = append(all, e)
		}
		if failed || e.Call.State == session.Done && !(e.Call.Silent && h.reportsErrors(e.Call)) {
			later = append(later, e)
		}
	}
	h.failed(all)
}

// ranAgain reports whether one of later runs covers a check, in its directory.
func (h *handover) ranAgain(e *event, later []*event) bool {
	return slices.ContainsFunc(later, func(l *event) bool { return h.dirOf(l.Call) == h.dirOf(e.Call) && l.Call.Covers(e.Call) })
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
	if line := lexicon.FirstError(text); line != "" {
		return h.result(c, joined(lexicon.Head(line, 140)))
	}
	return h.lastLine(c)
}

// shapesOf returns the commands of a line without arguments of several words, such as messages of commits; of another call what it does.
func shapesOf(c *session.Call, what string) (all []string) {
	parts, ok := transcript.SplitCommand(c.Command)
	if c.Op != transcript.Command {
		return []string{what}
	}
	if !ok || len(parts) == 0 { // its first line, without the body of a message
		first, _, _ := strings.Cut(c.Command, "\n")
		return []string{first}
	}
	for _, p := range parts {
		all = append(all, strings.Join(slices.DeleteFunc(slices.Clone(p.Words), func(w string) bool { return strings.ContainsAny(w, " \n") }), " "))
	}
	return all
}

// refusals lists what the human refused and the agent has not run since.
func (h *handover) refusals() {
	done := map[string]bool{}
	var all []string
	for _, e := range slices.Backward(h.events) {
		if e.turn < h.turns-1 { // the human's words on it were answered
			break
		}
		if e.Call == nil || e.Kind != session.Did && e.Kind != session.Shell || e.kind == planned || e.kind == choice || len(all) == 3 {
			continue
		}
		what := h.doing(e.Call, 90)
		shapes := shapesOf(e.Call, what)
		if e.Call.State != session.Refused {
			for _, one := range shapes {
				done[one] = true
			}
			continue
		}
		last := shapes[len(shapes)-1]
		if done[last] {
			continue
		}
		done[last] = true
		all = append(all, fmt.Sprintf("%s (#%d)%s", what, e.n, h.whyRefused(e)))
	}
	if len(all) > 0 {
		h.line("Refused, not run since: %s", strings.Join(all, "; "))
	}
}

// whyRefused quotes the human's words on a refusal of this turn that no line has, "" if there are none.
func (h *handover) whyRefused(e *event) string {
	told := slices.ContainsFunc(h.chain, func(c *event) bool { return c.Call == e.Call })
	if told || e.turn < h.turns || e.Call.Words.Zero() {
		return ""
	}
	return fmt.Sprintf(": %s (#%d)", h.excerpt(e.Call.Words, h.src.Text(e.Call.Words), h.quote, ""), e.Call.Words.N())
}
