package compactor

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// The worth of the first forms. What an item's age and a step's place do to it is in decay and later.
const (
	worthAsk      = 62
	worthDecision = 60
	worthAnswer   = 58 // its first 320 chars
	worthMore     = 46 // 900
	worthWhole    = 38
	worthPlan     = 46
	worthFailure  = 40
	worthAgent    = 42
	worthStep     = 61 // what a step of the current item did
	worthRun      = 20
	worthSaid     = 27
	worthEdit     = 12
	worthRead     = 5
	worthFile     = 14
	worthWork     = 100 // the working set
)

// mostSpec is how much of the agent's text is shown that a short message answers, in chars.
const mostSpec = 8000

// maker makes the units.
type maker struct {
	*draft
	turns []session.Item
	last  int   // the current one of turns
	spec  int32 // the text that its message answers, which stands there, -1 if none
	built int   // chars of the forms so far

	shown   []shownChange
	answers map[int32]int32 // of an item by its first event, see answerOf
	listed  map[string]bool // files that the working set names
	above   string          // the handover and the commands of the working set
}

// makeUnits makes the units for a text of all chars, of which room are left after the handover state, in the order of the text.
// Older items get fewer of them once there is several times more than fits.
func (d *draft) makeUnits(state string, all, room int) {
	m := &maker{draft: d, turns: d.turns(), spec: -1, answers: map[int32]int32{}}
	m.last, m.above = len(m.turns)-1, state
	m.focus()
	m.workingSet(min(all, room*3/2))
	var current, earlier []*unit
	var decisions []*unit
	for n := m.last; n >= 0; n-- {
		if n < m.last-400 || m.built > 8*room+20000 {
			break
		}
		full := m.built < 4*room+4000
		units, made := m.item(n, full)
		if n == m.last {
			current = units
		} else {
			earlier = append(earlier, units...)
		}
		decisions = append(decisions, made...)
	}
	m.steps()
	d.units = append(d.units, current...)
	slices.SortStableFunc(decisions, func(a, b *unit) int { return int(b.at - a.at) })
	d.units = append(d.units, decisions...)
	d.units = append(d.units, earlier...)
	if !d.reader.brief {
		m.files()
	}
}

// steps makes the units of the descriptions of the unfinished steps of the plan.
func (m *maker) steps() {
	for _, e := range m.draft.steps {
		var in struct {
			Description string `json:"description"`
		}
		call := m.s.Events[e].Call
		if json.Unmarshal(m.src.Raw(call.At), &in) != nil || in.Description == "" || m.had(&m.s.Events[e]) {
			continue
		}
		u := m.unit(currentPart, e)
		u.add(fmt.Sprintf("#%d step of the plan:\n", call.At.N())+m.marked(call.At)(excerpt(in.Description, 1500, nil)), worthWork)
		m.units = append(m.units, u)
	}
}

// turns returns the session's items. A bare message to go on belongs to the item that was broken off before it, and the newest messages,
// to which nothing was said or done yet, belong to the item before them.
func (d *draft) turns() (all []session.Item) {
	newest := len(d.s.Items) - 1
	for newest > 0 && !d.acted(&d.s.Items[newest]) {
		newest--
	}
	broken := false // whether the newest of all was broken off
	for n := range d.s.Items {
		it := &d.s.Items[n]
		k := len(all) - 1
		goesOn := k >= 0 && it.Ask >= 0 && it.Width < replyWidth && !it.Command && !it.Back && all[k].Ask >= 0 && broken && !d.replies(it)
		if goesOn || k >= 0 && n > newest && d.acted(&all[k]) {
			all[k].To = it.To
			broken = d.brokenOff(it, broken)
			continue
		}
		all = append(all, *it)
		broken = d.brokenOff(it, true)
	}
	return all
}

// unit adds a unit of a part.
func (m *maker) unit(p part, at int32) *unit { return &unit{part: p, at: at} }

// decay is what the age of an item does to the worth of its units.
func (m *maker) decay(turn int) float64 {
	return max(0.3, 1/(1+float64(m.last-turn)/6))
}

// turnOf returns the turn of an event.
func (m *maker) turnOf(e int32) int {
	n, _ := slices.BinarySearchFunc(m.turns, e, func(it session.Item, e int32) int { return int(it.To - 1 - e) })
	return n
}

// leastStanding is the least decay of an item of which something stands.
const leastStanding = 0.6

// replacedBy names the event that took lines, or the reading that lacks them.
func (d *draft) replacedBy(e int32) string {
	if c := d.s.Events[e].Call; c != nil && c.Op == transcript.Read {
		return fmt.Sprintf("gone at #%d", c.At.N())
	}
	return fmt.Sprintf("replaced by #%d", d.s.Events[e].N())
}

// stands reports whether a change of an item stands, or a commit.
func (m *maker) stands(it *session.Item) bool {
	for i := range m.s.Commits {
		if e := m.s.Commits[i].Event; e >= it.From && e < it.To {
			return true
		}
	}
	return slices.ContainsFunc(m.changed(it), func(f *changedFile) bool { return !f.over })
}

// later is what the place of a step in its item does to its worth: the last one counts twice.
func later(it *session.Item, e int32) float64 {
	return 1 + float64(e-it.From+1)/float64(max(1, it.To-it.From))
}

// had reports whether the reader has an event otherwise: in the records it gets in full, or in its context.
func (d *draft) had(e *session.Event) bool {
	if d.reader.first > 0 && e.N() >= d.reader.first {
		return true
	}
	return d.reader.holds && len(d.s.Bounds) > 0 && d.s.InContext(e.Rec)
}

// item makes the units of an item, and those of its decisions.
func (m *maker) item(n int, full bool) (units, decided []*unit) {
	d := m.draft
	it := &m.turns[n]
	current := n == m.last
	p := earlierPart
	if current {
		p = currentPart
	}
	age := m.decay(n)
	if !current && it.Ask >= 0 && !d.acted(it) && (it.Command || d.retyped(d.s.Events[it.Ask].Item)) {
		return nil, nil
	}
	replaced, over := m.replaced(it)
	over = over && !current || !current && m.idle(it) && m.explainsOver(n)
	if stands := m.stands(it); stands {
		age = max(age, leastStanding)
	} else if !current {
		age *= 0.6
	}
	var head *unit
	add := func(u *unit) {
		if len(u.forms) > 0 {
			m.built += u.forms[len(u.forms)-1].chars
			units = append(units, u)
		}
	}
	if it.Ask >= 0 && !current {
		ev := &d.s.Events[it.Ask]
		if d.had(ev) && (d.reader.first > 0 || it.To <= it.Ask+1) { // with first, the reader has all of the item
			return nil, nil
		}
		if m.reader.brief {
			if !over && it.Ask > m.approved {
				add(m.finished(it, age))
			}
			return units, m.decisions(it, age)
		}
		head = m.heading(it, age, replaced, over)
		add(head)
	}
	answer := m.answerOf(it)
	ended := m.endsWith(it, answer)
	if whole, told := d.quoted[max(0, it.Ask)]; current && it.Ask >= 0 && (!told || !whole && !d.reader.brief) && (it.Width >= replyWidth || d.approved < it.Ask) && !d.had(&d.s.Events[it.Ask]) { // newer messages are the task
		u := m.unit(p, it.Ask)
		ev := &d.s.Events[it.Ask]
		u.key = true
		title := fmt.Sprintf("#%d the human wrote:\n", ev.N()) + d.answered(it, 200)
		if !told {
			u.add(title+d.ask(ev.Ref, d.src.Text(ev.Ref), 600), worthWork)
		}
		if !d.reader.brief { // the handover has no room for all of it
			u.add(title+d.ask(ev.Ref, d.src.Text(ev.Ref), mostSpec), worthStep)
		}
		add(u)
	}
	if current && !ended && d.approved < it.Ask && d.answersTo(it) >= 0 && !d.had(&d.s.Events[it.Before]) {
		m.specification(it, add)
	}
	var reads, edits []int32
	flush := func() {
		m.edits(p, head, it, edits, age, add)
		m.reads(it, reads, add)
		reads, edits = nil, nil
	}
	for e := it.From; e < it.To; e++ {
		ev := &d.s.Events[e]
		if e == it.Ask || d.had(ev) {
			continue
		}
		switch ev.Kind {
		case session.Queued:
			flush()
			u := m.unit(p, e)
			u.head, u.key = head, true
			text := d.src.Text(ev.Ref)
			if !d.own.covers(text) && !d.quoted[e] {
				u.add(fmt.Sprintf("#%d sent while the agent worked:\n", ev.N())+d.ask(ev.Ref, text, 600), worthAsk*age)
				u.add(fmt.Sprintf("#%d sent while the agent worked:\n", ev.N())+d.ask(ev.Ref, text, 4000), worthWhole*age)
				add(u)
			}
		case session.Said:
			if over || e == m.spec || e == m.whole || m.refused(it, e) || e != answer && (m.ofOver(it, e) || m.announces(it, e) || m.reader.brief && m.beforeCall(it, e) && ended && !m.measures(e, answer)) {
				continue // it is over, stands elsewhere, was not done, says nothing, or the answer says it
			}
			if e == answer || full {
				flush()
				m.said(p, head, it, e, e == answer, replaced, age, add)
			}
		case session.Did:
			if m.reader.brief && d.named[e] && ev.Call.State == session.Pending && !changes(ev.Call) {
				continue // the handover has it
			}
			if full && !over {
				if m.quiet(ev.Call) {
					if current && !(m.reader.brief && ended) {
						reads = append(reads, e)
					}
					continue
				}
				if changes(ev.Call) && ev.Call.State == session.Done && len(ev.Call.Files) == 1 {
					if len(edits) == 0 || m.s.Events[edits[0]].Call.Files[0].File != ev.Call.Files[0].File {
						flush()
					}
					edits = append(edits, e)
					continue
				}
				flush()
				m.step(p, head, it, e, age, add)
			}
		}
	}
	flush()
	return units, m.decisions(it, age)
}

// decisions makes the units of the answers and refusals in an item.
func (m *maker) decisions(it *session.Item, age float64) (all []*unit) {
	for e := it.From; e < it.To; e++ {
		if ev := &m.s.Events[e]; (ev.Kind == session.Answer || ev.Kind == session.Reason) && !m.had(ev) {
			if u := m.decision(e, age); u != nil && len(u.forms) > 0 {
				m.built += u.forms[len(u.forms)-1].chars
				all = append(all, u)
			}
		}
	}
	return all
}

// finished makes the unit of an earlier item for a reader beside a summary: what was asked and what it changed, in a line. If it changed
// files that are in work, its answer follows.
func (m *maker) finished(it *session.Item, age float64) *unit {
	d := m.draft
	ev := &d.s.Events[it.Ask]
	u := m.unit(earlierPart, it.Ask)
	text := d.src.Text(ev.Ref)
	effect := strings.TrimPrefix(m.effect(it, 6), "Effect: ")
	known, covered := d.quoted[it.Ask], d.own.covers(text)
	if covered && effect == "" {
		return u
	}
	answer, changed := m.answerOf(it), len(m.changed(it)) > 0
	outcome := answer >= 0 && answer != m.spec && m.endsWith(it, answer) && !d.had(&d.s.Events[answer])
	line := fmt.Sprintf("#%d", ev.N())
	if ev.Back {
		line += ", taken back by the human,"
	}
	if most := 240; !known {
		if covered {
			most = 80
		}
		line += fmt.Sprintf(" \"%s\"", mark.Inline(text, most))
	}
	if after := strings.TrimPrefix(d.after(it.Ask), ", "); after != "" {
		line += " (" + after + ")"
	}
	if it.Width < replyWidth || len(d.picked(it)) > 0 {
		answered := d.answered(it, 200)
		if answered == "" && effect == "" && !outcome {
			return u
		}
		line = strings.TrimSpace(line + " " + answered)
	}
	if effect != "" {
		line += ": " + strings.TrimSpace(effect)
	}
	u.key = true
	said := ""
	if outcome {
		said = d.src.Text(d.s.Events[answer].Ref)
		outcome = !d.own.covers(said) && !json.Valid([]byte(said)) && (changed || !m.revised(it, said))
	}
	title := fmt.Sprintf("#%d the agent said:", d.s.Events[max(0, answer)].N())
	switch {
	case outcome && !m.spent(it) && !m.overtaken(it) && m.inWork(it):
		most := 320
		if changed {
			most = 600
		}
		if !known || effect != "" {
			u.add(line+"\n", worthAsk*age)
		}
		u.add(line+"\n"+title+"\n"+d.marked(d.s.Events[answer].Ref)(excerpt(withoutCode(said), most, d.usedAfter(answer))), worthAnswer*age)
	case effect == "" && changed && !known: // all of it is committed since
		u.add(line+"\n", worthAsk/2*age)
	case effect == "" && outcome && !m.idle(it) && !m.explainsOver(m.turnOf(it.From)):
		u.add(line+", "+title+" \""+mark.Inline(gist(said), 0)+"\"\n", worthAsk*age)
	case !known || effect != "":
		u.add(line+"\n", worthAsk*age)
	}
	return u
}

// gist returns the first line of a text that does more than to lead to the next.
func gist(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); session.HasWord(line) && !leads(line) {
			return headOf(line, 160)
		}
	}
	return headOf(joined(text), 160)
}

// revised reports whether an answer is about files most of which were changed since its item: what it says of them is overtaken.
func (m *maker) revised(it *session.Item, said string) bool {
	named, since := 0, 0
	for _, f := range m.s.Files {
		if strings.Contains(said, transcript.Base(f.Path)) {
			named++
			if n := len(f.Edits); n > 0 && f.Edits[n-1].Event >= it.To {
				since++
			}
		}
	}
	return since > 0 && 2*since >= named
}

// withoutCode returns a text without its blocks of code: what stands of them is in the files.
func withoutCode(text string) string {
	var b strings.Builder
	for _, one := range blocksOf(text) {
		if !one.code {
			b.WriteString(strings.Join(one.lines, "\n") + "\n\n")
		}
	}
	return b.String()
}

// inWork reports whether an item is the one before the current one; or it changed a file that the current item uses, and not all is committed; or it changed none, and its answer
// has values that were used since.
func (m *maker) inWork(it *session.Item) bool {
	now := &m.turns[m.last]
	if it.To == now.From {
		return true
	}
	files := m.changed(it)
	if slices.ContainsFunc(m.s.Commits, func(c session.Commit) bool { return c.Event >= it.From && c.Event < it.To }) &&
		!slices.ContainsFunc(files, func(f *changedFile) bool { return f.file.Open }) {
		return false
	}
	if e := m.answerOf(it); len(files) == 0 && e >= 0 {
		return m.usedValues(m.src.Text(m.s.Events[e].Ref), now.From-1) > 0
	}
	return slices.ContainsFunc(files, func(f *changedFile) bool { return !f.over && f.file.Last >= now.From })
}

// heading makes the head of an earlier item: its message. Of one whose changes were all replaced it is all that is said.
func (m *maker) heading(it *session.Item, age float64, replaced int32, over bool) *unit {
	d := m.draft
	ev := &d.s.Events[it.Ask]
	u := m.unit(earlierPart, it.Ask)
	u.key = true
	end := ""
	if it.To > it.From+1 {
		end = fmt.Sprintf(" to #%d", d.s.Events[it.To-1].N())
	}
	if ev.Back {
		end += ", taken back by the human"
	}
	if over && replaced >= 0 {
		end += ", what it changed: " + d.replacedBy(replaced)
	}
	if ev.N() < 0 {
		end += ", before the rewrite at #1"
	}
	title := fmt.Sprintf("### #%d%s%s%s\n", ev.N(), end, d.clock(ev.Ref), d.after(it.Ask))
	if it.Width < replyWidth || len(d.picked(it)) > 0 {
		title += d.answered(it, 200)
	}
	effect, effects := "", ""
	if !over {
		effect, effects = m.effect(it, 4), m.effect(it, 30)
	}
	text := d.src.Text(ev.Ref)
	switch {
	case d.quoted[it.Ask]: // it is only said for what was done
		u.key = false
		u.add(title+effect, map[bool]float64{true: -1, false: worthAsk * age / 2}[effect == ""])
		u.add(title+effects, worthRun*age)
		return u
	case d.own.covers(text):
		u.key = false
		u.add(title+mark.Quote("", headOf(joined(text), 80))+effect, worthAsk*age/2)
		return u
	}
	worth := worthAsk * age
	switch {
	case it.Command || ev.Back:
		worth /= 3
	case it.Width < replyWidth: // its work has a worth of its own
		worth /= 2
	}
	line := headOf(joined(text), 160)
	short := title + mark.Quote("", line)
	if line != joined(text) {
		short += d.cut(ev.Ref)
	}
	if over {
		u.add(short, worth/3)
		return u
	}
	u.add(short+effect, worth)
	u.add(title+d.ask(ev.Ref, text, 600)+effect, worth*0.9)
	u.add(title+d.ask(ev.Ref, text, 4000)+effects, min(worth*0.7, worthWhole*age))
	return u
}

// effect says what an item changed: at most n files, and commits.
func (m *maker) effect(it *session.Item, n int) string {
	d := m.draft
	var files, restored, commits []string
	for i := range d.s.Commits {
		if c := &d.s.Commits[i]; c.Event >= it.From && c.Event < it.To && c.Hash != "" {
			if c.Rewrote > 0 {
				commits = append(commits, fmt.Sprintf("\"%s\" (its hash changed by #%d)", mark.Inline(c.Subject, 120), d.s.Events[c.Rewrote].N()))
				continue
			}
			commits = append(commits, fmt.Sprintf("`%s` \"%s\"", c.Hash, mark.Inline(c.Subject, 120)))
		}
	}
	for _, f := range m.changed(it) {
		if m.reader.brief && (!f.file.Open && !f.undoes || f.over && f.replaced >= 0 && !f.undoes) {
			continue // a commit took it, or nothing of it is left
		}
		what := "`" + mark.Inline(d.path(f.file.Path), 160) + "` (" + numbers(f.at)
		if m.reader.brief && f.lines == 1 && len(f.at) <= 2 && lexicon.Chars(f.left) <= mostLeft {
			what += ": `" + mark.Inline(f.left, 0) + "`"
		}
		if f.deleted {
			what += ", deleted"
		}
		switch {
		case len(commits) > 0 && f.file.Open && f.file.Edits[len(f.file.Edits)-1].Event < it.To:
			what += ", not committed"
		case f.reverted:
			restored = append(restored, what+")")
			continue
		case f.undoes:
			what += ", undoes an earlier change"
		case f.over && f.replaced >= 0:
			what += ", " + d.replacedBy(f.replaced)
		}
		files = append(files, what+")")
	}
	var parts []string
	if len(files) > 0 {
		most := n
		if most == len(files)-1 { // its name is no longer than its count
			most++
		}
		parts = append(parts, "changed "+first(files, most))
	}
	if len(restored) > 0 {
		parts = append(parts, "restored by git "+strings.Join(restored[:min(n, len(restored))], ", "))
	}
	if len(commits) > 0 {
		parts = append(parts, "committed "+strings.Join(commits[max(0, len(commits)-n):], ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Effect: " + strings.Join(parts, "; ") + "\n"
}

// changedFile is a file that an item changed.
type changedFile struct {
	file     *session.File
	at       []int // records of the calls
	deleted  bool
	replaced int32 // the newest event that took a line of it, -1 if all stands
	over     bool  // nothing is left of it
	undoes   bool
	reverted bool
	lines    int    // that stand
	left     string // one of them
}

// changed returns the files that an item changed, in order.
func (m *maker) changed(it *session.Item) (all []*changedFile) {
	byFile := map[*session.File]*changedFile{}
	for e := it.From; e < it.To; e++ {
		c := m.s.Events[e].Call
		if m.s.Events[e].Kind != session.Did || c.State != session.Done {
			continue
		}
		for _, f := range c.Files {
			if !f.Sure || f.Op == transcript.Read || c.Plans && m.reader.brief {
				continue
			}
			one := byFile[f.File]
			if one == nil {
				one = &changedFile{file: f.File, replaced: -1, over: true}
				byFile[f.File] = one
				all = append(all, one)
			}
			switch over := c.Over(); { // those of which nothing is left are named where all are
			case over == one.over:
				one.at = append(one.at, c.At.N())
			case one.over:
				one.at, one.over = []int{c.At.N()}, false
			}
			one.deleted = f.Op == transcript.Delete
			one.replaced = max(one.replaced, c.Replaced)
			one.reverted = f.Op == transcript.Revert
			one.undoes = c.Undoes != nil || one.reverted
			for line := range m.standing[c] {
				one.lines, one.left = one.lines+1, line
			}
		}
	}
	return all
}

// mostLeft is the length, in chars, of a line that tells what stands of a small change.
const mostLeft = 80

// numbers names records: each of a few, else the first and the last one.
func numbers(at []int) string {
	if n := len(at); n > 4 {
		return fmt.Sprintf("#%d-#%d, %dx", at[0], at[n-1], n)
	}
	var all []string
	for _, n := range at {
		all = append(all, fmt.Sprintf("#%d", n))
	}
	return strings.Join(all, ", ")
}

// retyped reports whether the next message begins as that of item n, to which the agent did nothing.
func (d *draft) retyped(n int32) bool {
	if int(n)+1 >= len(d.s.Items) || d.s.Items[n+1].Ask < 0 {
		return false
	}
	text := d.src.Text(d.s.Events[d.s.Items[n].Ask].Ref)
	return strings.HasPrefix(joined(d.src.Text(d.s.Events[d.s.Items[n+1].Ask].Ref)), lexicon.Head(joined(text), 40))
}

// replaced returns the newest event that took a line which an item wrote, -1 if all stand, and whether nothing of it is left.
func (m *maker) replaced(it *session.Item) (by int32, over bool) {
	by, over = -1, true
	for _, f := range m.changed(it) {
		by, over = max(by, f.replaced), over && f.over
	}
	return by, over && by >= 0
}

// specification makes the unit of the agent's text that stood before the message of the current item. What a short message takes up is
// what is to be done: it comes first, and whole.
func (m *maker) specification(it *session.Item, add func(*unit)) {
	d := m.draft
	ev := &d.s.Events[it.Before]
	text := d.src.Text(ev.Ref)
	replies := d.replies(it)
	if d.own.covers(text) || !replies && !sharesValue(d.src.Text(d.s.Events[it.Ask].Ref), text) {
		return
	}
	m.spec = it.Before
	u := m.unit(currentPart, it.Ask)
	title := fmt.Sprintf("The message follows #%d of the agent:\n", ev.N())
	if !replies {
		u.add(title+d.marked(ev.Ref)(excerpt(text, 900, nil)), worthStep)
		add(u)
		return
	}
	u.add(title+tailExcerpt(text, 600), worthWork) // what it asks stands at its end
	u.add(title+d.marked(ev.Ref)(excerpt(text, 2000, d.usedAfter(it.Before))), worthWork)
	u.add(title+d.marked(ev.Ref)(excerpt(text, mostSpec, d.usedAfter(it.Before))), worthStep+12)
	add(u)
}

// sharesValue reports whether a text has a value of a message.
func sharesValue(message, text string) (has bool) {
	for _, id := range idForm.FindAllString(message, 8) {
		if strings.Contains(text, id) {
			return true
		}
	}
	lexicon.Terms(message, func(term string) bool {
		has = strings.Contains(text, term)
		return !has
	})
	return has
}

// answerOf returns the last text of an item, -1 if it has none.
func (m *maker) answerOf(it *session.Item) int32 {
	if e, known := m.answers[it.From]; known {
		return e
	}
	e := it.To - 1
	for e >= it.From && m.s.Events[e].Kind != session.Said {
		e--
	}
	if e < it.From {
		e = -1
	}
	m.answers[it.From] = e
	return e
}

// usedAfter returns a function that reports whether a value is used after an event.
func (d *draft) usedAfter(e int32) func(string) bool {
	return func(term string) bool { return d.s.UsedAfter(term, e) }
}

// said makes the unit of a text of the agent.
func (m *maker) said(p part, head *unit, it *session.Item, e int32, answer bool, replaced int32, age float64, add func(*unit)) {
	d := m.draft
	ev := &d.s.Events[e]
	text := d.src.Text(ev.Ref)
	if strings.TrimSpace(text) == "" || d.own.covers(text) || json.Valid([]byte(text)) { // a call that is printed is none
		return
	}
	u := m.unit(p, e)
	u.head, u.key = head, answer
	title := fmt.Sprintf("#%d the agent said:\n", ev.N())
	if e+1 < it.To && d.s.Events[e+1].Kind == session.Stopped && !ev.Ends {
		title = fmt.Sprintf("#%d the agent said, broken off:\n", ev.N())
		answer = false
	}
	used := d.usedAfter(e)
	say := func(room int, worth float64) {
		quoted := d.marked(ev.Ref)(excerpt(text, room, used))
		u.add(title+quoted, worth)
	}
	if answer && m.endsWith(it, e) {
		if ev.Ends {
			title = fmt.Sprintf("#%d the agent answered:\n", ev.N())
		}
		summary, summarized := "", false
		if p == earlierPart && ev.Chars > 1500 {
			summary, summarized = d.modelled(text)
		}
		first, more, whole := float64(worthAnswer), float64(worthMore), float64(worthWhole)
		if p == currentPart { // the last answer comes first, and whole
			first, more, whole = worthStep+14, worthStep+9, worthStep+2
		}
		if p == earlierPart {
			spent := m.spent(it)
			if spent && d.reader.brief { // the next message says what it answers
				return
			}
			if m.idle(it) && ev.Chars > 900 && d.usedValues(text, e) == 0 { // nothing came of it
				u.add(strings.TrimSuffix(title, "\n")+" "+d.cut(ev.Ref), worthSaid*age)
				add(u)
				return
			}
			if spent || replaced >= 0 || e < m.approved || m.overtaken(it) { // an approved plan is newer than what led to it
				first, more, whole = first/3, more/3, whole/3
			}
			whole *= 0.3 + 0.1*float64(min(7, d.usedValues(text, e))) // its length is worth as much as what is used of it
		}
		if summarized { // in place of the shortest excerpt, which is worth as much and longer, so that it would always win
			u.add(title+"(summary by a model) "+mark.Inline(summary, 0)+"\n"+d.cut(ev.Ref), first*age)
		} else {
			say(320, first*age)
		}
		say(900, more*age)
		say(6000, whole*age)
	} else {
		w := later(it, e)
		if m.beforeCall(it, e) && m.quiet(d.s.Events[e+1].Call) { // what it looks for
			say(240, worthEdit*w*age)
		} else {
			say(240, min(worthSaid*w, worthAnswer)*age)
		}
		say(1200, 18*age)
	}
	add(u)
}

// overtaken reports whether a later answer tells of every file that an item changed.
func (m *maker) overtaken(it *session.Item) bool {
	files := m.changed(it)
	n := m.turnOf(it.From) + 1
	for k := n; k < min(len(m.turns), n+12) && len(files) > 0; k++ {
		e := m.answerOf(&m.turns[k])
		if m.idle(&m.turns[k]) || !m.endsWith(&m.turns[k], e) {
			continue
		}
		text := m.src.Text(m.s.Events[e].Ref)
		if !slices.ContainsFunc(files, func(f *changedFile) bool { return !strings.Contains(text, transcript.Base(f.file.Path)) }) {
			return true
		}
	}
	return false
}

// ofOver reports whether a text follows changes of which nothing stands.
func (m *maker) ofOver(it *session.Item, e int32) bool {
	some := false
	for i := e - 1; i >= it.From && m.s.Events[i].Kind != session.Said; i-- {
		if c := m.s.Events[i].Call; m.s.Events[i].Kind == session.Did && changes(c) && c.State == session.Done {
			if !c.Over() {
				return false
			}
			some = true
		}
	}
	return some
}

// explainsOver reports whether the newest change before an item without calls is over.
func (m *maker) explainsOver(n int) bool {
	for n--; n >= 0 && n > m.last-400; n-- {
		if !m.idle(&m.turns[n]) {
			_, over := m.replaced(&m.turns[n])
			return over
		}
	}
	return false
}

// idle reports whether an item has no call.
func (m *maker) idle(it *session.Item) bool {
	return !slices.ContainsFunc(m.s.Events[it.From:it.To], func(e session.Event) bool { return e.Kind == session.Did })
}

// spent reports whether the next message took up what an item's last words offered, and the agent acted on it.
func (m *maker) spent(it *session.Item) bool {
	n := m.turnOf(it.From) + 1
	return n < len(m.turns) && m.turns[n].Ask >= 0 && m.replies(&m.turns[n]) && m.acted(&m.turns[n])
}

// beforeCall reports whether a call follows an event.
func (m *maker) beforeCall(it *session.Item, e int32) bool {
	return e+1 < it.To && m.s.Events[e+1].Kind == session.Did
}

// measures reports whether a text has a number that the answer of its item lacks.
func (m *maker) measures(e, answer int32) (fresh bool) {
	last := m.src.Text(m.s.Events[answer].Ref)
	lexicon.Terms(m.src.Text(m.s.Events[e].Ref), func(term string) bool {
		fresh = strings.ContainsAny(term, "0123456789") && !strings.Contains(last, term)
		return !fresh
	})
	return fresh
}

// refused reports whether a text leads to a call that the human refused.
func (m *maker) refused(it *session.Item, e int32) bool {
	for e++; e < it.To && m.s.Events[e].Kind == session.Did; e++ {
		if m.s.Events[e].Call.State == session.Refused {
			return true
		}
	}
	return false
}

// announces reports whether a text only says what the next call does: one line, without a value that the call lacks.
func (m *maker) announces(it *session.Item, e int32) bool {
	ev := &m.s.Events[e]
	if !m.beforeCall(it, e) || ev.Chars > 240 {
		return false
	}
	text := strings.TrimSpace(m.src.Text(ev.Ref))
	if strings.Contains(text, "\n") {
		return false
	}
	if lexicon.Leads(text) {
		return true
	}
	label := ""
	fresh := false
	lexicon.Terms(text, func(term string) bool {
		if label == "" {
			label = m.label(m.s.Events[e+1].Call, 400)
		}
		fresh = !strings.Contains(label, term)
		return !fresh
	})
	return !fresh
}

// endsWith reports whether nothing was done in an item after an event, so that a text there ended the turn; e may be -1.
func (m *maker) endsWith(it *session.Item, e int32) bool {
	if e < 0 {
		return false
	}
	for i := e + 1; i < it.To; i++ {
		if m.s.Events[i].Kind == session.Did {
			return false
		}
	}
	return true
}

// quiet reports whether a call only looks, so that several of them share a line.
func (m *maker) quiet(c *session.Call) bool {
	switch c.Op {
	case transcript.Read, transcript.Search, transcript.Plan, transcript.Web:
		return true
	case transcript.Ask:
		return true // a decision
	case transcript.Command:
		return c.LookUp || c.Stdin
	}
	return false
}

// reads makes one line of the look-ups between two steps of the current item, each once, and units of what they gave; beside a summary
// that can be read again.
func (m *maker) reads(it *session.Item, all []int32, add func(*unit)) {
	all = slices.DeleteFunc(all, func(e int32) bool {
		op := m.s.Events[e].Call.Op
		return op == transcript.Plan || op == transcript.Ask
	})
	var parts []string
	verb := ""
	seen := map[string]bool{}
	for _, e := range all {
		c := m.s.Events[e].Call
		l := m.label(c, 100)
		switch {
		case c.State == session.Failed || c.State == session.Pending || strings.TrimSpace(m.src.Outcome(c).Text) == "":
			l += m.outcome(c, 120)
		}
		again := seen[l]
		seen[l] = true
		if named := c.Named(); c.Op == transcript.Command && len(named) > 0 { // once for each file, whatever part of it
			again = true
			for _, p := range named {
				again = again && seen[p]
				seen[p] = true
			}
		}
		if again {
			continue
		}
		one, rest, _ := strings.Cut(l, " ")
		if one == verb {
			l = rest
		}
		verb = one
		parts = append(parts, l)
	}
	if len(parts) == 0 {
		return
	}
	u := m.unit(currentPart, all[0])
	first := fmt.Sprintf("#%d ", m.s.Events[all[0]].N())
	if last := m.s.Events[all[len(all)-1]].N(); len(all) > 1 {
		first = fmt.Sprintf("#%d-#%d ", m.s.Events[all[0]].N(), last)
	}
	w := later(it, all[len(all)-1])
	if m.reader.brief {
		if m.lastEdit() < all[len(all)-1] { // no answer tells of what they gave
			const most = 6
			u.add(first+strings.Join(parts[max(0, len(parts)-most):], "; ")+"\n", worthStep)
			add(u)
		}
		return
	}
	if len(parts) > 4 {
		u.add(first+strings.Join(parts[:3], "; ")+" and more look-ups\n", worthRead*w)
	}
	u.add(first+strings.Join(parts[:min(len(parts), 20)], "; ")+"\n", worthRead*w*0.8)
	add(u)
	for _, e := range all {
		c := m.s.Events[e].Call
		text := m.src.Outcome(c).Text
		if c.State != session.Done || m.newest[c.Command] > e || lexicon.Width(strings.TrimSpace(text)) < 80 {
			continue
		}
		one := m.unit(currentPart, e)
		one.head = u
		for _, room := range []int{500, 2000} {
			quoted := m.marked(c.Result)(outputExcerpt(text, room, false, m.usedAfter(e)))
			one.add(fmt.Sprintf("#%d gave:\n", c.Result.N())+quoted, worthRead*later(it, e)*300/float64(room))
		}
		add(one)
	}
}

// step makes the unit of a call that does something.
func (m *maker) step(p part, head *unit, it *session.Item, e int32, age float64, add func(*unit)) {
	d := m.draft
	c := d.s.Events[e].Call
	u := m.unit(p, e)
	u.head = head
	w := later(it, e)
	line := fmt.Sprintf("#%d %s%s", c.At.N(), d.label(c, 240), d.state(c))
	switch {
	case c.State == session.Refused, p == earlierPart && c.State == session.Pending, c.Fixed >= 0 && (p == earlierPart || d.reader.brief):
		return // a decision, or it never ended, or it is over
	case c.Op == transcript.Command && d.last[d.command(c)] > e && !(c.State == session.Failed && !d.reader.brief):
		return // it ran again
	case d.reader.brief && c.State == session.Done && session.Commits(c):
		return // the handover or the item's effect names the commit
	case d.reader.brief && c.State == session.Failed && (!d.isCheck(c) && m.overcome(it, e) || d.mended(e)):
		return
	case c.State == session.Done && (d.named[e] || d.reader.brief && m.namesAll(c)):
		return // the handover or the working set tells of it
	case c.State == session.Failed && !c.LookUp:
		m.failure(u, c, line, age)
	case c.Op == transcript.Agent:
		m.agent(it, u, c, line, age)
	case c.Op == transcript.Command:
		worth := worthRun * w
		if d.isCheck(c) {
			worth += 8
		}
		said := d.lastLine(c)
		if said != "" {
			line += ": \"" + mark.Inline(said, 160) + "\""
		}
		if c.Fixed >= 0 { // its status is hidden
			line += fmt.Sprintf("; no error at #%d", d.s.Events[c.Fixed].N())
		}
		text := strings.TrimSpace(d.src.Outcome(c).Text)
		used := d.usedValues(text, e)
		worth += float64(min(used, 8))
		passed := c.State == session.Done && d.isCheck(c) && !c.Errors
		if passed && p == earlierPart {
			worth /= 2
		}
		if p == earlierPart && said == "" && used == 0 && c.State == session.Done {
			return // it says nothing
		}
		if d.reader.brief && said == "" && c.State == session.Done && lexicon.Width(text) >= taskWidth && m.endsWith(it, m.answerOf(it)) {
			return // what it read, the answer tells
		}
		u.add(line+"\n", min(worth, worthFailure)*age)
		if !passed && text != said && (used > 0 || d.isCheck(c) && p == currentPart) {
			quoted := d.marked(c.Result)(outputExcerpt(text, 500, false, d.usedAfter(e)))
			u.add(line+"\n"+quoted, (10+float64(min(used, 8)))*age)
		}
	case changes(c):
		u.add(line+"\n", worthRun*w*age)
		quoted, _ := diffExcerpt(m.patch(c), 1500)
		u.add(line+"\n"+quoted, 20*w/2*age)
	default:
		u.add(line+"\n", worthRead*w*age)
		if text := strings.TrimSpace(d.src.Outcome(c).Text); p == currentPart && strings.Contains(text, "\n") {
			quoted := d.marked(c.Result)(outputExcerpt(text, 400, false, d.usedAfter(e)))
			u.add(line+"\n"+quoted, worthRead*age)
		}
	}
	if p == currentPart { // before any step of an earlier item
		for k := range u.forms {
			if c.Fixed >= 0 && m.s.Events[c.Fixed].Item == m.s.Events[e].Item {
				break // it is over
			}
			if k == 0 || changes(c) && k == 1 {
				u.forms[k].worth = max(u.forms[k].worth, worthStep+u.forms[k].worth/10)
			}
		}
	}
	add(u)
}

// overcome reports whether a call of the same tool worked after a failure in an item, so that the work went on without it.
func (m *maker) overcome(it *session.Item, e int32) bool {
	f := m.s.Events[e].Call
	return slices.ContainsFunc(m.s.Events[e+1:it.To], func(ev session.Event) bool {
		return ev.Kind == session.Did && ev.Call.State == session.Done && ev.Call.Tool == f.Tool
	})
}

// edits makes the unit of successive changes of one file. Equal changes are shown once. A reader beside a summary gets only small ones,
// whole: the files can be read, and the effect of the item names them.
func (m *maker) edits(p part, head *unit, it *session.Item, all []int32, age float64, add func(*unit)) {
	var undone []string
	all = slices.DeleteFunc(all, func(e int32) bool {
		c := m.s.Events[e].Call
		if c.Undoes != nil {
			undone = append(undone, fmt.Sprintf("#%d undoes #%d", c.At.N(), c.Undoes.At.N()))
		}
		return c.Over()
	})
	if len(undone) > 0 && p == currentPart {
		u := m.unit(p, it.Ask)
		u.add("Taken back: "+strings.Join(undone, ", ")+"\n", worthStep)
		add(u)
	}
	if len(all) == 0 || p == earlierPart && it.To-it.From >= 60 { // the item's effect names them
		return
	}
	c := m.s.Events[all[0]].Call
	if m.reader.brief && !c.Files[0].File.Open && m.endsWith(it, m.answerOf(it)) {
		return // a commit took them, and the answer tells of it
	}
	working := p == currentPart && !m.endsWith(it, m.answerOf(it)) // no answer tells of it
	var at []int
	for _, e := range all {
		at = append(at, m.s.Events[e].Call.At.N())
	}
	var changes []change
	var named []string // changes that are not shown: where they are
	room := 4 * smallChange
	for _, e := range slices.Backward(all) {
		call := m.s.Events[e].Call
		patch := m.patch(call)
		n := lexicon.Chars(patch) + 3*strings.Count(patch, "\n")
		record := fmt.Sprintf("#%d ", call.At.N())
		if len(all) == 1 {
			record = ""
		}
		words := lexicon.WordSet(patch)
		switch like := m.alike(words); {
		case like > 0:
			named = append(named, fmt.Sprintf("%slike #%d", record, like))
		case !m.reader.brief || len(named) == 0 && n <= min(smallChange, room): // the files can be read: an older one says less
			room -= n
			changes = append(changes, change{call.At.N(), patch})
			m.shown = append(m.shown, shownChange{call.At.N(), words})
		case call.Op == transcript.Edit:
			named = append(named, record+place(patch))
		}
	}
	slices.Reverse(changes)
	slices.Reverse(named)
	if m.reader.brief && len(changes) == 0 && !working {
		return
	}
	line := numbers(at) + " " + m.label(c, 240) + "\n"
	if len(named) > 0 && working {
		line = strings.TrimSuffix(line, "\n") + ": " + strings.Join(named[max(0, len(named)-mostNamed):], "; ") + "\n"
	}
	u := m.unit(p, all[0])
	u.head = head
	w := later(it, all[len(all)-1])
	if working || p == currentPart && !m.reader.brief {
		u.add(line, worthStep+worthRun*w/10)
	}
	rooms := []int{500, 1500, 4000}
	if m.reader.brief {
		rooms = []int{8 * smallChange} // all of them whole
	}
	for n, room := range rooms {
		worth := 10000 / float64(room) * w / 2 * age
		if p == currentPart && n == 0 {
			worth = worthStep + worth/10
		}
		u.add(line+m.changesIn(changes, room, c), worth)
	}
	add(u)
}

// mostNamed is how many changes that are not shown are named.
const mostNamed = 8

// shownChange is a change that the text shows, with its words.
type shownChange struct {
	at    int
	words map[string]bool
}

// mostAlike is with how many shown changes another one is compared.
const mostAlike = 100

// alike returns the record of a change that was shown lately and has nearly all of these words, 0 if there is none.
func (m *maker) alike(words map[string]bool) int {
	for _, one := range slices.Backward(m.shown[max(0, len(m.shown)-mostAlike):]) {
		same := 0
		for w := range words {
			if one.words[w] {
				same++
			}
		}
		if len(words) > 3 && same*100 >= enough*len(words) {
			return one.at
		}
	}
	return 0
}

// place says how many lines a change takes and adds, and the first one that it only adds, else the first one that it only takes.
func place(patch string) string {
	sides := map[byte][]string{}
	for line := range strings.Lines(patch) {
		sides[line[0]] = append(sides[line[0]], strings.TrimSpace(line[1:]))
	}
	text := fmt.Sprintf("+%d -%d", len(sides['+']), len(sides['-']))
	for _, one := range []struct {
		sign, other byte
		verb        string
	}{{'+', '-', "adds"}, {'-', '+', "removes"}} {
		for _, line := range sides[one.sign] {
			if session.HasWord(line) && !slices.Contains(sides[one.other], line) {
				return text + ", " + one.verb + " `" + mark.Inline(line, 80) + "`"
			}
		}
	}
	return text
}

// smallChange is up to how many chars a change is shown whole beside a summary.
const smallChange = 400

// change is what a call changed.
type change struct {
	at    int
	patch string
}

// changesIn quotes changes of a file in about room chars; first is their first call.
func (m *maker) changesIn(changes []change, room int, first *session.Call) string {
	var b strings.Builder
	for n, one := range changes {
		if len(changes) > 1 {
			fmt.Fprintf(&b, "#%d:\n", one.at)
		}
		quoted, whole := diffExcerpt(one.patch, max(240, room/(len(changes)-n)))
		room -= lexicon.Chars(quoted)
		if len(changes) == 1 && !whole {
			quoted = m.shortened(quoted, first.At)
		}
		b.WriteString(quoted)
	}
	return b.String()
}

// patch returns the change that a call makes; of a new file its beginning. If some of what it wrote is gone, it returns the lines
// that stand.
func (m *maker) patch(c *session.Call) string {
	patch, whole := m.src.Patch(c)
	if c.Replaced >= 0 {
		var b strings.Builder
		for line := range strings.Lines(patch) {
			text, added := strings.CutPrefix(line, "+")
			if (added || whole) && m.standing[c][strings.TrimSpace(text)] {
				b.WriteString(line)
			}
		}
		patch = b.String()
	}
	if whole {
		return lexicon.Head(patch, 4000)
	}
	return patch
}

func changes(c *session.Call) bool {
	switch c.Op {
	case transcript.Write, transcript.Edit, transcript.Delete, transcript.Rename:
		return true
	}
	return false
}

// diffExcerpt quotes a change. If it does not fit, unchanged and blank lines go first, then what was removed, then the last
// lines: what was removed alone would read as a deletion.
func diffExcerpt(patch string, room int) (quoted string, whole bool) {
	if strings.TrimSpace(patch) == "" {
		return "", true
	}
	var b strings.Builder
	whole = lexicon.Chars(patch)+2*strings.Count(patch, "\n") <= room
	var lines []string
	removed, added := 0, 0
	for line := range strings.Lines(patch) {
		line = lexicon.Head(strings.TrimRight(line, "\r\n"), 200)
		if line == "" || (!whole || line[0] == ' ') && strings.TrimSpace(line[1:]) == "" || !whole && line[0] == ' ' {
			continue
		}
		lines = append(lines, line)
		if n := lexicon.Chars(line) + 3; strings.HasPrefix(line, "-") {
			removed += n
		} else {
			added += n
		}
	}
	if added > 0 && added+removed > room {
		lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "-") })
	}
	for _, line := range lines {
		q := mark.Quote("", line)
		if room -= lexicon.Chars(q); room < 0 {
			b.WriteString("...\n")
			break
		}
		b.WriteString(q)
	}
	return b.String(), whole
}

// failure makes the forms of a failed call: its error, and what ended it.
func (m *maker) failure(u *unit, c *session.Call, line string, age float64) {
	d := m.draft
	fixed := ""
	if c.Fixed >= 0 {
		fixed = fmt.Sprintf("; worked at #%d", d.s.Events[c.Fixed].N())
	}
	said := d.errorLine(c)
	if said != "" {
		line += ": \"" + mark.Inline(said, 240) + "\""
	}
	u.key = true
	worth := worthFailure * age
	if c.LookUp || c.Git() {
		worth = worthRun * age
	}
	u.add(line+fixed+"\n", worth)
	if quoted, _ := diffExcerpt(m.patch(c), 1500); changes(c) && c.Fixed < 0 && quoted != "" { // it may be needed again
		u.add(line+fixed+"\n"+quoted, worth*0.6)
		return
	}
	text := strings.TrimSpace(d.src.Outcome(c).Text)
	if text != said && c.Fixed < 0 && !c.Aborted && (!d.reader.brief || d.isCheck(c)) {
		quoted := d.marked(c.Result)(outputExcerpt(text, 700, true, d.usedAfter(c.Index)))
		u.add(line+fixed+"\n"+quoted, 16*age)
	}
}

// agent makes the forms of a sub-agent: its task and its report.
func (m *maker) agent(it *session.Item, u *unit, c *session.Call, line string, age float64) {
	d := m.draft
	u.add(line+"\n", worthAgent*age)
	report := d.src.Outcome(c).Text
	for _, end := range []string{"\nagentId: ", "\n<usage>"} { // the client's own lines
		report, _, _ = strings.Cut(report, end)
	}
	report = strings.TrimSpace(report)
	if report == "" || d.own.covers(report) {
		return
	}
	for _, f := range []struct {
		room  int
		worth float64
	}{{320, worthAgent}, {1000, 26}, {4000, 12}} {
		if f.room > 320 && m.reader.brief && len(m.changed(it)) > 0 {
			break // its report led to the changes
		}
		quoted := d.marked(c.Result)(excerpt(report, f.room, d.usedAfter(c.Index)))
		u.add(line+", reported:\n"+quoted, f.worth*age)
	}
}

// decision makes the unit of an answer, or of a refusal with its reason.
func (m *maker) decision(e int32, age float64) *unit {
	d := m.draft
	ev := &d.s.Events[e]
	u := m.unit(decisionPart, e)
	u.key = true
	if ev.Kind == session.Reason {
		text := d.src.Text(ev.Ref)
		what := "a call"
		if ev.Call != nil {
			what = d.noun(ev.Call, 160)
		}
		worth := worthDecision * age
		if done := d.spent(e); done >= 0 {
			worth /= 2
			what += fmt.Sprintf(" (since then #%d)", d.s.Events[done].N())
		}
		u.add(fmt.Sprintf("#%d the human refused %s: \"%s\"\n", ev.N(), what, mark.Inline(text, 200)), worth)
		if d.reader.brief {
			return u
		}
		u.add(fmt.Sprintf("#%d the human refused %s:\n", ev.N(), what)+d.ask(ev.Ref, text, 3000), worthWhole*age)
		if ev.Call != nil && ev.Call.Op == transcript.Ask {
			quoted, _ := excerpt(d.planText(ev.Call), 600, nil)
			u.add(fmt.Sprintf("#%d the human refused %s:\n", ev.N(), what)+d.ask(ev.Ref, text, 3000)+"It was:\n"+quoted, worthRun*age)
		}
		return u
	}
	text := d.src.Text(ev.Ref)
	if transcript.Approves(text) {
		if ev.Call == nil {
			return nil
		}
		if d.quoted[e] || m.reader.brief && (e != d.approved || d.lastEdit() > e) {
			return nil // the handover quotes it, or it is done already
		}
		plan, kept := d.planText(ev.Call), d.keptIn(ev.Call)
		title := fmt.Sprintf("#%d the human approved the plan of #%d", ev.N(), ev.Call.At.N()) + kept
		u.add(title+"\n", worthDecision*age)
		if e == d.approved && d.older { // the human may have changed it: what it is about is enough
			u.add(title+":\n"+outline(plan), worthPlan*age)
			return u
		}
		for _, f := range []struct {
			room  int
			worth float64
		}{{600, worthPlan}, {2500, 30}, {8000, 18}} {
			if f.room > 600 && d.reader.brief && kept != "" {
				break // it can be read there
			}
			quoted := d.marked(ev.Call.At)(excerpt(plan, f.room, nil))
			u.add(title+":\n"+quoted, f.worth*age)
		}
		return u
	}
	if d.own.covers(text) {
		return nil
	}
	ask := ""
	if ev.Call != nil {
		ask = ev.Call.Query
	}
	said := text // without the question that the client repeats
	if _, answer, ok := strings.Cut(text, ask+"\"="); ok && ask != "" {
		said = strings.Trim(answer, "\"")
	}
	u.add(fmt.Sprintf("#%d asked \"%s\", the human answered: \"%s\"\n", ev.N(), mark.Inline(ask, 200), mark.Inline(said, 240)), worthDecision*age)
	if d.reader.brief {
		return u
	}
	if ev.Call != nil {
		quoted, _ := excerpt(d.questions(ev.Call), 900, nil)
		u.add(fmt.Sprintf("#%d the agent asked:\n%sThe human answered:\n%s", ev.N(), quoted, d.ask(ev.Ref, text, 2000)), worthPlan*age)
	} else {
		u.add(fmt.Sprintf("#%d the human answered:\n%s", ev.N(), d.ask(ev.Ref, text, 2000)), worthPlan*age)
	}
	return u
}

// outline quotes the headings of a text.
func outline(text string) string {
	var b strings.Builder
	for _, one := range blocksOf(text) {
		for _, l := range one.lines {
			if !one.code && strings.HasPrefix(l, "#") {
				b.WriteString(mark.Quote("", l))
			}
		}
	}
	return b.String()
}

// planText returns the plan that a call proposes.
func (d *draft) planText(c *session.Call) string {
	var in map[string]json.RawMessage
	raw := d.src.Raw(c.At)
	if json.Unmarshal(raw, &in) == nil {
		for _, name := range []string{"plan", "content", "text"} {
			if v := in[name]; len(v) > 0 && v[0] == '"' {
				return string(transcript.Original(transcript.Text, v))
			}
		}
	}
	return c.Query
}

// questions returns the questions of a call with their options, one a line.
func (d *draft) questions(c *session.Call) string {
	var in struct {
		Questions []struct {
			Question string `json:"question"`
			Prompt   string `json:"prompt"`
			Options  []struct {
				Label       string `json:"label"`
				Description string `json:"description"`
			} `json:"options"`
		} `json:"questions"`
	}
	if json.Unmarshal(d.src.Raw(c.At), &in) != nil || len(in.Questions) == 0 {
		return c.Query
	}
	var b strings.Builder
	for _, q := range in.Questions {
		b.WriteString(q.Question + q.Prompt + "\n")
		for _, o := range q.Options {
			b.WriteString("- " + o.Label)
			if o.Description != "" {
				b.WriteString(": " + o.Description)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// workMost is the most that the working set takes, in chars.
const (
	workMost    = 1900
	filesBeside = 800 // of the files, beside a summary
)

// workingSet makes the lists of the files, commands and searches used last.
func (m *maker) workingSet(room int) {
	d := m.draft
	most := min(workMost, room*3/10)
	if most < 60 {
		return
	}
	u := d.used()
	what := "Files"
	rest := slices.DeleteFunc(slices.Clone(u.files), func(f usedFile) bool { return m.names(f.path) })
	if len(rest) < len(u.files) {
		what = "Other files"
	}
	commands, ran := listed("Commands, newest first, git's at the end: ", slices.DeleteFunc(slices.Clone(u.commands), func(c string) bool { return strings.Contains(m.above, c) }), most*4/10)
	room = most - ran
	if d.reader.brief {
		room = min(room, filesBeside)
	}
	files, listed := filesByDir(what+", the last used first: ", rest, room)
	m.line(workPart, files)
	m.line(workPart, commands)
	m.listed, m.above = listed, m.above+commands
}

// names reports whether the handover or the working set names a file or a command.
func (m *maker) names(what string) bool { return strings.Contains(m.above, "`"+what+"`") }

// namesAll reports whether the working set names what a command does, and nothing else is to be said of it.
func (m *maker) namesAll(c *session.Call) bool {
	return len(c.Acts) > 0 && m.lastLine(c) == "" && !slices.ContainsFunc(c.Acts, func(a string) bool {
		return !m.names(mark.Inline(withoutTexts(m.relative(a)), 120))
	})
}

// line adds a line that stands alone.
func (m *maker) line(p part, text string) {
	u := &unit{part: p}
	u.add(text, worthWork)
	m.units = append(m.units, u)
}

// listed joins as many entries as fit into room chars.
func listed(title string, all []string, room int) (line string, chars int) {
	line = title
	n := lexicon.Chars(title) + 1
	for i, one := range all {
		if n += lexicon.Chars(one) + 2; n > room {
			break
		}
		if i > 0 {
			line += ", "
		}
		line += one
		chars = n
	}
	if chars == 0 {
		return "", 0
	}
	return line + "\n", chars
}

// usedFile is a file of the working set.
type usedFile struct {
	path   string
	edited bool
}

// used is what the session used, the last first, each once.
type used struct {
	files    []usedFile
	commands []string
}

// mostUsed is how many entries of each kind are collected.
const mostUsed = 400

// used collects what the session's calls used.
func (d *draft) used() (u used) {
	if d.usage != nil {
		return *d.usage
	}
	defer func() { d.usage = &u }()
	seen := map[string]bool{}
	var git []string
	file := func(path string, edited bool) {
		if f := d.s.File(path); f != nil && f.Deleted {
			return
		}
		if p := d.path(path); p != "" && !seen["f"+p] && len(u.files) < mostUsed {
			seen["f"+p] = true
			u.files = append(u.files, usedFile{p, edited})
		}
	}
	for e := int32(len(d.s.Events)) - 1; e >= 0; e-- {
		c := d.s.Events[e].Call
		if d.s.Events[e].Kind != session.Did || c.State == session.Refused {
			continue
		}
		for _, f := range c.Files {
			if f.Sure && (c.State == session.Done || c.State == session.Running) {
				file(f.File.Path, d.s.Edited(f.File))
			}
		}
		if c.Op == transcript.Command && !c.Stdin {
			for _, p := range c.Named() {
				f := d.s.File(p)
				if c.Silent && (c.Errors || f == nil) {
					continue // that it is there is not known
				}
				file(p, f != nil && d.s.Edited(f))
			}
			for _, text := range c.Acts {
				text = d.relative(text)
				short := withoutTexts(text)
				if strings.Count(short, "…") > 1 || textOnly.MatchString(short) {
					continue // what it did is in what was cut
				}
				if key := "c" + shape(text); !seen[key] && len(u.commands) < mostUsed {
					seen[key] = true
					how := ""
					switch {
					case c.Aborted:
						how = " (aborted)"
					case c.State == session.Failed && (c.Fixed >= 0 || d.wentOn(e)):
					case c.State == session.Failed && d.mended(e):
						how = " (failed, mended since)"
					case c.State == session.Failed && len(c.Acts) > 1:
						how = " (in a line that failed)"
					case c.State == session.Failed:
						how = " (failed)"
					case c.Silent && c.Errors:
						how = " (exit unknown)"
					case c.State == session.Pending:
						how = " (no result)"
					}
					one := "`" + mark.Inline(short, 120) + "`" + how
					if strings.HasPrefix(text, "git ") { // the commits say what it did
						git = append(git, one)
						continue
					}
					u.commands = append(u.commands, one)
				}
			}
		}
	}
	u.commands = append(u.commands, git...)
	return u
}

var (
	quotedText = regexp.MustCompile(`(?s)'[^']*'|"[^"]*"`)
	figures    = regexp.MustCompile(`[0-9]+`)
	textOnly   = regexp.MustCompile(`^\S+(?: [a-z]+)?(?: -\S+)* (?:'…'|"…")$`) // a program whose only operand is a text
)

// longText is from how many bytes on a quoted argument is a text and not a name or a pattern.
const longText = 40

// withoutTexts returns a command without the texts that it passes on: messages, bodies, programs.
func withoutTexts(command string) string {
	return quotedText.ReplaceAllStringFunc(command, func(s string) string {
		if len(s) < longText {
			return s
		}
		return s[:1] + "…" + s[:1]
	})
}

// shape returns what a command has in common with others that differ only in a text or a number.
func shape(command string) string {
	return figures.ReplaceAllString(withoutTexts(command), "0")
}

// filesByDir lists files in room chars: directories in the order of their first file, each once. A star marks a file that the session edited.
func filesByDir(title string, files []usedFile, room int) (line string, listed map[string]bool) {
	listed = map[string]bool{}
	type group struct {
		dir   string
		names []string
	}
	all, some := true, false
	for _, f := range files {
		all, some = all && f.edited, some || f.edited
	}
	var groups []group
	n := lexicon.Chars(title) + 14
	for _, f := range files {
		dir, base := "", f.path
		if i := strings.LastIndexAny(f.path, `/\`); i >= 0 {
			dir, base = f.path[:i+1], f.path[i+1:]
		}
		base = mark.Inline(base, 80)
		if f.edited && !all {
			base += "*"
		}
		at := slices.IndexFunc(groups, func(g group) bool { return g.dir == dir })
		cost := lexicon.Chars(base) + 2
		if at < 0 {
			cost += lexicon.Chars(dir) + 6
		}
		if n+cost > room {
			break
		}
		if n += cost; at < 0 {
			at, groups = len(groups), append(groups, group{dir: dir})
		}
		groups[at].names = append(groups[at].names, base)
		listed[f.path] = true
	}
	if len(groups) == 0 {
		return "", nil
	}
	var parts []string
	for _, g := range groups {
		text := strings.Join(g.names, ", ")
		if g.dir != "" {
			text = "`" + mark.Inline(g.dir, 200) + "`: " + text
		}
		parts = append(parts, text)
	}
	legend := ""
	switch {
	case all:
		legend = " (all edited)"
	case some:
		legend = " (* edited)"
	}
	return title + strings.Join(parts, "; ") + legend + "\n", listed
}

// files makes the lines of the files that the session used before, and of the commands that build, test and deploy here.
func (m *maker) files() {
	d := m.draft
	rest := slices.DeleteFunc(d.used().files, func(f usedFile) bool { return m.listed[f.path] || m.names(f.path) })
	one := &unit{part: filePart}
	text, _ := filesByDir("Files used before: ", rest, 1500)
	one.add(text, worthFile)
	d.units = append(d.units, one)
	how := 0
	seen := map[string]bool{}
	for e := int32(len(d.s.Events)) - 1; e >= 0 && how < 24; e-- {
		c := d.s.Events[e].Call
		if d.s.Events[e].Kind != session.Did || !d.isCheck(c) || c.State != session.Done {
			continue
		}
		text := d.command(c)
		if seen[text] || text == "" || strings.Contains(text, "\n") || m.names(mark.Inline(text, 200)) {
			continue
		}
		seen[text] = true
		how++
		u := m.unit(filePart, e)
		u.add(fmt.Sprintf("- run: `%s` (%dx, last #%d%s)\n", mark.Inline(text, 200), max(1, d.runs[text]), c.At.N(), d.state(c)), worthFile*m.decay(m.turnOf(e)))
		d.units = append(d.units, u)
	}
}
