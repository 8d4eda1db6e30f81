// Package fold folds the records of a session into rows and tables: where each item is, what it is, how items are related,
// and the files, commands, problems, plan and context that they describe. It does not keep the text of messages.
//
// Invariant: its answers are a pure function of the records added, the options and the session's kind, however the records
// were split into calls. Its memory is bounded: rows that no table refers to and that the budget cannot reach are dropped.
// It knows nothing of files, the archive, clocks and goroutines.
package fold

import (
	"bytes"
	"strings"
	"time"

	"ccd/compactor/lexicon"
	"ccd/compactor/limits"
	"ccd/compactor/prose"
	"ccd/internal/transcript"
)

// Fold is the folded form of one generation of a session. It is not safe for concurrent use.
type Fold struct {
	o       limits.Options
	session transcript.Session
	client  *transcript.Client // the client that wrote the items
	status  Status

	records recordRows
	rows    itemRows
	past    *past
	reach   int                  // how many of the newest records are kept, see overfull
	humans  chunks[int32]        // rows of the human messages
	names   names                // of tools
	calls   *table[string, call] // calls without a result yet, by call ID
	held    held                 // what is still in the agent's context
	gauge   gauge                // tokens reported, window, pressure
	curve   Curve                // of the context
	tables  tables               // files, commands, problems, agents, jobs, terms, the plan
	lastRow int32                // newest assistant text, -1 if there is none yet
	texts   chunks[Text]         // the messages, and how often later ones refer to them
	secrets secrets              // what is left out of the items
	root    string               // Status.Start in the form in which paths are compared; paths are shown relative to it
	given   int32                // first text given to a session without human messages, -1 if there is none

	mostRefs    uint16      // of any message
	calibration calibration // chars per token
	script      script      // scripts of the messages
}

// Status is what the fold knows of its session so far. Token counts are estimates unless noted otherwise.
type Status struct {
	Records, Items  int
	Broken, Unknown int // records that could not be parsed; records of an unknown type
	Grasp           transcript.Understood
	Context         int64 // estimate of the agent's context
	Total           int64 // estimate of all items
	Reported        int64 // real tokens of the context as last reported since the last boundary, 0 if none
	Window          int64 // real tokens
	Assumed         bool  // the window is neither reported, nor configured, nor proven
	Outliers        Outliers
	Pressure        float64
	Highest         float64      // highest pressure so far
	Level           limits.Level // from Highest or the options; never ByPressure
	Trigger         string       // the first trigger that fired: "threshold", "pressure" or "boundary"; "" if none
	First, Last     time.Time
	Boundary        time.Time // when the agent last compacted its context, zero if it has not
	Model           string
	Start           string // the first working directory
	Cwd             string // the newest one
	Branch          string
	Parent          string             // ID of the session that started this one, from its path or else its records
	Title           string             // as in the transcript, "" if none
	Asked           transcript.Span    // the first human message, zero if there is none
	Ask             string             // the beginning of the first request, on one line; "" if there is none
	Resumed         transcript.Resumed // the session that ccd copied it from, zero if it is no copy
	SubAgents       []string           // IDs, in order of appearance, the newest 256
	Curve           Curve              // valid until the next record is added
	Reports         bool               // the session reports tokens: Curve has no estimates, except before the first report
	Waiting         bool               // the agent spoke last: it waits for the person
}

// New returns the fold of a session before its first record. Of s only Agent, ID, Class, Parent and Source are used.
func New(o limits.Options, s transcript.Session) *Fold {
	f := &Fold{
		o: o, session: s, client: &transcript.Client{}, status: Status{Parent: s.Parent},
		calls:   newTable[string, call](maxCalls),
		held:    held{last: make([]int64, max(1, o.RecentMessages))},
		gauge:   newGauge(o),
		tables:  newTables(),
		lastRow: -1,
		given:   -1,
		past:    newPast(),
		reach:   max(reach, o.Budget()),
	}
	f.records.past, f.rows.past = f.past, f.past
	f.rows.none = Row{Pair: -1, Flags: Side}
	f.humans.none, f.texts.none = -1, Text{Row: -1}
	return f
}

// Add folds the next record. It does not keep r.
func (f *Fold) Add(r *transcript.Record) {
	rec := f.records.add(r, f.rows.n)
	f.held.name(r.UUID, rec)
	f.secrets.count(r.Marks)
	f.note(r)
	if r.Boundary != nil {
		f.held.cut(f, rec, r.Boundary)
		f.held.takeOver(r)
		f.status.Boundary = f.status.Last // not all of its records have a time
		f.gauge.cut(r.Boundary)
		f.calibration.cut()
	}
	f.takeBack(rec, r.Back)
	for i := range r.Items {
		f.addItem(rec, r, &r.Items[i])
		f.status.Waiting = waits(f.status.Waiting, &r.Items[i])
	}
	if r.Agent != "" {
		f.tables.linkReport(f, r.Agent, rec)
	}
	f.gauge.take(f.o, r, f.held.chars)
	if u := r.Usage; u != nil && !u.Side && u.Context == f.gauge.reported { // not an outlier
		f.calibration.take(u)
	}
	f.curve.add(f.status.Records, f.gauge.used, r.Boundary != nil)
	f.trigger(r.Boundary != nil)
	f.settle()
}

// note takes what a record says about its session.
func (f *Fold) note(r *transcript.Record) {
	s := &f.status
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
		f.root = transcript.Join("", s.Cwd)
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

// waits reports whether the agent waits for the person after an item.
func waits(before bool, it *transcript.Item) bool {
	switch {
	case it.Side:
	case it.Kind == transcript.Text:
		return true
	case it.Kind == transcript.Human, it.Kind == transcript.Call, it.Kind == transcript.Result, it.Kind == transcript.Thinking:
		return false
	}
	return before
}

// maxNote is how much is kept of a string about the session, such as a directory or the title, in bytes.
const maxNote = 1024

// keep sets *s to a copy of newer unless that is empty.
func keep(s *string, newer string) {
	if newer != "" && newer != *s {
		*s = clip(newer, maxNote)
	}
}

// Status returns what is known of the session so far.
func (f *Fold) Status() Status {
	s := f.status
	s.Items = f.rows.n
	s.Context, s.Total = limits.Tokens(f.held.chars), limits.Tokens(f.held.total)
	s.Reported, s.Outliers = f.gauge.reported, f.gauge.outliers()
	s.Window, s.Assumed = f.gauge.size()
	s.Pressure, s.Highest = f.gauge.pressure, f.gauge.highest
	s.Level, s.Curve, s.Reports = f.Level(), f.curve, f.gauge.reports
	s.SubAgents = f.tables.agentIDs()
	return s
}

// Size returns about how many bytes of memory the fold takes.
func (f *Fold) Size() int64 {
	return f.records.bytes() + f.rows.bytes() + f.past.bytes() + f.humans.bytes() + f.texts.bytes() + f.tables.bytes() + f.held.bytes() + f.secrets.bytes() + int64(f.calls.len())*256 + 4096
}

// addItem makes the row of an item and updates the tables while the item's text is available.
func (f *Fold) addItem(rec int, r *transcript.Record, it *transcript.Item) {
	row := Row{
		from: uint24Of(it.Span.Off - r.Span.Off), length: uint24Of(it.Span.Len), Key: it.Sum().Key(),
		Chars: uint32(transcript.Chars(it.Raw)), Rec: uint32(rec), Pair: -1, Kind: it.Kind,
	}
	if it.Kind == transcript.Image || it.Kind == transcript.File {
		row.Chars = 0
	}
	if it.Side {
		row.Flags |= Side
	}
	if len(f.o.Focus) > 0 && lexicon.HoldsOne(original(it.Kind, it.Raw), f.o.Focus) {
		row.Flags |= Focused
	}
	f.client = it.Client()
	f.held.add(it, &row)
	i := int32(f.rows.push(row))
	f.secrets.add(i, r, it)
	switch it.Kind {
	case transcript.Human:
		f.addHuman(i, it)
	case transcript.Text:
		f.addText(i, it)
	case transcript.Call:
		f.addCall(i, it)
	case transcript.Result:
		f.addResult(i, it)
	case transcript.Meta:
		if bytes.Contains(it.Raw, []byte("task-notification")) {
			f.endJob(i, original(transcript.Text, it.Raw))
		}
		if f.given < 0 && f.session.Class == transcript.SubAgent && !r.Unknown && row.Chars > 0 {
			f.given = i
			f.ask(original(transcript.Text, it.Raw))
		}
	}
	f.calibration.count(f.rows.at(int(i)))
}

func (f *Fold) addHuman(i int32, it *transcript.Item) {
	row := f.rows.at(int(i))
	if row.Has(Side) {
		return
	}
	if n := f.humans.n; n > 0 && f.again(*f.humans.at(n - 1), row) {
		return
	}
	f.humans.push(i)
	f.pairAnswer(i, it)
	if f.status.Asked.Len == 0 {
		f.status.Asked = it.Span
	}
	text, _ := it.Said()
	f.ask(text)
	row.Exit = int16(it.Frame)
	f.script.add(text)
	f.texts.push(Text{Row: i})
	f.countTerms(i, text)
	tells := prose.Tells(text)
	if f.humans.n > 1 && tells.Corrects {
		row.Flags |= Corrects
	}
	if tells.Constrains {
		row.Flags |= Constrains
	}
}

// maxAsk bounds Status.Ask, in bytes.
const maxAsk = 400

// ask keeps the first request, by which people recognize a session that its agent gave no title.
func (f *Fold) ask(text string) {
	if f.status.Ask == "" {
		f.status.Ask = clip(strings.Join(strings.Fields(clip(text, 8*maxAsk)), " "), maxAsk)
	}
}

// takeBack marks the last human messages, as many as turns, as taken back by record rec. It skips answers to calls and messages
// that were taken back before.
func (f *Fold) takeBack(rec, turns int) {
	for n := f.humans.n - 1; n >= f.humans.from && turns > 0; n-- {
		i := *f.humans.at(n)
		if i < 0 {
			return
		}
		if row := f.rows.at(int(i)); row.Pair < 0 && !row.Has(Back) {
			row.Flags |= Back
			row.Subject = uint32(rec)
			turns--
		}
	}
}

// again reports whether a message repeats the previous one. Agents repeat a record when they resume a session.
func (f *Fold) again(before int32, row *Row) bool {
	old := f.rows.at(int(before))
	t := f.records.at(int(row.Rec)).milli
	return old.Key == row.Key && t != 0 && t == f.records.at(int(old.Rec)).milli
}

// pairAnswer pairs a person's message with the call that asked for it or that it refused.
func (f *Fold) pairAnswer(i int32, it *transcript.Item) {
	if it.Call == "" {
		return
	}
	p := f.calls.get(it.Call)
	if p == nil {
		return
	}
	asked := f.rows.at(int(p.row))
	if asked.Pair < 0 {
		asked.Pair = i
	}
	if asked.Op != transcript.Ask {
		asked.Flags |= Rejected
	}
	f.rows.at(int(i)).Pair = p.row
	f.calls.remove(it.Call)
}

func (f *Fold) addText(i int32, it *transcript.Item) {
	row := f.rows.at(int(i))
	if row.Has(Side) {
		return
	}
	f.lastRow = i
	text := original(transcript.Text, it.Raw)
	if n := f.humans.n; n > 1 && owns(text) {
		f.rows.at(int(*f.humans.at(n - 1))).Flags |= Corrects
	}
	if prose.Tells(text).Decides {
		row.Flags |= Decides
	}
	f.script.add(text)
	f.texts.push(Text{Row: i})
	f.countTerms(i, text)
}

// original returns the item's text as the agent saw it.
func original(kind transcript.Kind, raw []byte) string { return string(transcript.Original(kind, raw)) }
