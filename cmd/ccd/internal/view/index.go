// Package view is what `ccd top`, `ccd web` and `ccd export` show of one session: its turns, its
// compactions and what each of them dropped, its files, and its originals.
//
// Invariant: it only reads the archive, and every text in it is redacted unless its name says Exact. An Index is built in one
// pass, again when the session has grown; what it knows comes from the session's model, and it keeps places, not texts.
// Lists of sessions are those of package status. It knows nothing of terminals, HTTP and HTML.
package view

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/hook"
	"ccd/cmd/ccd/internal/reader"
	"ccd/compactor"
	"ccd/internal/lazy"
	"ccd/internal/mark"
	"ccd/internal/redact"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// Step is a call by what its result added to the context.
type Step struct {
	Record  int     `json:"record"` // of the result
	Tool    string  `json:"tool"`
	What    string  `json:"what"`
	Tokens  int64   `json:"about_tokens"`
	Seconds float64 `json:"seconds"` // from the call to the result, 0 if it is not recorded
	Gone    bool    `json:"gone"`    // a compaction took it out of the context
	ID      mark.ID `json:"id"`
}

// Took is how long the call took.
func (s Step) Took() time.Duration { return time.Duration(s.Seconds * float64(time.Second)) }

// Part is what one kind of text takes of the context.
type Part struct {
	Name   string
	From   int64 // tokens of the parts before it
	Tokens int64 // about, by the length of its texts
}

// FileLine is one file that the session touched.
type FileLine struct {
	Path   string
	Reads  int
	Edits  int
	Last   int // record of its last call
	Time   time.Time
	Change string // the last change: "written", "edited", "deleted", "renamed"; "" if it was only read
}

// Kinds of an Entry.
const (
	Asked      = "asked"      // a request, or an answer of the person
	Said       = "said"       // a text of the agent
	Thought    = "thought"    // reasoning of the agent
	Called     = "called"     // a tool call, with its result if there is one
	Resulted   = "result"     // a result without a call
	Compacted  = "compacted"  // the agent compacted its context here
	Summarized = "summarized" // the agent's own summary
	Added      = "added"      // text that a program added: reminders, hooks, system prompts
	Ahead      = "ahead"      // typed while the agent worked; taken back, or sent in another record
	Pictured   = "image"
	Unparsed   = "unparsed" // a record that was not understood, or is longer than 16 MB
)

// Entry is one thing that happened, as a page of a session shows it.
type Entry struct {
	Record int
	Time   time.Time
	Kind   string
	ID     mark.ID // of the original; of a call, of its input
	Text   string  // redacted; of a call, what it does in one line (the command, the path, the pattern)
	Left   int     // so many characters more has the text, or the diff
	Tool   string
	Ask    bool // the call asks the person, with Text
	Files  []string
	Diff   string // of a call that writes: its lines, with "+ ", "- " or two blanks before them
	Plus   int
	Minus  int
	Sealed bool // reasoning that only the agent's provider can read

	Plan    []transcript.PlanItem // what a call makes of the agent's plan
	Ending  string                // "exit 1", "failed", "refused"; "" if it is unknown
	Failed  bool                  // or refused
	Waiting bool                  // a call without a result yet
	Result  mark.ID               // ID of the call's result
	Answer  int                   // number of the record with it, 0 if none
	Output  string                // the beginning of the result, redacted
	Hidden  int                   // so many characters stand between it and Tail
	Tail    string                // the end of a long result
	Tokens  int64                 // about so many did the result add to the context
	Took    time.Duration         // from the call to the result, 0 if it is not recorded
	Back    bool
	Side    bool   // of an inline sub-agent
	Agent   string // session of the sub-agent that the call started
}

// Place is the first and the last record of a page.
type Place struct{ First, Last int }

const maxAsked = 160 // characters

// Index is the model of a session's story (archive.Story); the zero Index has read nothing. It is not safe for concurrent use.
type Index struct {
	Turns       []reader.Turn // with the beginning of what was asked, on one line
	Compactions []dropped.Compaction
	Failures    []int // records of the calls that failed, or hide that a check did
	First       int   // number of the first record that a page can show
	Records     int   // number of the last one

	hidden    map[mark.Hash]bool // see hides
	library   *reader.Library
	entry     *reader.Entry
	reading   reader.Reading
	records   func(ctx context.Context) iter.Seq2[*transcript.Record, error]
	model     *compactor.Compactor // of the records from First on
	cwd       string               // of the newest record, if only the end of the file is read
	forgotten map[dropped.Choice]*dropped.Report
	state     *string // what State returned
}

// endBytes is how much of a session End reads.
const endBytes = 1 << 20

// End returns an index that has only the last records of a session, which it numbers from 1, so that a list can show what the agent
// does now. Secrets have no numbers in it. It is nil where that is no whole line, or the records are elements of one JSON value.
func End(ctx context.Context, library *reader.Library, e *reader.Entry) (*Index, error) {
	r, err := library.Reading(e, 0)
	from := max(0, r.Tip.Offset-endBytes)
	l := &Index{}
	if err != nil || from == 0 {
		return l, cmp.Or(err, l.Grow(ctx, library, e))
	}
	text := r.Text(ctx)
	data, err := text(transcript.Span{Off: from, Len: r.Tip.Offset - from})
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", e.ID, err)
	}
	line := bytes.IndexByte(data, '\n') + 1
	if line == 0 || e.Key.Unlined() {
		return nil, nil
	}
	end := transcript.Segment{Start: transcript.Cursor{Offset: from + int64(line)}, Data: data[line:], Rest: true}
	l.library, l.entry, l.reading, l.cwd = library, e, r, e.Kept.Cwd
	l.records = func(context.Context) iter.Seq2[*transcript.Record, error] {
		return func(yield func(*transcript.Record, error) bool) {
			d, n := r.Decoder(), 0
			if d.Redact != nil { // its numbers count from the first record
				d.Redact.Whole = func() *redact.Session { return nil }
			}
			for range d.Records(transcript.Segment{Data: []byte{'\n'}, Rest: true}) { // so that no later line is taken for the first
				continue
			}
			d.Forget()
			for one := range d.Records(end) {
				n++
				if one.N = n; !yield(one, nil) {
					return
				}
			}
		}
	}
	return l, l.read(ctx)
}

// Grow reads a session, if it is not the one that was read, or has grown.
func (l *Index) Grow(ctx context.Context, library *reader.Library, e *reader.Entry) error {
	r, err := library.Reading(e, 0)
	if err != nil {
		return err
	}
	grown := l.model == nil || r.N != l.reading.N || r.Tip.Offset != l.reading.Tip.Offset
	l.library, l.entry, l.reading = library, e, r
	if !grown {
		return nil
	}
	l.records = func(ctx context.Context) iter.Seq2[*transcript.Record, error] { return l.reading.Story(ctx) }
	return l.read(ctx)
}

// read makes the model, and what is derived from it.
func (l *Index) read(ctx context.Context) error {
	l.First, l.model = 1, compactor.New(l.library.Options(l.entry), l.reading.Session)
	for r, err := range l.records(ctx) {
		if err != nil {
			l.model = nil
			return err
		}
		l.First = min(l.First, r.N)
		l.model.Add(r)
	}
	l.Records = l.model.Records()
	l.forgotten, l.state = map[dropped.Choice]*dropped.Report{}, nil
	src := session.NewSource(l.model.Session, l.reading.Text(ctx))
	l.Turns, l.Failures = reader.Turns(l.model.Session, src.Said), nil
	for _, c := range l.model.Calls {
		if c.State == session.Failed && !c.Aborted || l.hides(src, c) {
			l.Failures = append(l.Failures, c.At.N())
		}
	}
	if src.Err != nil {
		l.model = nil
		return src.Err
	}
	for i := range l.Turns {
		turn := &l.Turns[i]
		turn.Asked = mark.Inline(turn.Asked, maxAsked)
		for j := range turn.Words {
			turn.Words[j].Text = mark.Inline(transcript.Chosen(turn.Words[j].Text), maxAsked)
		}
	}
	l.Compactions, _ = dropped.Compactions(l.model.Session)
	return nil
}

// hides is hidesFailure of each result once: a session that grows is read again, and its checks may print much.
func (l *Index) hides(src *session.Source, c *session.Call) bool {
	if !c.Silent || !c.Checks() {
		return false
	}
	hides, known := l.hidden[c.Result.Sum]
	if !known {
		if l.hidden == nil {
			l.hidden = map[mark.Hash]bool{}
		}
		hides = hidesFailure(src, c)
		l.hidden[c.Result.Sum] = hides
	}
	return hides
}

// Steps returns the calls that filled the context, the largest first, then those of which a compaction took the result out, and how many
// tokens the results in the context have.
func (l *Index) Steps() (all []Step, tokens int64) {
	in, gone := l.model.Steps()
	all = []Step{}
	for _, s := range slices.Concat(in, gone) {
		all = append(all, Step{s.Result.N(), s.Tool, s.What(), s.Tokens, s.Took.Seconds(), s.Gone, s.Result.Sum.ID()})
		if !s.Gone {
			tokens += s.Tokens
		}
	}
	return all, tokens
}

// stateRoom is the room of a text of which the handover takes all that it may.
const stateRoom = 1250

// State returns the handover that ccd would write now, for a person: what was asked, and where the work stands.
// Of a long session it takes a second.
func (l *Index) State(ctx context.Context) (string, error) {
	if l.state != nil {
		return *l.state, nil
	}
	made, err := l.model.Compact(compactor.Audience{Room: stateRoom}, l.reading.Text(ctx), nil)
	if err != nil {
		return "", err
	}
	l.state = new(string)
	if len(made.Sections) > 0 && made.Sections[0].Name == compactor.Handover {
		*l.state = ForPerson(made.Sections[0].Body)
	}
	return *l.state, nil
}

// lastWords finds the record of the agent's last words in a line of State.
var lastWords = lazy.Regexp(`^(?:The agent's last words|Your move; the agent's turn ended) \(#(-?\d+)`)

// LastWords returns a line of State without the agent's last words, if it quotes them, and then these, as much of them as an Entry has.
func (l *Index) LastWords(ctx context.Context, line string) (rest, words string) {
	at := lastWords().FindStringSubmatch(line)
	if at == nil {
		return line, ""
	}
	for _, e := range slices.Backward(l.model.Events) {
		if e.Kind == session.Said && fmt.Sprint(e.N()) == at[1] {
			rest, _, _ = strings.Cut(line, ": ")
			text, left := head(session.NewSource(l.model.Session, l.reading.Text(ctx)).Text(e.Ref), textChars)
			return rest, text + strings.Repeat(" …", min(left, 1))
		}
	}
	return line, ""
}

// Filled says what fills the context: results, which Steps measured, what else the conversation has, and the rest of the tokens in use.
func (l *Index) Filled(results, used int64) (all []Part, total int64) {
	add := func(name string, tokens int64) {
		all = append(all, Part{name, total, tokens})
		total += tokens
	}
	said := func(name string, kinds ...session.Kind) {
		chars := int64(0)
		for _, e := range l.model.Events {
			if slices.Contains(kinds, e.Kind) && l.model.InContext(e.Rec) {
				chars += int64(e.Chars)
			}
		}
		add(name, int64(float64(chars)/l.model.PerToken()))
	}
	add("results", results)
	said("the agent's calls", session.Did)
	said("its words", session.Said)
	said("your messages", session.Asked, session.Queued, session.Reason, session.Answer)
	said("its summary", session.Summed)
	add("the rest: system prompt, tools, reasoning, images", max(0, used-total))
	return all, total
}

// Files returns the files that were read or changed, the last used first.
func (l *Index) Files() (all []FileLine) {
	for _, f := range l.model.Files {
		if f.Last < 0 || len(f.Edits) == 0 && f.Reads == 0 {
			continue
		}
		last := l.model.Events[f.Last].Ref
		if c := l.model.Events[f.Last].Call; c != nil && !c.Result.Zero() { // where versions of a file are
			last = c.Result
		}
		one := FileLine{Path: f.Path, Reads: f.Reads, Edits: len(f.Edits), Last: last.N(), Time: l.model.Time(last.Rec)}
		if n := len(f.Edits); n > 0 {
			one.Change = reader.How[f.Edits[n-1].Op]
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b FileLine) int { return b.Last - a.Last })
	return all
}

// Shown returns the record in which a page shows another one: of a result that of its call.
func (l *Index) Shown(record int) int {
	for _, e := range slices.Backward(l.model.Events) {
		if c := e.Call; c != nil && (!c.Result.Zero() && c.Result.N() == record || !c.Words.Zero() && c.Words.N() == record) {
			return c.At.N()
		}
	}
	return record
}

// TurnOf returns the index in Turns of the turn with a record, 0 for a record before the first one.
func (l *Index) TurnOf(record int) int {
	i, found := slices.BinarySearchFunc(l.Turns, record, func(t reader.Turn, record int) int { return t.Record - record })
	if found {
		return i
	}
	return max(0, i-1)
}

// Forgotten reports on a compaction: what was there, what the agent's own summary kept and what ccd tells the agent. It reads
// the session once more for each, up to the compaction. The error is a *dropped.NoneError if there is no such compaction.
func (l *Index) Forgotten(ctx context.Context, by dropped.Choice) (*dropped.Report, error) {
	if known := l.forgotten[by]; known != nil {
		return known, nil
	}
	k, err := dropped.Find(l.model.Session, by.Boundary)
	if err != nil {
		return nil, err
	}
	then, text, err := l.reading.Model(ctx, l.library.Options(l.entry), k.Last)
	if err != nil {
		return nil, err
	}
	told := by
	if f, _ := l.library.Agents.Lookup(l.entry.Agent); f.Connect != nil && f.Connect.Hooks != "" { // no other client lets ccd add anything then
		if told.Told, _, err = (hook.Hooks{Agents: l.library.Agents}).AfterCompaction(l.reading.Session, then, text); err != nil {
			return nil, err
		}
	}
	l.forgotten[by], err = dropped.Of(l.model.Session, session.NewSource(l.model.Session, text), k, told)
	return l.forgotten[by], err
}
