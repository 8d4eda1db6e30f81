// Package dropped reports what an agent's own compaction dropped: the facts in its context before that neither its summary
// nor the records that it kept show.
//
// Facts are those of the handover that a text can be searched for: messages, decisions, changed files, checks, failures,
// commits. What the agent said is none, because a summary may say it in words of its own.
//
// Invariant: a report depends only on the records and on what ccd adds, and every fact in it names an original from before the
// compaction. Package compactor decides whether a text says a fact. This package knows nothing of the archive, or of how a report
// is printed.
package dropped

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/compactor"
	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// NoneError reports that a session has no such compaction.
type NoneError struct {
	Compactions int // number of compactions in the session
	Records     int // number of records in the session
	Summary     int // record of the summary of an earlier session with which the session begins, 0 if there is none
}

// Error returns the message in one line.
func (e *NoneError) Error() string {
	return fmt.Sprintf("no such compaction: %d in %d records", e.Compactions, e.Records)
}

// Choice selects a compaction and how much of it is listed.
type Choice struct {
	Boundary int    // number of the compaction from 1, 0 for the last one
	Class    Class  // the class to list, "" for all
	Kept     bool   // list what was kept, not what was dropped
	Most     int    // facts listed per class, 0 for all
	Told     string // what ccd's hook adds to the context after the compaction
}

// Report is what one compaction dropped.
type Report struct {
	Boundary   int        `json:"boundary"`      // number of the compaction, from 1
	Boundaries int        `json:"boundaries"`    // number of compactions in the session
	Record     int        `json:"record"`        // number of its first record
	Last       int        `json:"last_record"`   // number of its last record
	Time       *time.Time `json:"time"`          // null if unknown
	Trigger    string     `json:"trigger"`       // "auto", "manual" or ""
	Tokens     int64      `json:"tokens_before"` // in the agent's context before, 0 if unknown
	Summary    mark.ID    `json:"summary"`       // "" if it cannot be read
	ByCCD      bool       `json:"by_ccd"`        // ccd answered the compaction: the summary is its handover
	Sealed     bool       `json:"sealed"`        // part of the new context is encrypted and was not compared
	Preserved  int        `json:"preserved"`     // records from before that the agent kept
	Chars      int        `json:"chars"`         // of the summary
	Facts      int        `json:"facts"`         // in the agent's context before
	Kept       int        `json:"kept"`          // of these
	Dropped    int        `json:"dropped"`       // of these
	InTold     int        `json:"handed_over"`   // of the dropped ones, those that ccd's hook adds to the context
	Classes    []List     `json:"classes"`       // classes with facts, the most important first
	Own        string     `json:"-"`             // the summary
	Told       string     `json:"-"`             // what ccd's hook adds
}

// List lists the facts of one class.
type List struct {
	Class   Class  `json:"class"`
	Facts   int    `json:"facts"`
	Kept    int    `json:"kept"`
	Dropped int    `json:"dropped"`
	InTold  int    `json:"handed_over"` // of the dropped ones
	List    []Fact `json:"list"`        // dropped facts, or the kept ones if these are wanted, the newest first
	More    int    `json:"more"`        // of these, those that are not in List
	Others  []Fact `json:"-"`           // the kept facts, or the dropped ones if the kept are wanted, the newest first
}

// Compaction is one compaction by the agent.
type Compaction struct {
	session.Bound
	N      int // from 1
	Record int // its first record
	Last   int // its last one: that before the one with which the conversation goes on
	Time   time.Time
	After  int64 // tokens in the context of the first reply after it, 0 if there is none yet

	all  int   // compactions of the session
	from int32 // the first event after the one before it
}

// How says who compacted, and what came of the context.
func (c Compaction) How() string {
	how := cmp.Or(c.Trigger, "unknown")
	if !c.ByCCD {
		return how
	}
	return fmt.Sprintf("%s, by ccd: %s word for word, %s characters handed over, the rest behind IDs", how, words.Count(c.Verbatim(), "part"), humanize.Comma(int64(c.Own.Chars)))
}

// Compactions returns the compactions of a session. One with nothing before it is not counted: what it dropped is in another
// session, and its record or that of its summary is returned as summary, else 0.
func Compactions(s *session.Session) (all []Compaction, summary int) {
	summed := func(e session.Event) bool { return e.Kind == session.Summed }
	said := func(e session.Event) bool { return !summed(e) && e.Kind != session.Stopped && e.Kind != session.Ended }
	begun := slices.IndexFunc(s.Events, said)
	for i := range s.Bounds {
		b := &s.Bounds[i]
		if begun >= 0 && begun < int(b.Event) {
			all = append(all, compaction(s, b, len(all)+1))
		} else if summary == 0 {
			summary = int(b.Rec) + 1
		}
	}
	if i := slices.IndexFunc(s.Events, summed); i >= 0 && (i < begun || begun < 0) && (summary == 0 || s.Events[i].N() < summary) {
		summary = s.Events[i].N()
	}
	return all, summary
}

func compaction(s *session.Session, b *session.Bound, n int) Compaction {
	one := Compaction{Bound: *b, N: n, Record: int(b.Rec) + 1, Last: s.Records(), Time: s.Time(b.Rec)}
	if i := slices.IndexFunc(s.Events[b.Event:], func(e session.Event) bool { return e.Kind != session.Summed && e.Rec > b.Rec }); i >= 0 {
		one.Last = int(s.Events[int(b.Event)+i].Rec)
	}
	for rec := b.Rec; int(rec) < s.Records() && one.After == 0; rec++ {
		one.After = s.Used(rec)
	}
	if one.Before == 0 && b.Rec > 0 {
		one.Before = s.Used(b.Rec - 1)
	}
	return one
}

// Find returns compaction number n of a session, the last one for 0. The error is a *NoneError if there is no such compaction.
func Find(s *session.Session, n int) (Compaction, error) {
	found, summary := Compactions(s)
	if n = cmp.Or(n, len(found)); n < 1 || n > len(found) {
		return Compaction{}, &NoneError{Compactions: len(found), Records: s.Records(), Summary: summary}
	}
	one := found[n-1]
	if one.all = len(found); n > 1 {
		one.from = found[n-2].Event
	}
	return one, nil
}

// Of reports on a compaction that Find returned. It fails if an original cannot be read.
func Of(s *session.Session, src *session.Source, b Compaction, by Choice) (*Report, error) {
	out := &Report{
		Boundary: b.N, Boundaries: b.all, Record: b.Record, Last: b.Last, Trigger: b.Trigger, Tokens: b.Before,
		Sealed: b.Sealed, Preserved: len(b.Kept) + b.Took, Classes: []List{},
	}
	out.Time = words.Known(b.Time)
	if !b.Own.Zero() {
		out.Own, out.Summary, out.Chars = src.Text(b.Own), src.ID(b.Own), int(b.Own.Chars)
		out.ByCCD = b.ByCCD
	}
	out.Told = by.Told
	own := compactor.NewReader(out.Own)
	if out.ByCCD { // ccd answered the compaction: its text is what ccd handed over
		out.Told, own = out.Own, compactor.NewReader("")
	}
	lines := compactor.Records(out.Told)
	lists := map[Class]*List{}
	for _, one := range facts(s, src, b.Event) {
		if one.event < b.from {
			continue // an earlier compaction had it
		}
		l := lists[one.Class]
		if l == nil {
			l = &List{Class: one.Class, List: []Fact{}}
			lists[one.Class] = l
		}
		one.fill(src)
		l.Facts++
		kept := b.Carries(one.ref) || one.toldBy(own)
		if kept {
			l.Kept++
		} else {
			l.Dropped++
			one.Line = told(out.Told, lines, &one)
		}
		if one.InTold = one.Line > 0; one.InTold {
			l.InTold++
		}
		if kept == by.Kept {
			l.List = append(l.List, one)
		} else {
			l.Others = append(l.Others, one)
		}
	}
	for _, class := range Classes() {
		l := lists[class]
		if l == nil {
			continue
		}
		out.Facts, out.Kept, out.Dropped = out.Facts+l.Facts, out.Kept+l.Kept, out.Dropped+l.Dropped
		out.InTold += l.InTold
		l.cut(by)
		out.Classes = append(out.Classes, *l)
	}
	return out, src.Err
}

// cut sorts the lists and keeps what by selects.
func (l *List) cut(by Choice) {
	for _, list := range [][]Fact{l.List, l.Others} {
		slices.SortStableFunc(list, func(a, b Fact) int { return b.Record - a.Record })
	}
	all := len(l.List)
	switch {
	case by.Class != "" && by.Class != l.Class:
		l.List = l.List[:0]
	case by.Most > 0 && len(l.List) > by.Most:
		l.List = l.List[:by.Most]
	}
	l.More = all - len(l.List)
}

// Class is a kind of fact. Its value is the name in tables and JSON.
type Class string

// The classes of facts.
const (
	Asked     Class = "asked"     // messages that a person typed
	Decisions Class = "decisions" // a person's answers, refusals and approvals
	Failures  Class = "failures"  // what failed last and did not succeed since
	Files     Class = "files"     // changed files
	Checks    Class = "checks"    // builds, tests and checks, as last run, unless that failed
	Commits   Class = "commits"
)

// Classes returns the classes, the most important first.
func Classes() []Class {
	return []Class{Asked, Decisions, Failures, Files, Checks, Commits}
}

// Fact is one fact, with the ID of its original.
type Fact struct {
	Class  Class   `json:"-"`
	Text   string  `json:"text"`        // on one line, not escaped; of a long text the beginning, then "…"
	Status string  `json:"status"`      // how a call ended, what became of a file or a commit, what was decided; or ""
	Record int     `json:"record"`      // number of the newest record with it
	ID     mark.ID `json:"id"`          // of the original in that record
	Output mark.ID `json:"output_id"`   // of a command: its result, or ""
	InTold bool    `json:"handed_over"` // what ccd's hook adds tells it
	Line   int     `json:"-"`           // the line of it that does, from 1

	event int32
	ref   session.Ref
	call  *session.Call // whose result is the output
	words session.Ref   // of a person's text, which is read when it is needed
	name  string        // what a text must contain to show the fact, "" if its words decide
	said  string        // what is searched in a text
}

// Inline returns the text in one line of so many chars at most, escaped, with its status unless all went well.
func (f *Fact) Inline(chars int) string {
	if f.Status == "" || f.Status == "exit 0" {
		return mark.Inline(f.Text, chars)
	}
	return mark.Inline(f.Text, chars) + " (" + f.Status + ")"
}

const (
	maxSaid  = 4000 // chars of a fact that are compared
	maxText  = 600  // chars of Text
	maxAbout = 80   // chars of a call in front of what a person said about it
)

// facts returns the facts of the events before end as they were then, each once, in the order of the newest event with it.
func facts(s *session.Session, src *session.Source, end int32) (all []Fact) {
	last, passed := map[string]int{}, []*session.Call{} // the newest fact of each run; the checks that went well
	for i := range s.Events[:end] {
		e := &s.Events[i]
		one, ok := factOf(e, src)
		if !ok {
			continue
		}
		one.event, one.ref = int32(i), e.Ref
		if one.Class == Checks {
			passed = append(passed, e.Call)
		}
		runs := one.Class == Checks || one.Class == Failures
		if n, known := last[one.said]; runs && known {
			all[n] = one
			continue
		}
		if runs {
			last[one.said] = len(all)
		}
		all = append(all, one)
	}
	all = slices.DeleteFunc(all, func(f Fact) bool {
		return f.Class == Failures && slices.ContainsFunc(passed, func(c *session.Call) bool { return c.Index > f.event && c.Covers(f.call) })
	})
	return slices.Concat(all, changes(s, end), commits(s, end))
}

// factOf returns the fact that an event is, if it is one.
func factOf(e *session.Event, src *session.Source) (one Fact, ok bool) {
	switch e.Kind {
	case session.Asked, session.Queued:
		return Fact{Class: Asked, words: e.Ref}, !e.Back && e.Chars > 0
	case session.Reason:
		return Fact{Class: Decisions, Text: mark.Inline(about(e.Call), maxAbout), words: e.Ref, Status: "refused"}, true
	case session.Answer:
		if transcript.Approves(src.Text(e.Ref)) { // the words are the client's
			return Fact{Class: Decisions, Text: about(e.Call), Status: "approved"}, true
		}
		return Fact{Class: Decisions, Text: mark.Inline(about(e.Call), maxAbout), words: e.Ref, Status: "answered"}, true
	case session.Did:
		one = Fact{Class: classOf(e.Call), Text: cmp.Or(e.Call.Command, about(e.Call)), said: about(e.Call), Status: e.Call.Ending(), call: e.Call}
	}
	return one, one.Class != ""
}

// classOf is what a call is as a fact, "" if it is none.
func classOf(c *session.Call) Class {
	switch {
	case c.State == session.Refused && c.Words.Zero():
		return Decisions
	case c.State == session.Failed && !c.Aborted && !c.LookUp && c.Command != "": // a read or an edit that failed is done otherwise
		return Failures
	case c.State == session.Done && c.Checks():
		return Checks
	}
	return ""
}

// changes returns the files that were changed before end, as they were then.
func changes(s *session.Session, end int32) (all []Fact) {
	for _, f := range s.Files {
		n, _ := slices.BinarySearchFunc(f.Edits, end, func(e session.Edit, end int32) int { return cmp.Compare(e.Event, end) })
		if n == 0 {
			continue
		}
		e := f.Edits[n-1]
		one := Fact{Class: Files, event: e.Event, ref: s.Events[e.Event].Ref, Text: f.Path, name: transcript.Base(f.Path)}
		if rest, ok := transcript.Below(f.Path, s.Root()); ok && s.Root() != "" && rest != "" {
			one.Text = rest
		}
		switch {
		case e.Gone:
			one.Status = "deleted"
		case f.Created:
			one.Status = "created"
		}
		all = append(all, one)
	}
	return all
}

func commits(s *session.Session, end int32) (all []Fact) {
	for _, k := range s.Commits {
		if k.Event >= end {
			continue
		}
		call := s.Events[k.Event].Call
		one := Fact{Class: Commits, event: k.Event, ref: call.Result, Text: k.Hash + " " + k.Subject, said: k.Subject, name: k.Hash}
		if k.Hash == "" {
			one.Text = about(call)
		}
		if k.Pushed >= 0 && k.Pushed < end {
			one.Status = "pushed"
		}
		all = append(all, one)
	}
	return all
}

// about says what a call is about.
func about(c *session.Call) string {
	switch {
	case c == nil:
		return ""
	case c.Command != "":
		return transcript.NormalizeRun("", c.Command).Command
	case c.Query != "":
		return c.Query
	case len(c.Files) > 0:
		return c.Tool + " " + c.Files[0].File.Path
	}
	return c.Tool
}

// fill reads the text of a fact and makes its IDs.
func (f *Fact) fill(src *session.Source) {
	if !f.words.Zero() {
		if f.said = strings.TrimSpace(src.Text(f.words)); f.Text != "" {
			f.Text = "\"" + f.Text + "\": "
		}
		f.Text += f.said
	}
	f.said = lexicon.Head(cmp.Or(f.said, f.Text), maxSaid)
	whole := strings.Join(strings.Fields(lexicon.Head(f.Text, maxSaid)), " ")
	long := lexicon.Chars(f.Text) > maxSaid
	if f.Text = lexicon.Head(whole, maxText); long || f.Text != whole {
		f.Text += "…"
	}
	f.Record, f.ID = f.ref.N(), src.ID(f.ref)
	if f.call != nil && !f.call.Result.Zero() {
		f.Output = src.ID(f.call.Result)
	}
}

// toldBy reports whether a text says the fact.
func (f *Fact) toldBy(text *compactor.Reader) bool {
	if key := f.key(); key != "" {
		return text.Says(key) || f.Class == Commits && f.said != "" && text.SaysMessage(f.said) // by its hash or its subject
	}
	if f.words.Zero() {
		return text.Says(f.said)
	}
	return text.SaysMessage(f.said)
}

// key is what a text must have to tell a file or a commit, "" if the fact's words decide.
func (f *Fact) key() string {
	if f.Class == Commits {
		return f.name[:min(len(f.name), 7)]
	}
	return f.name
}

// told returns the first line of ccd's text that tells a fact, 0 if none does: that names a file, or the record of what it tells.
func told(text string, lines map[int]int, f *Fact) int {
	if f.Class == Files {
		n := 0
		for line := range strings.Lines(text) {
			if n++; !strings.HasPrefix(line, ">") && strings.Contains(line, f.name) {
				return n
			}
		}
		return 0
	}
	if n := lines[f.ref.N()]; n > 0 || f.call == nil || f.call.Result.Zero() {
		return n
	}
	return lines[f.call.Result.N()]
}
