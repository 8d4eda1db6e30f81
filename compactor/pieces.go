package compactor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// event is something that happened, as a text tells it.
type event struct {
	session.Event
	kind  kind
	index int       // its place in the text
	n     int       // number of the record that restores it
	time  time.Time // zero if unknown
	age   float64
	turn  int
	score
	head   *piece
	parts  []*piece
	effect *piece     // of a message: what the turn changed
	total  int        // lines of what it says
	shown  int        // chars
	git    [][]string // of a command: the git commands in it (session.Git)
	failed bool
	held   bool // the reader has it besides
	undone bool // the human took back the message before it
}

// row returns the row of the table for the event.
func (e *event) row() *row { return &table[e.kind] }

// importance returns that of the event's pieces: the higher one of its head and its text.
func (e *event) importance() float64 { return max(e.row().body, e.row().head) }

// pieces returns the head and the parts of an event, none if the reader has it besides.
func (e *event) pieces() []*piece {
	if e.head == nil {
		return nil
	}
	return append([]*piece{e.head}, e.parts...)
}

// collect makes the events of a session, without their pieces.
func (d *draft) collect() {
	worked, undone := true, false
	d.bySession = make([]*event, len(d.s.Events))
	for i := range d.s.Events {
		from := &d.s.Events[i]
		e := &event{Event: *from, n: from.N(), time: d.s.Time(from.Rec), index: len(d.events)}
		if from.Kind == session.Asked {
			undone = from.Back
			if worked {
				d.turns++
				worked = false
			}
		}
		e.undone = undone
		worked = worked || from.Kind == session.Said || from.Kind == session.Did
		e.turn = d.turns
		e.held = d.holds(from)
		if d.classify(e) {
			d.events = append(d.events, e)
			d.bySession[i] = e
		}
	}
	next := session.Asked // the kind of what comes after
	for _, e := range slices.Backward(d.events) {
		if e.kind == said && (next != session.Said && next != session.Did || e.Ends) {
			e.kind = final
		}
		if e.Kind != session.Thought && e.Kind != session.Noted && e.Kind != session.Ended {
			next = e.Kind
		}
	}
}

// kinds are the rows of events that are no calls.
var kinds = map[session.Kind]kind{
	session.Asked: human, session.Queued: human, session.Withdrawn: withdrawn, session.Reason: refusal, session.Said: said, session.Thought: thought,
	session.Summed: summed, session.Ruled: ruled, session.Noted: noted, session.Stopped: stopped,
}

// classify sets the kind of an event. It returns false for an event of which its call tells all.
func (d *draft) classify(e *event) bool {
	e.kind = kinds[e.Kind]
	switch e.Kind {
	case session.Ended:
		return false
	case session.Answer:
		return e.Call == nil // an approval or an answer is printed with its call
	case session.Summed:
		return !e.Ours || e.index == 0
	case session.Did, session.Shell:
		if e.Call.Op == transcript.Command {
			e.git = session.Git(e.Call.Command)
		}
		e.kind = d.callKind(e)
		e.failed = e.Call.State == session.Failed
		if r := e.Call.Result; !r.Zero() && (e.Call.Op != transcript.Edit && e.Call.Op != transcript.Write && e.Call.Op != transcript.Plan && e.Call.Op != transcript.Ask) {
			e.n = r.N()
		}
	}
	return true
}

// callKind returns the row of a call.
func (d *draft) callKind(e *event) kind {
	c := e.Call
	switch c.Op {
	case transcript.Command:
		switch {
		case c.LookUp:
			return look
		case len(e.git) > 0:
			return gitRun
		case c.Checks():
			return check
		}
		return run
	case transcript.Write, transcript.Edit, transcript.Delete, transcript.Rename:
		if c.State == session.Failed {
			return failedEdit
		}
		return edit
	case transcript.Ask:
		if d.planText(c) != "" {
			return planned
		}
		return choice
	case transcript.Plan:
		return steps
	case transcript.Agent:
		return report
	case transcript.Read:
		return read
	case transcript.Search:
		return found
	case transcript.Web:
		return fetched
	}
	return other
}

// holds reports whether the reader has the record of an event besides the text.
func (d *draft) holds(e *session.Event) bool {
	switch {
	case d.reader.First > 0:
		return e.N() >= d.reader.First
	case d.reader.Holds:
		return d.s.InContext(e.Rec)
	}
	return false
}

// makePieces cuts all events into pieces.
func (d *draft) makePieces() {
	for _, e := range d.events {
		place := float64(e.index+1) / float64(len(d.events))
		e.age = d.formula.age(place, d.turns-e.turn, d.since(e), d.halfOf(e))
		if e.kind == human { // what was asked for long ago may still hold
			e.age = max(e.age, d.formula.floor)
		}
		if e.Back || d.saidAgain(e) {
			e.age *= takenBack
		}
		if !e.held {
			d.cutEvent(e)
		}
	}
	told := map[int]bool{}
	for _, e := range slices.Backward(d.events) { // of several messages in a row the last one began the work
		if e.heading() && !e.held && !told[e.turn] {
			told[e.turn] = true
			d.addEffect(e)
		}
	}
	d.score()
	d.fileEvents()
}

// saidAgain reports whether the human's next message has all of this one, as after an interruption.
func (d *draft) saidAgain(e *event) bool {
	if !e.heading() {
		return false
	}
	for _, next := range d.events[e.index+1:] {
		if next.heading() {
			return strings.Contains(joined(d.src.Text(next.Ref)), strings.TrimRight(joined(d.src.Text(e.Ref)), "?!. "))
		}
	}
	return false
}

// since returns how long before the end of the session an event was, 0 if nobody knows.
func (d *draft) since(e *event) time.Duration {
	if e.time.IsZero() {
		return 0
	}
	return max(0, d.s.Status().Last.Sub(e.time))
}

// addEffect makes the piece that says what a turn changed.
func (d *draft) addEffect(e *event) {
	text := d.effectOf(e.turn)
	if text == "" {
		return
	}
	e.effect = &piece{part: part{text, -2, -2, 0}, tokens: d.words.of(text), chars: lexicon.Chars(text) + 1, importance: d.formula.effect}
	d.addPart(e, e.effect)
}

// halfOf returns the time after which an event is half as important: the contents of files and what else was looked up, and talk.
func (d *draft) halfOf(e *event) time.Duration {
	switch {
	case e.kind == read || e.kind == found || e.kind == fetched || e.kind == look:
		return d.c.o.FileAge
	case e.row().prose:
		return d.c.o.TalkAge
	}
	return 0
}

// takenBack is what an event is worth that the human took back.
const takenBack = .3

// cutEvent makes the pieces of an event.
func (d *draft) cutEvent(e *event) {
	switch e.kind {
	case gitRun, check, run, look:
		d.cutRun(e)
	case edit, failedEdit:
		d.cutEdit(e)
	case choice:
		d.cutChoice(e)
	case planned:
		d.add(e, "plan"+verdict(e.Call)+":", d.planText(e.Call))
	case steps:
		d.cutSteps(e)
	case report:
		d.add(e, "sub-agent \""+mark.Inline(e.Call.Query, 90)+"\""+ending(e.Call)+":", d.output(e.Call))
	case read, found, fetched, other:
		d.add(e, d.doing(e.Call, 140)+ending(e.Call)+d.overtaken(e), d.output(e.Call))
	case stopped:
		d.add(e, "stopped: "+mark.Inline(stopWords(e.Note), 200), "")
	default:
		text, added := d.src.Said(e.Ref)
		if e.Ref.Kind == transcript.Image {
			text = e.Attached()
		}
		head := d.speaker(e, added)
		if summary, ok := d.modelled(e, text); ok {
			head, text = strings.TrimSuffix(head, ":")+", summarized by a model:", summary
		}
		d.add(e, head, shownText(text))
	}
}

// stopWords returns what a client's report of a stop says.
func stopWords(note string) string {
	if transcript.Interrupts(note) || note == "" {
		return "the human interrupted"
	}
	return note
}

// speaker returns the head of an event that consists of words.
func (d *draft) speaker(e *event, added int) string {
	at := d.clock(e)
	switch e.Kind {
	case session.Asked:
		if e.Back {
			return "human" + at + e.With() + " (taken back)" + mark.Added(added) + ":"
		}
		return "human" + at + e.With() + mark.Added(added) + ":"
	case session.Queued:
		return "human" + at + ", while you worked" + e.With() + mark.Added(added) + ":"
	case session.Withdrawn:
		return "human typed" + at + ", not sent:"
	case session.Reason:
		return "REFUSED " + d.doing(e.Call, 70) + ":"
	case session.Answer:
		return "human" + at + ", answering:"
	case session.Thought:
		return "thought:"
	case session.Summed:
		return "summary of what was before:"
	case session.Ruled:
		return "system:"
	case session.Noted:
		return "report:"
	}
	if e.kind == final && (e.Ends || e.index < len(d.events)-1) { // after the newest words the turn may go on
		return "agent, last:"
	}
	return "agent:"
}

// clock returns the time of an event, with its date if that is another one than that of the human's message before.
func (d *draft) clock(e *event) string {
	if e.time.IsZero() {
		return ""
	}
	day := e.time.Format(" 2006-01-02")
	if day == d.day {
		day = ""
	} else {
		d.day = day
	}
	return day + e.time.Format(" 15:04Z")
}

// add makes the head of an event and the pieces of its text.
func (d *draft) add(e *event, head, text string) {
	d.addHead(e, head)
	d.addText(e, text)
}

// addText makes the pieces of what an event says.
func (d *draft) addText(e *event, text string) {
	e.total = lineCount(text)
	importance := e.row().body
	if e.failed {
		importance = e.row().fail
	}
	d.addParts(e, importance, e.row().cut(text))
	if (e.kind == human || e.kind == refusal) && !e.Back && len(e.parts) > 0 {
		e.parts[0].importance *= d.formula.opening
	}
	if r := e.row(); !r.prose && r.fail > r.body {
		e.raise()
	}
}

// raise gives the lines of an output that report an error or a warning, or how long something took, the importance that the output of a
// failed call has.
func (e *event) raise() {
	for _, p := range e.parts {
		for line := range strings.Lines(p.text) {
			if lexicon.IsError(line, true) || lexicon.HasDuration(line) {
				p.importance = max(p.importance, e.row().fail)
			}
		}
	}
}

func (d *draft) addHead(e *event, head string) {
	row := e.row()
	p := &piece{part: part{text: head}, tokens: d.words.of(fmt.Sprintf("%d %s", e.n, head)), event: e, importance: row.head, alone: row.head > 0}
	if !p.alone {
		p.importance = d.formula.brought
	}
	p.focused = lexicon.HoldsOne(head, d.c.o.Focus)
	p.chars = lexicon.Chars(head) + len(strconv.Itoa(e.n)) + 3
	e.head = p
	d.pieces = append(d.pieces, p)
}

// Parts of one event that are offered, from both ends: the value of each falls with those that are taken, so the work is that of all pairs.
const (
	firstParts = 1000
	lastParts  = 500
)

func (d *draft) addParts(e *event, importance float64, all []part) {
	if n := len(all); n > firstParts+lastParts {
		all = slices.Concat(all[:firstParts], all[n-lastParts:])
	}
	for _, one := range all {
		d.addPart(e, &piece{
			part: one, tokens: d.words.of(one.text), importance: importance, chars: sizeOf(&one), focused: lexicon.HoldsOne(one.text, d.c.o.Focus),
		})
	}
}

// addPart appends a piece to those of an event.
func (d *draft) addPart(e *event, p *piece) {
	p.event, p.order = e, len(e.parts)+1
	e.parts = append(e.parts, p)
	d.pieces = append(d.pieces, p)
}

// maxHead is how many chars of a command its head has, about.
const maxHead = 180

func (d *draft) cutRun(e *event) {
	who := "ran"
	end := ending(e.Call)
	switch {
	case e.Kind == session.Shell:
		who = "the human ran"
	case e.Call.State == session.Refused:
		who, end = "refused:", ""
	}
	text := d.output(e.Call)
	silent := ""
	if text == "" && !e.Call.Result.Zero() {
		silent = ", no output"
	}
	d.add(e, who+" `"+mark.Inline(d.relative(joined(e.Call.Command)), maxHead)+"`"+end+silent, text)
}

func (d *draft) cutEdit(e *event) {
	var files []*session.File
	var names []string
	for _, f := range e.Call.Files {
		if name := d.path(f.File.Path); !slices.Contains(names, name) {
			files, names = append(files, f.File), append(names, name)
		}
	}
	file := mark.Inline(strings.Join(names, ", "), 300)
	removed, added := d.changes(e.Call)
	if e.kind == failedEdit {
		text := d.output(e.Call)
		first, _, _ := strings.Cut(text, "\n")
		d.add(e, "edit of "+file+" failed: "+asText(first, 120), text)
		d.addParts(e, e.row().minor, signed(added, "+", e.total))
		return
	}
	head := verbs[e.Call.Op] + " " + file
	if len(added)+len(removed) > 0 { // else the call does not show what it changed
		head += fmt.Sprintf(" +%d -%d", len(added), len(removed))
	}
	d.addHead(e, head+ending(e.Call))
	e.total = len(added) + len(removed)
	d.addParts(e, e.row().body, signed(added, "+", 0))
	d.addParts(e, e.row().minor, signed(removed, "-", len(added)))
	if e.Call.State == session.Done {
		d.effects[e.turn].change(files, names, len(added), len(removed))
	}
}

// overtaken says that a file was edited after it was read, "" if it was not.
func (d *draft) overtaken(e *event) string {
	if e.kind != read || len(e.Call.Files) != 1 {
		return ""
	}
	edits := e.Call.Files[0].File.Edits
	before, _ := slices.BinarySearchFunc(edits, e.index, func(one session.Edit, index int) int {
		if at := d.eventAt(one.Event); at != nil {
			return at.index - index
		}
		return -1
	})
	n := len(edits) - before
	switch {
	case n == 0:
		return ""
	case e.time.IsZero():
		return fmt.Sprintf(", edited %dx since", n)
	}
	return fmt.Sprintf(" at %s, edited %dx since", e.time.UTC().Format("15:04Z"), n)
}

// linesOf is how many lines of a change a part has.
const linesOf = 3

// signed cuts the lines of a change, each with its sign; the first one has number from.
func signed(all []string, sign string, from int) []part {
	rows := make([]string, 0, len(all))
	for _, line := range all {
		rows = append(rows, sign+line)
	}
	parts := grouped(rows, linesOf)
	for i := range parts {
		parts[i].from, parts[i].to = parts[i].from+from, parts[i].to+from
	}
	return parts
}

func (d *draft) cutChoice(e *event) {
	c := e.Call
	answer := "no answer"
	switch {
	case c.State == session.Refused:
		answer = "refused"
	case !c.Words.Zero():
		answer = "human: \"" + mark.Inline(d.src.Text(c.Words), 600) + "\""
	case !c.Result.Zero(): // the tool's words, not the human's
		answer = "result: \"" + mark.Inline(d.src.Outcome(c).Text, 600) + "\""
	}
	d.add(e, "asked \""+mark.Inline(c.Query, 300)+"\" -> "+answer, "")
}

func (d *draft) cutSteps(e *event) {
	var b strings.Builder
	for _, p := range d.action(e.Call).Plan {
		text := p.Text
		if text == "" { // a change of one step names only its key
			if i := slices.IndexFunc(d.s.Plan.Steps, func(q transcript.PlanItem) bool { return q.Key == p.Key }); i >= 0 {
				text = d.s.Plan.Steps[i].Text
			}
		}
		fmt.Fprintf(&b, "%s (%s)\n", joined(text), strings.ReplaceAll(p.Status, "_", " "))
	}
	d.add(e, "steps", strings.TrimSpace(b.String()))
}

// fileEvents makes a piece of each file's name, below its directory: edited files and those that were only read.
func (d *draft) fileEvents() {
	files := slices.Clone(d.s.Files)
	slices.SortStableFunc(files, func(a, b *session.File) int { return int(b.Last - a.Last) })
	dirs := map[string]*event{}
	for _, f := range files {
		last := d.eventAt(f.Last)
		if last == nil || f.Reads+len(f.Edits) == 0 {
			continue
		}
		k, title := editedFiles, "edited"
		if len(f.Edits) == 0 {
			k, title = readFiles, "read"
		}
		path := d.path(f.Path)
		base := transcript.Base(path)
		dir := strings.TrimSuffix(path, base)
		dir = cmp.Or(dir, "./")
		e := dirs[title+dir]
		if e == nil {
			e = &event{kind: k, index: len(d.events) + len(dirs), n: last.n, age: d.formula.age(float64(last.index+1)/float64(len(d.events)), d.turns-last.turn, 0, 0), turn: d.turns + 1}
			dirs[title+dir] = e
			d.addHead(e, title+" "+mark.Inline(dir, 0)+":")
			e.head.words = nil
			d.files = append(d.files, e)
		}
		name := mark.Inline(base, 0)
		if f.Deleted {
			name += " (gone)"
		}
		d.addPart(e, &piece{
			part: part{text: name}, tokens: tokens{values: []int32{d.words.number(base)}}, importance: e.row().body, chars: lexicon.Chars(name) + 2,
		})
	}
}

// ending says how a call ended, as ", exit 1"; "" if it went well and says no more.
func ending(c *session.Call) string {
	switch {
	case c.State == session.Refused:
		return ", refused"
	case c.State == session.Running:
		return ", in the background"
	case c.Aborted:
		return ", interrupted"
	case c.State == session.Unrecorded:
		return ", result not recorded"
	case c.State == session.Pending && c.Result.Zero() && !c.Shown:
		return ", no result recorded"
	case c.Op == transcript.Command && c.Silent && c.State == session.Done:
		return " [exit hidden]"
	case c.Op == transcript.Command && c.HasExit:
		return ", exit " + strconv.Itoa(c.Exit)
	case c.State == session.Failed:
		return ", failed"
	}
	return ""
}

// verdict says what the human said to a plan.
func verdict(c *session.Call) string {
	switch c.State {
	case session.Refused:
		return ", refused"
	case session.Done:
		return ", approved"
	}
	return ", no answer"
}
