package compactor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// claim is what a line of the handover says, and the record that proves it: has stands in the text of the item.
type claim struct {
	ref session.Ref
	has string
}

// handover makes the first part: what was asked, where it stands, and what holds, each line from a record.
type handover struct {
	d      *draft
	b      strings.Builder
	f      float64 // by which lines are shortened
	claims []claim
	failed int // lines about failures

	planned bool // the state says that the plan is completed
}

// TaskLabel begins the line of a handover above the quoted task.
const TaskLabel = "Task"

// Chars of the handover.
const (
	handoverMost  = 2500
	handoverSmall = 1100
	taskWidth     = 60 // of a message that says something by itself
	replyWidth    = 20 // up to which a message is only a reply
)

// makeHandover returns the handover in at most room chars. Every line has as much as fits; if all are too long every line shrinks,
// and none goes.
func (d *draft) makeHandover(room int) (string, []claim) {
	most := max(min(handoverSmall, room*6/10), min(max(handoverMost, room/10), room*3/10))
	var h *handover
	for _, f := range []float64{2, 1.4, 1, 0.75, 0.55, 0.4, 0.28, 0.2, 0.14, 0.1, 0.07, 0.05} {
		d.whole, d.approved, d.quoted, d.named, d.steps = -1, -1, map[int32]bool{}, map[int32]bool{}, nil
		h = &handover{d: d, f: f}
		if d.s.Rewritten() {
			h.line("The transcript was rewritten at #1: what has a number below 0 is from before.")
		}
		h.task()
		h.inForce()
		h.stands()
		h.git()
		h.uncommitted()
		h.listed()
		h.losses()
		h.checks()
		h.failures()
		h.plan()
		if lexicon.Chars(h.b.String()) <= most {
			break
		}
	}
	return h.b.String(), h.claims
}

// most scales a length in chars.
func (h *handover) most(n int) int { return max(24, int(float64(n)*h.f)) }

// many scales a number of entries.
func (h *handover) many(n int) int { return max(1, int(float64(n)*min(1, h.f)+0.5)) }

func (h *handover) line(format string, args ...any) { fmt.Fprintf(&h.b, format+"\n", args...) }

// proves notes that an item's text contains has.
func (h *handover) proves(ref session.Ref, has string) { h.claims = append(h.claims, claim{ref, has}) }

// task says what was asked: the newest message that says something by itself, and the shorter ones since.
func (h *handover) task() {
	d := h.d
	first := d.taskItem()
	if first < 0 {
		return
	}
	plan, from := d.approval(first), int32(-1)
	if plan >= 0 && d.s.Events[plan].Item > int32(first) {
		from = plan // what was asked between the task and its plan is in the plan
	}
	h.began(first)
	var asks []int32
	for n := first; n < len(d.s.Items); n++ {
		it := &d.s.Items[n]
		if it.Back || n > first && it.Command && it.To == it.From+1 {
			continue
		}
		if it.Ask > from {
			asks = append(asks, it.Ask)
		}
		for e := it.From; e < it.To; e++ {
			if d.s.Events[e].Kind == session.Queued && e > from {
				asks = append(asks, e)
			}
		}
	}
	since := slices.ContainsFunc(asks, func(e int32) bool { // a bare message to go on changes nothing
		return e > plan && (d.s.Events[e].Kind == session.Queued || d.s.Items[d.s.Events[e].Item].Width >= replyWidth)
	})
	if plan >= 0 {
		h.approved(plan, since)
	}
	room := max(h.most(max(900, d.reader.room/20)), min(450, d.reader.room/6))
	given := plan >= 0 && since // the task
	for n, e := range asks {
		ev := &d.s.Events[e]
		if e < plan && n > 0 && n < len(asks)-h.many(4) || n > 0 && n < len(asks)-1 && ev.Kind == session.Asked && d.s.Items[ev.Item].Width < replyWidth {
			continue // a spent reply
		}
		label, end := TaskLabel, int32(-1)
		if n < len(asks)-1 {
			end = d.overWith(int(ev.Item))
		}
		ended := ""
		if end >= 0 {
			ended = fmt.Sprintf(", ended with #%d", d.s.Events[end].N())
		}
		switch {
		case given:
			label = "Then"
		case end >= 0:
			label = "Asked before"
		default:
			given = true
		}
		if n > 0 || end >= 0 {
			room = max(h.most(300), min(200, d.reader.room/12))
		}
		if ev.Kind == session.Queued {
			label += ", sent while the agent worked"
		}
		h.line("%s (#%d%s%s%s):", label, ev.N(), d.clock(ev.Ref), ended, d.after(e))
		text := d.src.Text(ev.Ref)
		if it := &d.s.Items[ev.Item]; ev.Kind == session.Asked && h.f > 0.3 {
			h.b.WriteString(d.answered(it, h.most(200)))
		}
		quoted := d.ask(ev.Ref, text, room)
		d.quoted[e] = !strings.Contains(quoted, "\n[ccd ")
		h.b.WriteString(quoted)
		h.proves(ev.Ref, firstWords(text))
	}
}

// began says with which message the work began that the newest task is a part of: the first one of the session, if nothing was
// committed since.
func (h *handover) began(task int) {
	d := h.d
	for i := range d.s.Commits {
		if d.s.Commits[i].Event < d.s.Items[task].From {
			return
		}
	}
	for n := range d.s.Items[:task] {
		it := &d.s.Items[n]
		if it.Ask < 0 || it.Back || it.Command && !d.acted(it) {
			continue
		}
		ev := &d.s.Events[it.Ask]
		text := d.src.Text(ev.Ref)
		if it.Width >= replyWidth && !d.own.covers(text) {
			h.line("Began with (#%d%s): \"%s\"", ev.N(), d.clock(ev.Ref), mark.Inline(text, h.most(min(240, d.reader.room/25))))
			h.proves(ev.Ref, firstWords(text))
		}
		return
	}
}

// after says what a person did to the agent before a message: they refused a call without a word, or interrupted it; "" if neither.
func (d *draft) after(ask int32) string {
	if ask < 1 || d.s.Events[ask-1].Kind != session.Stopped {
		return ""
	}
	for e := ask - 2; e >= 0; e-- {
		switch ev := &d.s.Events[e]; {
		case ev.Kind != session.Did:
			return ", after an interruption"
		case ev.Call.State == session.Refused && d.carries(ask, ev.Call):
			return "" // with a new context: it is approved
		case ev.Call.State == session.Refused && ev.Call.Words.Zero():
			if ev.Call.Op == transcript.Ask {
				return ", after refusing " + d.noun(ev.Call, 120)
			}
			return fmt.Sprintf(", after refusing %s, #%d", d.noun(ev.Call, 120), ev.Call.At.N())
		case ev.Call.State != session.Refused:
			return ", after an interruption"
		}
	}
	return ""
}

// carries reports whether a message holds the plan that a call proposes.
func (d *draft) carries(ask int32, c *session.Call) bool {
	plan := joined(d.planText(c))
	return c.Op == transcript.Ask && len(plan) > 200 && strings.Contains(joined(d.src.Text(d.s.Events[ask].Ref)), plan[len(plan)/4:len(plan)/2])
}

// brokenOff reports whether the agent did not end its turn in an item: the human interrupted it or refused its call. before says so
// of an item in which nothing happened.
func (d *draft) brokenOff(it *session.Item, before bool) bool {
	for e := it.To - 1; e >= it.From; e-- {
		switch ev := &d.s.Events[e]; ev.Kind {
		case session.Stopped, session.Reason:
			return true
		case session.Said:
			return false
		case session.Did: // without a word after it
			return true
		}
	}
	return before
}

// approval returns the newest approval of a plan since an item, -1 if there is none.
func (d *draft) approval(first int) int32 {
	for e := int32(len(d.s.Events)) - 1; e >= 0 && int(d.s.Events[e].Item) >= first; e-- {
		if ev := &d.s.Events[e]; ev.Kind == session.Answer && ev.Call != nil && transcript.Approves(d.src.Text(ev.Ref)) {
			return e
		}
	}
	return -1
}

// approved shows the plan that the human approved for the task. If they wrote since, it is only named: they may have changed it.
func (h *handover) approved(e int32, since bool) {
	ev := &h.d.s.Events[e]
	h.d.approved = e
	h.proves(ev.Ref, "approved")
	if h.d.older = since; since {
		h.line("%s: the plan of #%d, which the human approved%s, as changed by what they wrote since", TaskLabel, ev.Call.At.N(), h.d.keptIn(ev.Call))
		return
	}
	h.line("%s: the plan of #%d, which the human approved:", TaskLabel, ev.Call.At.N())
	text, whole := excerpt(h.d.planText(ev.Call), h.most(600), nil)
	h.d.quoted[e] = whole
	h.b.WriteString(text)
}

// keptIn names the file that holds the plan that a call proposes, "" if none does.
func (d *draft) keptIn(c *session.Call) string {
	if f := d.s.Holding(d.planText(c)); f != nil {
		return fmt.Sprintf(", which stands in `%s`", mark.Inline(d.path(f.Path), 0))
	}
	return ""
}

// taskItem returns the item of the newest message that says something by itself, else of the newest message; -1 if there is
// none.
func (d *draft) taskItem() int {
	newest := -1
	for n := len(d.s.Items) - 1; n >= 0; n-- {
		it := &d.s.Items[n]
		if it.Ask < 0 || it.Back || it.Command && !d.acted(it) {
			continue
		}
		if newest < 0 {
			newest = n
		}
		if (it.Width >= taskWidth || d.lists(it)) && !d.closed(n, newest) {
			if d.offers(n, newest) {
				return n + 1
			}
			return n
		}
	}
	return newest
}

// offers reports whether an item brought no more than the list from which the next message picks.
func (d *draft) offers(n, newest int) bool {
	it, did := &d.s.Items[n], func(e session.Event) bool { return e.Kind == session.Did }
	return n < newest && !slices.ContainsFunc(d.s.Events[it.From:it.To], did) && len(d.picked(&d.s.Items[n+1])) > 0
}

// lists reports whether a message has several lines: a short list of things to do says something by itself.
func (d *draft) lists(it *session.Item) bool {
	return it.Width > 2*replyWidth && strings.Count(strings.TrimSpace(d.src.Text(d.s.Events[it.Ask].Ref)), "\n") > 1
}

// closed reports whether an item's work is done although messages follow: a commit was made, and the agent ended its turn.
func (d *draft) closed(n, newest int) bool {
	it := &d.s.Items[n]
	if n == newest || d.endedWith(it) < 0 {
		return false
	}
	return slices.ContainsFunc(d.s.Commits, func(c session.Commit) bool { return c.Event >= it.From && c.Event < d.s.Items[newest].From })
}

// endedWith returns the words with which the agent ended its turn in an item, -1 if it did not.
func (d *draft) endedWith(it *session.Item) int32 {
	if it.To > it.From && d.s.Events[it.To-1].Kind == session.Said {
		return it.To - 1
	}
	return -1
}

// overWith returns the words with which the agent ended its turn in an item to which the human did not come back: the next message is no
// bare reply to them, or later words ended a turn too. -1 if there are none.
func (d *draft) overWith(n int) int32 {
	end := d.endedWith(&d.s.Items[n])
	if end < 0 || n+1 >= len(d.s.Items) {
		return -1
	}
	if next := &d.s.Items[n+1]; next.Width >= replyWidth && !d.replies(next) {
		return end
	}
	for k := n + 1; k < len(d.s.Items)-1; k++ {
		if d.endedWith(&d.s.Items[k]) >= 0 {
			return end
		}
	}
	return -1
}

// acted reports whether the agent said or did something in an item, so that its message reached the model.
func (d *draft) acted(it *session.Item) bool {
	for e := it.From; e < it.To; e++ {
		if k := d.s.Events[e].Kind; k == session.Said || k == session.Did {
			return true
		}
	}
	return false
}

// answersTo returns the text of the agent that a message may answer: the one before it, unless the human interrupted the agent
// after that or wrote another message first. -1 if there is none.
func (d *draft) answersTo(it *session.Item) int32 {
	if it.Before < 0 || d.stoppedBetween(it.Before, it.Ask) {
		return -1
	}
	for n := int(d.s.Events[it.Ask].Item) - 1; n >= 0 && d.s.Items[n].Before == it.Before; n-- {
		if other := &d.s.Items[n]; other.Ask >= 0 && !other.Back && (!other.Command || d.acted(other)) {
			return -1
		}
	}
	return it.Before
}

// answered says in one line what a message answers: the options that a short one picks by their numbers, or the question that
// it follows. "" if there is neither.
func (d *draft) answered(it *session.Item, most int) string {
	before := d.answersTo(it)
	if before < 0 {
		return ""
	}
	n := d.s.Events[before].N()
	if picked := d.picked(it); len(picked) > 0 {
		var lines []string
		for _, lead := range picked {
			lines = append(lines, "\""+mark.Inline(strings.TrimSpace(lead[0]), most)+"\"")
		}
		return fmt.Sprintf("(of #%d: %s)\n", n, strings.Join(lines, ", "))
	}
	if q := d.question(it); q != "" {
		how := "answers" // a short reply does; a longer one may be about something else
		if it.Width >= taskWidth {
			how = "after the question of"
		}
		return fmt.Sprintf("(%s #%d: \"%s\")\n", how, n, mark.Inline(q, most))
	}
	if it.Width < replyWidth { // to what the text before ends with
		text := strings.TrimSpace(d.src.Text(d.s.Events[before].Ref))
		return fmt.Sprintf("(after #%d: \"%s\")\n", n, mark.Inline(strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]), most))
	}
	return ""
}

// An option of a list or table, and a number in a message that may pick one.
var (
	option = regexp.MustCompile(`^\s*(?:[-*]\s+)?(?:#{1,6}\s+)?(?:\*\*)?(?:\|\s*)?\(?(\d{1,2})(?:[.):]|\s*\|)`)
	pick   = regexp.MustCompile(`(?:^|[\s,(#])(\d{1,2})(?:$|[\s,.;:)!?])`)
)

// mostPicked is how many picked options are named.
const mostPicked = 4

// picked returns the options of the agent's text that a short message picks by their numbers, each with its nested lines.
func (d *draft) picked(it *session.Item) (all [][]string) {
	before := d.answersTo(it)
	if before < 0 || it.Width > 2*taskWidth {
		return nil
	}
	text := d.src.Text(d.s.Events[it.Ask].Ref)
	wanted := map[string]bool{}
	for rest := text; ; { // numbers may share the space between them
		m := pick.FindStringSubmatchIndex(rest)
		if m == nil {
			break
		}
		wanted[rest[m[2]:m[3]]] = true
		rest = rest[m[3]:]
	}
	if len(wanted) == 0 || len(wanted) > mostPicked {
		return nil
	}
	found := map[string][]string{}
	var order []string
	number := ""
	for line := range strings.Lines(d.src.Text(d.s.Events[before].Ref)) {
		line = strings.TrimRight(line, "\r\n")
		if m := option.FindStringSubmatch(line); m != nil && (number == "" || !strings.HasPrefix(line, " ")) {
			number = m[1]
			if found[number] != nil { // a later list is the one that the message can mean
				delete(found, number)
				order = slices.DeleteFunc(order, func(n string) bool { return n == number })
			}
			found[number] = []string{line}
			order = append(order, number)
			continue
		}
		if t := strings.TrimSpace(line); number != "" && t != "" && strings.HasPrefix(line, " ") {
			found[number] = append(found[number], line)
		} else if t != "" {
			number = ""
		}
	}
	if len(order) < 2 {
		return nil
	}
	for _, n := range order {
		if wanted[n] {
			all = append(all, found[n])
		}
	}
	if len(all) < len(wanted) {
		return nil
	}
	return all
}

// stoppedBetween reports whether the human interrupted the agent between two events.
func (d *draft) stoppedBetween(from, to int32) bool {
	for e := from; e < to; e++ {
		if d.s.Events[e].Kind == session.Stopped {
			return true
		}
	}
	return false
}

// replies reports whether a message takes up what the agent's text before it asks or offers: it picks an option, or it is short and
// follows a question or a list that its lead introduces.
func (d *draft) replies(it *session.Item) bool {
	before := d.answersTo(it)
	if before < 0 || it.Width >= 2*taskWidth {
		return false
	}
	if d.question(it) != "" || len(d.picked(it)) > 0 {
		return true
	}
	all := blocksOf(strings.TrimSpace(d.src.Text(d.s.Events[before].Ref)))
	last := len(all) - 1
	return it.Width < replyWidth && !d.asks(it) && last >= 0 && all[last].list && leads(all[last].lines[0]) && lexicon.BulletLen(strings.TrimSpace(all[last].lines[0])) == 0
}

// asks reports whether a message has a question of its own.
func (d *draft) asks(it *session.Item) bool {
	return strings.ContainsAny(d.src.Text(d.s.Events[it.Ask].Ref), "?？")
}

// question returns the question in the last paragraphs of the text that a message may answer, "" if it asked none or the message
// has a question of its own.
func (d *draft) question(it *session.Item) string {
	before := d.answersTo(it)
	if before < 0 || d.asks(it) {
		return ""
	}
	text := strings.TrimSpace(d.src.Text(d.s.Events[before].Ref))
	paragraphs := strings.Split(text, "\n\n")
	for i := len(paragraphs) - 1; i >= 0 && i >= len(paragraphs)-4; i-- {
		lines := strings.Split(strings.TrimSpace(paragraphs[i]), "\n")
		for j := len(lines) - 1; j >= 0; j-- {
			if l := strings.TrimRight(strings.TrimSpace(lines[j]), "*_`)\"' "); strings.HasSuffix(l, "?") || strings.HasSuffix(l, "？") {
				return lines[j]
			}
		}
	}
	return ""
}

// ask quotes a message. Of one that does not fit, the person's prose stays and a paste is cut to its first and last lines.
func (d *draft) ask(ref session.Ref, text string, room int) string {
	text = strings.TrimSpace(text)
	quoted, whole := excerpt(text, room, nil)
	if whole {
		return quoted
	}
	all := blocksOf(text)
	var b strings.Builder
	for n, one := range all {
		if n > 0 && !one.code {
			b.WriteString("\n")
		}
		if lines := one.lines; len(lines) >= pasteLines && !one.list {
			one.lines = append(append(slices.Clone(lines[:2]), pasteNote), lines[len(lines)-1])
		}
		b.WriteString(strings.Join(one.lines, "\n") + "\n")
	}
	quoted, _ = excerpt(b.String(), room, nil)
	return d.shortened(strings.ReplaceAll(quoted, "> \\x01\n", "...\n"), ref)
}

// A block of this many lines that is no list is a paste. pasteNote stands for its middle.
const (
	pasteLines = 8
	pasteNote  = "\x01"
)

// shortened returns an excerpt with the marker of its original.
func (d *draft) shortened(quoted string, ref session.Ref) string {
	return strings.TrimSuffix(quoted, "...\n") + d.cut(ref)
}

// marked returns a function that adds the marker of its original to an excerpt that is not whole.
func (d *draft) marked(ref session.Ref) func(string, bool) string {
	return func(quoted string, whole bool) string {
		if whole {
			return quoted
		}
		return d.shortened(quoted, ref)
	}
}

// cut is the marker after an excerpt.
func (d *draft) cut(ref session.Ref) string {
	return mark.New(d.src.ID(ref), fmt.Sprintf("cut, of %d chars", ref.Chars)) + "\n"
}

// stands says where the work stands: what the last events are.
func (h *handover) stands() {
	d := h.d
	s := d.s
	last := int32(len(s.Events)) - 1
	if last < 0 {
		return
	}
	said, did := int32(-1), []int32{} // newest first
	var stopped, fresh *session.Event // fresh: the newest message, to which nothing was done yet
	turns := d.turns()
	begin := turns[len(turns)-1].Ask
loop:
	for i := last; i >= 0; i-- {
		switch e := &s.Events[i]; e.Kind {
		case session.Did:
			did = append(did, i)
		case session.Said:
			said = i
			break loop
		case session.Stopped:
			if stopped == nil && len(did) == 0 {
				stopped = e
			}
		case session.Asked:
			if i <= begin {
				break loop
			}
			if fresh == nil && len(did) == 0 {
				fresh = e
			}
		}
	}
	var refused *session.Call // the newest call, and nothing came after that
	if len(did) > 0 && stopped == nil {
		if c := s.Events[did[0]].Call; c.State == session.Refused && c.Words.Zero() {
			refused = c
		}
	}
	// The current item has the answer whole.
	below := d.reader.room >= answerBelow && len(did) == 0 && stopped == nil && said >= 0 && s.Events[said].Ref.Chars > closing && !d.had(&s.Events[said]) && !d.own.covers(d.src.Text(s.Events[said].Ref))
	words := ""
	if said >= 0 {
		words = fmt.Sprintf(" Last words before it (#%d):", s.Events[said].N())
	}
	label, where := "State", ""
	if below {
		where = " (whole below)"
	}
	if fresh != nil {
		h.line("State: nothing done since the last message (#%d).", fresh.N())
		label = "Before it"
	}
	switch {
	case stopped != nil:
		h.line("%s: the human interrupted the agent at #%d.%s", label, stopped.N(), words)
		h.proves(stopped.Ref, "")
	case refused != nil:
		h.line("%s: refused was %s (#%d), nothing since.%s", label, d.noun(refused, h.most(100)), refused.At.N(), words)
	case said < 0 && len(did) == 0 && fresh != nil:
	case said < 0 && len(did) == 0:
		h.line("State: nothing done since the last message (#%d).", s.Events[last].N())
	case len(did) > 0 && d.planned(did):
		h.planned = true
		h.line("%s: all %d steps of the plan are completed (#%d), nothing was changed or said since.%s", label, len(s.Plan.Steps), s.Events[s.Plan.Event].N(), words)
	case len(did) > 0 && said < 0:
		h.line("%s: at work.", label)
	case len(did) > 0:
		h.line("%s: at work. Last words (#%d):", label, s.Events[said].N())
	case !s.Events[said].Ends: // perhaps it announces a step that did not come
		h.line("%s: the agent's last words are #%d%s:", label, s.Events[said].N(), where)
	default:
		h.line("%s: nothing done since the agent's words #%d%s:", label, s.Events[said].N(), where)
	}
	if said >= 0 {
		ref := s.Events[said].Ref
		text := d.src.Text(ref)
		room := h.most(500)
		if below {
			room = h.most(closing)
		} else if lexicon.Chars(strings.TrimSpace(text)) <= room {
			d.whole = said
		}
		h.b.WriteString(tailExcerpt(text, room))
		h.proves(ref, firstWords(text))
	}
	how, calls := "Since then", did
	if refused != nil {
		calls = did[1:]
	}
	if stopped != nil || refused != nil {
		how = "Before that"
	}
	if len(calls) > 0 {
		h.since(how, calls)
	}
	h.notEnded(did)
}

// planned reports whether the newest of the calls since the last words that do more than to look completed the plan.
func (d *draft) planned(did []int32) bool {
	p := &d.s.Plan
	return p.Event >= 0 && len(p.Steps) > 0 && len(p.Unfinished()) == 0 && slices.Contains(did, p.Event) && d.lastEdit() < p.Event &&
		!slices.ContainsFunc(did, func(e int32) bool {
			c := d.s.Events[e].Call
			return e > p.Event && (changes(c) || c.Op == transcript.Agent || c.State == session.Pending)
		})
}

// closing is how many chars of the last words the handover quotes if the current item has them whole: what they end with, which may
// be a question.
const closing = 200

// answerBelow is from how much room on the current item is sure to show the last answer.
const answerBelow = 4000

// since names the last calls after the last words. The current item has each of them.
func (h *handover) since(how string, did []int32) {
	d := h.d
	n := h.sinceMost()
	var last []string
	for _, e := range slices.Backward(did[:min(n, len(did))]) {
		c := d.s.Events[e].Call
		d.named[e] = d.named[e] || c.State == session.Pending
		last = append(last, fmt.Sprintf("#%d %s%s", c.At.N(), d.label(c, h.most(90)), d.outcome(c, h.most(120))))
	}
	more := ""
	if len(did) > n {
		more = fmt.Sprintf(" %d calls, the last", len(did))
	}
	h.line("%s%s: %s", how, more, strings.Join(last, "; "))
}

// sinceMost is how many calls since the last words are named.
func (h *handover) sinceMost() int {
	if h.d.reader.room >= answerBelow { // the current item has the others
		return 1
	}
	return h.many(3)
}

// notEnded names calls of which no end is known.
func (h *handover) notEnded(since []int32) {
	d := h.d
	var open []string
	last := int32(len(d.s.Events)) - 1
	for e := last; e >= 0 && e > last-400 && len(open) < h.many(4); e-- {
		c := d.s.Events[e].Call
		if d.s.Events[e].Kind != session.Did {
			continue
		}
		switch {
		case c.State == session.Running && !c.Stdin:
			open = append(open, fmt.Sprintf("#%d %s (in the background)", c.At.N(), d.label(c, h.most(160))))
		case c.State == session.Pending && int(d.s.Events[e].Item) == len(d.s.Items)-1 && !slices.Contains(since[:min(len(since), h.sinceMost())], e):
			open = append(open, fmt.Sprintf("#%d %s%s", c.At.N(), d.label(c, h.most(160)), d.state(c)))
		}
	}
	if len(open) > 0 {
		h.line("Not ended: %s", strings.Join(open, "; "))
	}
}

// tailExcerpt quotes the end of a text, from the beginning of a block.
func tailExcerpt(text string, room int) string {
	text = strings.TrimSpace(text)
	if lexicon.Chars(text) <= room {
		return mark.Quote("", text)
	}
	all := blocksOf(text)
	from := len(all)
	for from > 0 && all[from-1].chars() <= room {
		from--
		room -= all[from].chars()
	}
	if from == len(all) {
		return "...\n" + mark.Quote("", lexicon.TailAt(text, room))
	}
	var b strings.Builder
	b.WriteString("...\n")
	for n := from; n < len(all); n++ {
		if n > from {
			b.WriteString(">\n")
		}
		b.WriteString(mark.Quote("", strings.Join(all[n].lines, "\n")))
	}
	return b.String()
}

// rejection is git's line about a branch that the remote did not take.
var rejection = regexp.MustCompile(`(?m)^ ! \[.*$`)

// git says the branch, the last commit and what was pushed.
func (h *handover) git() {
	d := h.d
	s := d.s
	var parts []string
	if b := s.Branch(); b != "" {
		parts = append(parts, "branch `"+mark.Inline(b, 120)+"`")
	}
	for i := len(s.Commits) - 1; i >= 0; i-- {
		c := &s.Commits[i]
		if c.Hash == "" {
			continue
		}
		on := ""
		if c.Branch != "" && c.Branch != s.Branch() {
			on = " on `" + mark.Inline(c.Branch, 120) + "`"
		}
		end := "no push seen since"
		if r := s.Rejected(); r != nil {
			end = fmt.Sprintf("the remote rejected the push (#%d)", r.At.N())
			why := rejection.FindString(d.src.Outcome(r).Text)
			if why != "" {
				end += ": \"" + mark.Inline(strings.Trim(why, " !"), h.most(120)) + "\""
			}
			h.proves(r.Result, why)
		}
		if c.Pushed >= 0 {
			end = fmt.Sprintf("pushed (#%d)", s.Events[c.Pushed].N())
		}
		call := s.Events[c.Event].Call
		moved, verb, head := s.Moved()
		at := ""
		if head != "" && !strings.HasPrefix(head, c.Hash) && !strings.HasPrefix(c.Hash, head) {
			at = " at `" + head + "`"
		}
		switch pushed := c.Pushed >= 0; {
		case moved != nil && pushed && c.Pushed > moved.Index:
			end = fmt.Sprintf("then a %s (#%d), %s%s", verb, moved.At.N(), end, at)
		case moved != nil:
			end = fmt.Sprintf("then a %s (#%d)%s, no push seen since", verb, moved.At.N(), at)
		case pushed:
			end += at
		}
		parts = append(parts, fmt.Sprintf("last commit seen `%s`%s \"%s\" (#%d), %s", c.Hash, on, mark.Inline(c.Subject, h.most(120)), call.Result.N(), end))
		h.proves(call.Result, c.Hash)
		break
	}
	if c, verb := s.Stuck(); c != nil {
		parts = append(parts, fmt.Sprintf("a %s stopped at a conflict (#%d), not ended", verb, c.At.N()))
		h.proves(c.Result, "CONFLICT")
	}
	if len(parts) > 0 {
		h.line("Git: %s", strings.Join(parts, "; "))
	}
}

// uncommitted lists the files that were changed and that no commit seen since can have taken.
func (h *handover) uncommitted() {
	d := h.d
	open := slices.DeleteFunc(slices.Clone(d.s.Files), func(f *session.File) bool { return !f.Open || !d.inside(f.Path) || len(f.Edits) == 0 })
	if len(open) == 0 {
		return
	}
	slices.SortStableFunc(open, func(a, b *session.File) int {
		return int(b.Edits[len(b.Edits)-1].Event) - int(a.Edits[len(a.Edits)-1].Event)
	})
	n := h.many(12)
	var names []string
	for _, f := range open[:min(n, len(open))] {
		e := f.Edits[len(f.Edits)-1]
		var at []int // of which something is left
		for _, one := range f.Edits {
			if c := d.s.Events[one.Event].Call; one.Event >= f.Opened && c != nil && !c.Over() {
				e, at = one, append(at, d.s.Events[one.Event].N())
			}
		}
		if len(at) == 0 {
			at = []int{d.s.Events[e.Event].N()}
		}
		names = append(names, fmt.Sprintf("`%s` (%s)", mark.Inline(d.path(f.Path), 160), numbers(slices.Compact(at))))
		if !e.Shell && !e.Sub {
			h.proves(d.s.Events[e.Event].Ref, transcript.Base(f.Path))
		}
	}
	more := ""
	if len(open) > n {
		more = fmt.Sprintf(" and %d more", len(open)-n)
	}
	if c := d.pending(session.Commits); c != nil {
		h.line("Perhaps not committed (#%d commits, no result): %s%s", c.At.N(), strings.Join(names, ", "), more)
		return
	}
	h.line("Not committed (no commit by the agent seen since): %s%s", strings.Join(names, ", "), more)
}

// listed says which changed files git listed last, if there are others than those that the agent is known to have changed.
func (h *handover) listed() {
	d := h.d
	last := d.s.Listed()
	var other []string
	for _, p := range last.Files {
		if f := d.s.File(transcript.Join(transcript.Join("", d.s.Status().Cwd), p)); f == nil || !f.Open {
			other = append(other, "`"+mark.Inline(p, 120)+"`")
		}
	}
	if len(other) == 0 {
		return
	}
	h.line("Changed besides, by `git status` (#%d): %s", last.Call.At.N(), first(other, h.many(4)))
	h.proves(last.Call.Result, last.Files[0])
}

// losses names the lines of the agent that a reading lacks although no call since can have removed them: most likely the human's
// verdict on them.
func (h *handover) losses() {
	d := h.d
	named := 0
	for _, f := range slices.Backward(d.s.Files) {
		if len(f.Losses) == 0 || named >= h.many(3) {
			continue
		}
		loss := &f.Losses[len(f.Losses)-1]
		if d.mayWrite(loss.Since, loss.At) || int(d.s.Events[loss.At].Item) < len(d.s.Items)-8 {
			continue
		}
		var lines []string
		for _, l := range loss.Lines {
			if !d.stands(f, l) {
				lines = append(lines, "\""+mark.Inline(l, h.most(80))+"\"")
			}
		}
		if len(lines) == 0 {
			continue
		}
		more := ""
		if n := h.many(6); len(lines) > n {
			more, lines = fmt.Sprintf(" and %d more", loss.N-n), lines[:n]
		}
		named++
		h.line("Removed or changed in `%s` from outside, seen at #%d: %s%s", mark.Inline(d.path(f.Path), 160), d.s.Events[loss.At].N(), strings.Join(lines, ", "), more)
		h.proves(d.s.Events[loss.At].Ref, transcript.Base(f.Path))
	}
}

// stands reports whether a line of the agent stands in a file.
func (d *draft) stands(f *session.File, line string) bool {
	for _, e := range f.Edits {
		if c := d.s.Events[e.Event].Call; c != nil && d.standing[c][line] {
			return true
		}
	}
	return false
}

// mayWrite reports whether a call between two events may have changed any file.
func (d *draft) mayWrite(from, to int32) bool {
	for e := from + 1; e < to; e++ {
		if c := d.s.Events[e].Call; d.s.Events[e].Kind == session.Did && (c.Op == transcript.Command && !c.LookUp || c.Op == transcript.Agent || c.Op == transcript.Other) {
			return true
		}
	}
	return false
}

// pending returns the newest call without a result that is of a kind, nil if there is none.
func (d *draft) pending(is func(*session.Call) bool) *session.Call {
	for e := int32(len(d.s.Events)) - 1; e >= 0 && int(d.s.Events[e].Item) == len(d.s.Items)-1; e-- {
		if c := d.s.Events[e].Call; d.s.Events[e].Kind == session.Did && c.State == session.Pending && is(c) {
			return c
		}
	}
	return nil
}

// inside reports whether a path is below the session's first or newest directory.
func (d *draft) inside(p string) bool {
	if !transcript.IsAbs(p) {
		return true
	}
	for _, dir := range []string{d.s.Root(), transcript.Join("", d.s.Status().Cwd)} {
		if rest, ok := transcript.Below(p, dir); ok && dir != "" && !strings.HasPrefix(rest, ".git/") {
			return true
		}
	}
	return false
}

// lastEdit returns the event of the last change of a file in the project, or of what git took in from elsewhere, -1 if there is none.
func (d *draft) lastEdit() int32 {
	last := d.s.Taken()
	for _, f := range d.s.Files {
		if n := len(f.Edits); n > 0 && d.inside(f.Path) {
			last = max(last, f.Edits[n-1].Event)
		}
	}
	return last
}

// checks says what ran since the last edit, or that nothing did.
func (h *handover) checks() {
	d := h.d
	edited := d.lastEdit()
	var again, once, before []int32 // since the edit what ran more than once, most likely a check and no trial, and the rest
	seen := map[string]bool{}
	for e := int32(len(d.s.Events)) - 1; e >= 0 && len(before) == 0 && e > int32(len(d.s.Events))-2000; e-- {
		c := d.s.Events[e].Call
		if d.s.Events[e].Kind != session.Did || c.Op != transcript.Command || seen[d.command(c)] || c.State == session.Refused || c.State == session.Running {
			continue
		}
		if c.State == session.Failed && d.wentOn(e) { // a later one went well
			continue
		}
		if since := e > edited; since && !d.isCheck(c) && (!c.Aims() || c.Git() || c.Remote()) || !since && (!c.Checks() || !d.isCheck(c) || c.State == session.Pending) {
			continue
		}
		seen[d.command(c)] = true
		switch {
		case e <= edited:
			before = append(before, e)
		case d.repeated(c):
			again = append(again, e)
		default:
			once = append(once, e)
		}
	}
	if edited < 0 {
		return
	}
	one := func(e int32) string {
		d.named[e] = true
		return h.ran(d.s.Events[e].Call)
	}
	what := "the last change"
	if edited == d.s.Taken() {
		what = "git changed the files"
	}
	switch since := slices.Concat(again, once); {
	case len(since) > 0:
		var all []string
		for _, e := range since[:min(len(since), h.many(3))] {
			all = append(all, one(e))
		}
		h.line("Run since %s (#%d): %s", what, d.s.Events[edited].N(), strings.Join(all, "; "))
	case len(before) > 0:
		h.line("Run since %s (#%d): none; last before it %s", what, d.s.Events[edited].N(), one(before[0]))
	}
}

// ran names a run with its status and the line of its output that says most.
func (h *handover) ran(c *session.Call) string {
	said := h.d.lastLine(c)
	if c.State == session.Failed {
		said = h.d.errorLine(c)
	}
	text := fmt.Sprintf("`%s` (#%d%s)", mark.Inline(h.d.command(c), h.most(140)), c.At.N(), h.d.state(c))
	if said != "" {
		text += ": \"" + mark.Inline(said, h.most(140)) + "\""
		h.proves(c.Result, said)
	}
	return text
}

// repeated reports whether a command ran more than once.
func (d *draft) repeated(c *session.Call) bool { return d.runs[d.command(c)] > 1 }

// isCheck reports whether a call is a run that is worth naming: a command that has a goal, or one that ran more than once.
func (d *draft) isCheck(c *session.Call) bool {
	return c.Op == transcript.Command && !c.LookUp && !c.Stdin && c.Command != "" && (c.Checks() || d.repeated(c) && !c.Git())
}

// failedItems is how many messages a failure stays worth naming.
const failedItems = 4

// failures lists what failed last and did not succeed since, nor was committed over: the newest of each purpose. Of what failed before
// the last edit only checks count, because whether the edit helped is not known.
func (h *handover) failures() {
	d := h.d
	from := int32(0)
	if n := len(d.s.Commits); n > 0 {
		from = d.s.Commits[n-1].Event
	}
	edited := d.lastEdit()
	seen := map[string]bool{}
	age, newer := 0, len(d.s.Items)-1 // how many messages after the event say more than to go on
	for e := int32(len(d.s.Events)) - 1; e >= from && len(seen) < 100; e-- {
		c := d.s.Events[e].Call
		for ; newer > int(d.s.Events[e].Item); newer-- {
			if it := &d.s.Items[newer]; it.Width >= replyWidth && !it.Back {
				age++
			}
		}
		if age > failedItems {
			break
		}
		if d.s.Events[e].Kind != session.Did || c.State != session.Done && c.State != session.Failed {
			continue
		}
		key, text := "", ""
		switch {
		case changes(c) && c.State == session.Failed && c.Fixed < 0 && len(c.Files) > 0 && age <= 1:
			f := c.Files[0].File
			if n := len(f.Edits); n == 0 || f.Edits[n-1].Event < e {
				key = f.Path
				said := d.errorLine(c)
				text = fmt.Sprintf("a change of `%s` (#%d): \"%s\"", mark.Inline(d.path(f.Path), 160), c.At.N(), mark.Inline(said, h.most(140)))
				h.proves(c.Result, said)
			}
		case c.Op == transcript.Command:
			key = d.goal(c)
			if !seen[key] && !d.named[e] && d.open(e) && (d.isCheck(c) || e > edited && age <= 1) {
				text = h.ran(c)
			}
		}
		if key == "" || seen[key] {
			continue
		}
		seen[key] = true
		if text != "" && h.failed < h.many(3) {
			h.failed++
			when := "last"
			if e < edited {
				when = "before the last edit"
			}
			h.line("Failed %s, no success seen: %s", when, text)
		}
	}
	h.broken()
}

// From how many failures in a row a tool counts as broken, and from how many with the same error.
const (
	brokenRuns  = 3
	brokenAlike = 2
)

// broken says which tools fail each time, look-ups included: whatever they were asked, they gave no answer.
func (h *handover) broken() {
	d := h.d
	type tool struct {
		failed int
		last   *session.Call
		well   bool
		alike  bool // the last failures have one error
	}
	byName := map[string]*tool{}
	var order []string
	for e := int32(len(d.s.Events)) - 1; e >= 0 && e > int32(len(d.s.Events))-400; e-- {
		c := d.s.Events[e].Call
		if d.s.Events[e].Kind != session.Did || c.State != session.Done && c.State != session.Failed {
			continue
		}
		t := byName[c.Tool]
		if t == nil {
			t = &tool{}
			byName[c.Tool] = t
			order = append(order, c.Tool)
		}
		switch {
		case t.well:
		case c.State == session.Done:
			t.well = true
		default:
			if t.failed++; t.last == nil {
				t.last = c
			} else if t.failed == brokenAlike {
				t.alike = d.errorLine(c) == d.errorLine(t.last)
			}
		}
	}
	for _, name := range order {
		if t := byName[name]; (t.failed >= brokenRuns || t.alike) && t.last.Op != transcript.Command {
			said := d.errorLine(t.last)
			h.line("Fails each time: %s, the last %d calls, newest #%d: \"%s\"", mark.Inline(name, 60), t.failed, t.last.At.N(), mark.Inline(said, h.most(160)))
			h.proves(t.last.Result, said)
		}
	}
}

// open reports whether a failed command is a problem still, as far as the records say.
func (d *draft) open(e int32) bool {
	c := d.s.Events[e].Call
	return c.Unresolved() && !c.Git() && !d.wentOn(e) && !d.mended(e)
}

// mended reports whether a file that an error names was changed since, and a check of the whole that ran after that had no error.
func (d *draft) mended(e int32) bool {
	d.successes()
	said, changed := "", false
	for i := e + 1; i <= d.checked; i++ {
		c := d.s.Events[i].Call
		switch {
		case d.s.Events[i].Kind != session.Did || c.State != session.Done:
		case changed && c.Proves(d.s.Events[e].Call):
			return true
		case !changed && changes(c):
			if said == "" {
				if said = d.errorLine(d.s.Events[e].Call); said == "" {
					return false
				}
			}
			changed = slices.ContainsFunc(c.Files, func(f session.Change) bool { return strings.Contains(said, transcript.Base(f.File.Path)) })
		}
	}
	return false
}

// wentOn reports whether the same program ran well after a failure, or a run of everything that includes it.
func (d *draft) wentOn(e int32) bool {
	d.successes()
	f := d.s.Events[e].Call
	if d.worked[d.goal(f)] > e {
		return true
	}
	for i := e + 1; i < int32(len(d.s.Events)); i++ {
		if c := d.s.Events[i].Call; d.ranWell(i) && c.HasExit && c.Repeats(f) {
			return true
		}
	}
	return false
}

// successes collects what ran well, once.
func (d *draft) successes() {
	if d.worked != nil {
		return
	}
	d.worked = map[string]int32{}
	for i := range d.s.Events {
		c := d.s.Events[i].Call
		if d.ranWell(int32(i)) {
			d.worked[d.goal(c)] = int32(i)
		}
		if d.s.Events[i].Kind == session.Did && c.State == session.Done && c.Checks() {
			d.checked = int32(i)
		}
	}
}

// ranWell reports whether an event is a command that succeeded by a status of its own.
func (d *draft) ranWell(e int32) bool {
	c := d.s.Events[e].Call
	return d.s.Events[e].Kind == session.Did && c.State == session.Done && c.Op == transcript.Command && !c.Silent
}

// goal returns what identifies the purpose of a command: its program and sub-command.
func (d *draft) goal(c *session.Call) string {
	if g := c.Goal(); g != "" {
		return g
	}
	return d.command(c)
}

// plan lists the unfinished steps, if the plan is still in use.
func (h *handover) plan() {
	d := h.d
	p := &d.s.Plan
	steps := p.Unfinished()
	if p.Event < 0 || len(p.Steps) == 0 || int(d.s.Events[p.Event].Item) < len(d.s.Items)-8 {
		return
	}
	if len(steps) == 0 {
		if int(d.s.Events[p.Event].Item) == len(d.s.Items)-1 && !h.planned {
			h.line("Plan: all %d steps are completed (#%d)", len(p.Steps), d.s.Events[p.Event].N())
		}
		return
	}
	since, ended, newer := 0, false, "" // acts
	var edited []string
	for e := p.Event + 1; e < int32(len(d.s.Events)); e++ {
		ev := &d.s.Events[e]
		if ev.Kind == session.Did && ev.Call.Op != transcript.Plan {
			since++
			if changes(ev.Call) && ev.Call.State == session.Done && len(edited) < 4 {
				edited = append(edited, fmt.Sprintf("`%s` #%d", mark.Inline(transcript.Base(ev.Call.Files[0].File.Path), 60), ev.N()))
			}
		}
		if ev.Kind == session.Queued {
			newer = fmt.Sprintf(", before the message #%d", ev.N())
		}
		ended = ended || since > 0 && (ev.Kind == session.Asked || ev.Kind == session.Said && (ev.Ends || e == int32(len(d.s.Events))-1))
	}
	how := "unfinished as of"
	if ended { // what is done of what was begun is not known
		steps = slices.DeleteFunc(steps, func(q transcript.PlanItem) bool { return q.Status == "in_progress" })
		how = "not begun as of"
		newer += ", a turn ended since"
	}
	if len(steps) == 0 {
		return
	}
	n := h.many(8)
	var all []string
	for _, q := range steps[:min(n, len(steps))] {
		now := ""
		if q.Status == "in_progress" && since == 0 {
			now = " (in progress)"
		}
		all = append(all, mark.Inline(q.Text, h.most(120))+now)
		if made := d.s.Plan.Made(q); made >= 0 {
			d.steps = append(d.steps, made)
		}
	}
	if len(steps) > n {
		all = append(all, fmt.Sprintf("%d more", len(steps)-n))
	}
	after := newer
	if since > 0 {
		after += fmt.Sprintf(", calls since: %d", since)
	}
	if len(edited) > 0 && !ended {
		after += ", edited: " + strings.Join(edited, ", ")
	}
	h.line("Plan, %s #%d (%d open of %d%s): %s", how, d.s.Events[p.Event].N(), len(steps), len(p.Steps), after, strings.Join(all, "; "))
}

// inForce lists what the human said while refusing or interrupting in this task and nothing later carried out.
func (h *handover) inForce() {
	d := h.d
	first := max(0, d.taskItem())
	for n := first; n >= 0 && n > first-8; n-- { // a short reply does not end what holds
		if it := &d.s.Items[n]; it.Ask >= 0 && !it.Back && it.Width >= taskWidth {
			first = n
			break
		}
	}
	room := h.many(4)
	for e := int32(len(d.s.Events)) - 1; e >= 0 && int(d.s.Events[e].Item) >= first && room > 0; e-- {
		ev := &d.s.Events[e]
		if ev.Kind != session.Reason || d.spent(e) >= 0 {
			continue
		}
		text := d.src.Text(ev.Ref)
		what := ""
		if ev.Call != nil {
			what = " " + d.noun(ev.Call, h.most(100))
		}
		h.line("In force: the human refused%s (#%d) and said: \"%s\"", what, ev.N(), mark.Inline(text, h.most(300)))
		h.proves(ev.Ref, firstWords(text))
		room--
	}
}

// spent returns the call by which a refusal no longer holds: the same one, or one with the same purpose, made since. -1 if
// there is none.
func (d *draft) spent(e int32) int32 {
	f := d.s.Events[e].Call
	if f == nil {
		return -1
	}
	ids := idForm.FindAllString(d.src.Text(d.s.Events[e].Ref), 4)
	for i := e + 1; i < int32(len(d.s.Events)); i++ {
		c := d.s.Events[i].Call
		if d.s.Events[i].Kind != session.Did || c.State != session.Done || c.Op != f.Op {
			continue
		}
		switch {
		case !c.LookUp && slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(c.Command, id) }),
			c.Op == transcript.Ask && c.Tool == f.Tool, // another question, or a better plan
			c.Op == transcript.Command && (c.Command == f.Command || c.Goal() != "" && c.Goal() == f.Goal()),
			c.Op != transcript.Command && len(c.Files) > 0 && len(f.Files) > 0 && c.Files[0].File == f.Files[0].File:
			return i
		}
	}
	return -1
}

// idForm is a number that names one thing: of a comment, a ticket, a run.
var idForm = regexp.MustCompile(`[0-9]{5,}`)

// clock returns the time of a record as ", 2026-01-29 10:30", "" if it has none.
func (d *draft) clock(r session.Ref) string {
	t := d.s.Time(r.Rec)
	if t.IsZero() {
		return ""
	}
	return t.Format(", " + time.DateOnly + " 15:04")
}

// firstWords returns the beginning of a text that a check looks for in the record.
func firstWords(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return lexicon.Head(text, 60)
}
