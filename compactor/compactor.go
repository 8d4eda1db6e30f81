// Package compactor folds the records of a session into rows and, when asked, chooses from the rows what a companion
// says.
//
// It owns the estimate, the pressure and the trigger, the zones, the strategies, the budget and the verification of
// the result. Its invariant: a Compaction is a pure function of the records added, the options and the transcript's
// bytes, however the records were cut into calls; rows hold no text. It knows nothing of files, the archive, clocks
// and goroutines: "now" is the last record's time.
package compactor

import (
	"bytes"
	"time"

	"ccd/compactor/prose"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Compactor is the folded form of one generation of a session. It is not safe for concurrent use.
type Compactor struct {
	o       Options
	session transcript.Session
	status  Status

	records recordRows
	rows    itemRows
	past    *past
	reach   int                  // records that always stay
	humans  chunks[int32]        // rows of the human messages
	names   names                // of tools
	calls   *table[string, call] // that wait for their result, by the agent's name for them
	held    held                 // what the agent still holds
	gauge   gauge                // tokens reported, window, pressure
	tables  tables               // what State tells
	lastRow int32                // newest assistant text, -1 while there is none
	texts   chunks[textRow]      // the messages, and how often later ones refer to them
	root    string               // Status.Start as paths are compared: paths are told from there, wherever the work goes
	given   int32                // first text that was given to a session without human messages, -1

	mostRefs uint16 // of any message
}

// Status is what the fold knows of its session so far. Tokens are estimated unless said otherwise.
type Status struct {
	Records, Items  int
	Broken, Unknown int // records that could not be parsed; of a type that is not known
	Grasp           transcript.Grasp
	Context         int64 // estimate of what the agent still holds
	Total           int64 // estimate of all items
	Reported        int64 // real tokens of the context, as last reported since the last boundary; 0 where none
	Window          int64 // real tokens
	Assumed         bool  // the window is assumed: neither reported, nor configured, nor proven
	Outliers        Outliers
	Pressure        float64
	Highest         float64 // highest pressure so far
	Level           Level   // by Highest, or as the options say; never ByPressure
	Trigger         string  // "" while none fired, else the first: "threshold", "pressure" or "boundary"
	First, Last     time.Time
	Model           string
	Start           string // the first working directory
	Cwd             string // the newest one
	Branch          string
	Parent          string             // ID of the session that started this one, as its path or else its records tell
	Title           string             // as given in the transcript, "" where none
	Asked           transcript.Span    // the first human message, zero where there is none
	Resumed         transcript.Resumed // what it is a copy of that ccd wrote, zero where it is none
	SubAgents       []string           // IDs, in order of appearance, the newest 256
}

// New returns the fold of a session before its first record. Of s only Agent, ID, Class, Parent and Source are used.
func New(o Options, s transcript.Session) *Compactor {
	c := &Compactor{
		o: o, session: s, status: Status{Parent: s.Parent},
		calls:   newTable[string, call](maxCalls),
		held:    held{last: make([]int64, max(1, o.RecentMessages))},
		gauge:   newGauge(o),
		tables:  newTables(),
		lastRow: -1,
		given:   -1,
		past:    newPast(),
		reach:   max(reach, o.budget()),
	}
	c.records.past, c.rows.past = c.past, c.past
	c.rows.none = itemRow{pair: -1, flags: side}
	c.humans.none, c.texts.none = -1, textRow{row: -1}
	return c
}

// Add folds one record in, in file order. It keeps nothing of r.
func (c *Compactor) Add(r *transcript.Record) {
	rec := c.records.add(r, c.rows.n)
	c.held.name(r.UUID, rec)
	c.note(r)
	if r.Boundary != nil {
		c.held.cut(c, rec, r.Boundary)
		c.gauge.cut(r.Boundary)
	}
	for i := range r.Items {
		c.addItem(rec, r, &r.Items[i])
	}
	if r.Agent != "" {
		c.tables.report(c, r.Agent, rec)
	}
	c.gauge.take(c.o, r, c.held.chars)
	c.trigger(r.Boundary != nil)
	c.settle()
}

// note takes what a record tells of its session.
func (c *Compactor) note(r *transcript.Record) {
	s := &c.status
	s.Records++
	if r.Broken {
		s.Broken++
	}
	if r.Unknown {
		s.Unknown++
	}
	s.Grasp.Add(r)
	if !r.Time.IsZero() {
		if s.First.IsZero() {
			s.First = r.Time.UTC()
		}
		s.Last = r.Time.UTC()
	}
	keep(&s.Model, modelOf(r))
	keep(&s.Cwd, r.Cwd)
	if s.Start == "" {
		s.Start = s.Cwd
		c.root = transcript.Join("", s.Cwd)
	}
	keep(&s.Branch, r.Branch)
	if s.Parent == "" {
		keep(&s.Parent, r.Parent)
	}
	keep(&s.Title, r.Title)
	if r.Resumed != nil && s.Records == 1 {
		s.Resumed = *r.Resumed
	}
}

// maxNote bounds the strings that a record tells of its session, in bytes.
const maxNote = 1024

// keep sets the string to a copy of the newer one, unless there is none.
func keep(s *string, newer string) {
	if newer != "" && newer != *s {
		*s = clip(newer, maxNote)
	}
}

// Status returns what is known so far.
func (c *Compactor) Status() Status {
	s := c.status
	s.Items = c.rows.n
	s.Context, s.Total = tokens(c.held.chars), tokens(c.held.total)
	s.Reported, s.Outliers = c.gauge.reported, c.gauge.outliers()
	s.Window, s.Assumed = c.gauge.size()
	s.Pressure, s.Highest = c.gauge.pressure, c.gauge.highest
	s.Level = c.level()
	s.SubAgents = c.tables.agentIDs()
	return s
}

// Size returns about how many bytes of memory the fold holds.
func (c *Compactor) Size() int64 {
	return c.records.bytes() + c.rows.bytes() + c.past.bytes() + c.humans.bytes() + c.texts.bytes() + c.tables.bytes() + c.held.bytes() + int64(c.calls.len())*256 + 4096
}

// addItem makes the row of one item and lets the tables learn from it while its text is at hand.
func (c *Compactor) addItem(rec int, r *transcript.Record, it *transcript.Item) {
	row := itemRow{
		from: uint24Of(it.Span.Off - r.Span.Off), length: uint24Of(it.Span.Len), key: mark.Sum(it.Raw).Key(),
		chars: uint32(transcript.Chars(it.Raw)), rec: uint32(rec), pair: -1, kind: it.Kind,
	}
	if it.Kind == transcript.Image || it.Kind == transcript.File {
		row.chars = 0
	}
	if it.Side {
		row.flags |= side
	}
	if len(c.o.Focus) > 0 && c.o.focused(original(it.Kind, it.Raw)) {
		row.flags |= focused
	}
	c.held.add(it, &row)
	i := int32(c.rows.push(row))
	switch it.Kind {
	case transcript.Human:
		c.addHuman(i, it)
	case transcript.Text:
		c.addText(i, it)
	case transcript.Call:
		c.addCall(i, it)
	case transcript.Result:
		c.addResult(i, it)
	case transcript.Meta:
		if bytes.Contains(it.Raw, []byte("task-notification")) {
			c.notice(i, original(transcript.Text, it.Raw))
		}
		if c.given < 0 && c.session.Class == transcript.SubAgent && !r.Unknown && row.chars > 0 {
			c.given = i
		}
	}
}

func (c *Compactor) addHuman(i int32, it *transcript.Item) {
	row := c.rows.at(int(i))
	if row.has(side) {
		return
	}
	if n := c.humans.n; n > 0 && c.again(*c.humans.at(n - 1), row) {
		return
	}
	c.humans.push(i)
	c.answer(i, it)
	if c.status.Asked.Len == 0 {
		c.status.Asked = it.Span
	}
	text, _ := it.Said()
	row.exit = int16(it.Frame)
	c.text(i, prose.ShapeOf(text))
	c.mention(i, text)
	if c.humans.n > 1 && anySentence(text, isCorrection) {
		row.flags |= corrects
	}
	if anySentence(text, isConstraint) {
		row.flags |= constrains
	}
}

// again reports whether a message is the one before, written once more: agents repeat a record when they go on with a
// session.
func (c *Compactor) again(before int32, row *itemRow) bool {
	old := c.rows.at(int(before))
	t := c.records.at(int(row.rec)).milli()
	return old.key == row.key && t != 0 && t == c.records.at(int(old.rec)).milli()
}

// answer pairs what a person said with the call that asked for it, or that was refused with these words.
func (c *Compactor) answer(i int32, it *transcript.Item) {
	if it.Call == "" {
		return
	}
	p := c.calls.get(it.Call)
	if p == nil {
		return
	}
	asked := c.rows.at(int(p.row))
	if asked.pair < 0 {
		asked.pair = i
	}
	if asked.op != transcript.Ask {
		asked.flags |= rejected
	}
	c.rows.at(int(i)).pair = p.row
	c.calls.remove(it.Call)
}

func (c *Compactor) addText(i int32, it *transcript.Item) {
	row := c.rows.at(int(i))
	if row.has(side) {
		return
	}
	c.lastRow = i
	text := original(transcript.Text, it.Raw)
	if n := c.humans.n; n > 1 && owns(text) {
		c.rows.at(int(*c.humans.at(n - 1))).flags |= corrects
	}
	if decisionWords.In(text) {
		row.flags |= decides
	}
	c.text(i, prose.ShapeOf(text))
	c.texts.at(c.texts.n - 1).leans = leaningWords.In(text)
	c.mention(i, text)
}

// original is the item's text as the agent saw it.
func original(kind transcript.Kind, raw []byte) string { return string(transcript.Original(kind, raw)) }
