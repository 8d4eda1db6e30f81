// Package dropped reports what an agent's own compaction dropped: the facts in its context before that neither its summary
// nor the records that it kept show.
//
// Facts are those of the handover, from the model of the session: messages, decisions, changed files, checks, failures,
// commits, answers. Invariant: a report depends only on the records, and every fact in it names an original from before the
// compaction. The package knows nothing of the archive, of how companions are made, or of how a report is printed.
package dropped

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
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
	Boundary  int    // number of the compaction from 1, 0 for the last one
	Class     Class  // the class to list, "" for all
	Most      int    // facts listed per class, 0 for all
	Companion string // ccd's companion; the report says which dropped facts it shows
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
	Sealed     bool       `json:"sealed"`        // part of the new context is encrypted and was not compared
	Preserved  int        `json:"preserved"`     // records from before that the agent kept
	Chars      int        `json:"chars"`         // of the summary
	Facts      int        `json:"facts"`         // in the agent's context before
	Kept       int        `json:"kept"`          // of these
	Dropped    int        `json:"dropped"`       // of these
	Companion  int        `json:"in_companion"`  // of the dropped ones
	Earlier    int        `json:"earlier"`       // facts that earlier compactions had dropped already
	Classes    []List     `json:"classes"`       // classes with facts, the most important first
	Own        string     `json:"-"`             // the summary
}

// List lists the facts of one class.
type List struct {
	Class     Class  `json:"class"`
	Facts     int    `json:"facts"`
	Kept      int    `json:"kept"`
	Dropped   int    `json:"dropped"`
	Companion int    `json:"in_companion"` // of the dropped ones
	List      []Fact `json:"list"`         // dropped facts, the newest first
	More      int    `json:"more"`         // dropped facts that are not in List
}

// Compaction is one compaction by the agent.
type Compaction struct {
	N       int // from 1
	Record  int // its first record
	Time    time.Time
	Trigger string // "auto", "manual" or ""
	Before  int64  // tokens in the context before, 0 if unknown
}

// Compactions returns the compactions of a session. One with nothing before it is not counted: what it dropped is in another
// session, and its record or that of its summary is returned as summary, else 0.
func Compactions(s *session.Session) (all []Compaction, summary int) {
	summed := func(e session.Event) bool { return e.Kind == session.Summed }
	said := func(e session.Event) bool { return !summed(e) && e.Kind != session.Stopped && e.Kind != session.Ended }
	begun := slices.IndexFunc(s.Events, said)
	for _, b := range s.Bounds {
		if begun >= 0 && begun < int(b.Event) {
			all = append(all, Compaction{N: len(all) + 1, Record: int(b.Rec) + 1, Time: s.Time(b.Rec), Trigger: b.Trigger, Before: b.Before})
		} else if summary == 0 {
			summary = int(b.Rec) + 1
		}
	}
	if i := slices.IndexFunc(s.Events, summed); i >= 0 && (i < begun || begun < 0) && (summary == 0 || s.Events[i].N() < summary) {
		summary = s.Events[i].N()
	}
	return all, summary
}

// Compare returns a comparison for compaction number n of a session, 0 for its last one. It fills s, an empty model of the same
// session. The error is a *NoneError if there is no such compaction.
func Compare(n int, whole, s *session.Session) (*Comparison, error) {
	found, summary := Compactions(whole)
	n = cmp.Or(n, len(found))
	if n < 1 || n > len(found) {
		return nil, &NoneError{Compactions: len(found), Records: whole.Records(), Summary: summary}
	}
	one := found[n-1]
	out := Report{Boundary: n, Boundaries: len(found), Record: one.Record, Last: one.Record, Trigger: one.Trigger, Tokens: one.Before}
	if !one.Time.IsZero() {
		out.Time = &one.Time
	}
	return &Comparison{s: s, out: out, uuids: map[string]int32{}, kept: map[int32]bool{}}, nil
}

// continues reports whether a record continues the session's own conversation.
func continues(r *transcript.Record) bool {
	return slices.ContainsFunc(r.Items, func(it transcript.Item) bool {
		switch it.Kind {
		case transcript.Human, transcript.Text, transcript.Call, transcript.Result:
			return !it.Side
		}
		return false
	})
}

// Of reports on a compaction of a session, with fold as its empty model. It reads the records twice. It fails with a
// *NoneError if there is no such compaction.
func Of(records func() iter.Seq2[*transcript.Record, error], fold *session.Session, fetch func(transcript.Span) ([]byte, error), by Choice) (*Report, error) {
	whole := session.New(fold.Options(), fold.Of())
	for r, err := range records() {
		if err != nil {
			return nil, err
		}
		whole.Add(r)
	}
	c, err := Compare(by.Boundary, whole, fold)
	if err != nil {
		return nil, err
	}
	for r, err := range records() {
		if err != nil {
			return nil, err
		}
		if !c.Add(r) {
			break
		}
	}
	return c.Report(fetch, by)
}

// Comparison compares the facts before a compaction with what the agent kept of them.
type Comparison struct {
	s     *session.Session
	out   Report
	uuids map[string]int32 // indices of the records before, by their UUID
	kept  map[int32]bool   // indices of those that the agent keeps
}

// Add adds the next record, from the first of the session on. It reports false at the record with which the conversation
// goes on after the compaction, which it does not add.
func (c *Comparison) Add(r *transcript.Record) bool {
	switch {
	case r.N < c.out.Record:
		if r.UUID != "" {
			c.uuids[strings.Clone(r.UUID)] = int32(r.N - 1)
		}
	case r.N == c.out.Record:
		c.take(r)
	case r.Boundary != nil || continues(r):
		return false
	}
	c.out.Last = max(c.out.Last, r.N)
	c.s.Add(r)
	return true
}

// take takes what a boundary keeps.
func (c *Comparison) take(r *transcript.Record) {
	for _, uuid := range r.Boundary.Preserved {
		if rec, ok := c.uuids[uuid]; ok {
			c.kept[rec] = true
		}
	}
	c.uuids = nil
	c.out.Preserved = len(c.kept)
	for _, it := range transcript.Replacement(r) {
		switch it.Kind {
		case transcript.Thinking:
			c.out.Sealed = true
		case transcript.Human, transcript.Text, transcript.Call, transcript.Result:
			c.out.Preserved++
		}
	}
}

// Report compares the facts of the records that were added. It is called once.
func (c *Comparison) Report(fetch func(transcript.Span) ([]byte, error), by Choice) (*Report, error) {
	src := session.NewSource(c.s, fetch)
	bounds := c.s.Bounds
	last, from := bounds[len(bounds)-1], int32(0)
	if n := len(bounds); n > 1 {
		from = bounds[n-2].Event
	}
	out := &c.out
	if !last.Own.Zero() {
		out.Own, out.Summary = src.Text(last.Own), src.ID(last.Own)
		out.Chars = int(last.Own.Chars)
	}
	own, companion := NewText(out.Own), NewText(by.Companion)
	lists := map[Class]*List{}
	for _, one := range c.facts(src, last.Event) {
		if one.event < from {
			out.Earlier++
			continue
		}
		l := lists[one.Class]
		if l == nil {
			l = &List{Class: one.Class, List: []Fact{}}
			lists[one.Class] = l
		}
		one.fill(src)
		if l.Facts++; c.kept[one.ref.Rec] || c.s.Carried(one.ref) || own.Shows(&one) {
			l.Kept++
			continue
		}
		l.Dropped++
		if one.InCompanion = companion.Shows(&one); one.InCompanion {
			l.Companion++
		}
		l.List = append(l.List, one)
	}
	out.Classes = []List{}
	for _, class := range Classes() {
		l := lists[class]
		if l == nil {
			continue
		}
		out.Facts, out.Kept, out.Dropped, out.Companion = out.Facts+l.Facts, out.Kept+l.Kept, out.Dropped+l.Dropped, out.Companion+l.Companion
		l.cut(by)
		out.Classes = append(out.Classes, *l)
	}
	return out, src.Err
}

// cut sorts the list and keeps what by selects.
func (l *List) cut(by Choice) {
	slices.SortStableFunc(l.List, func(a, b Fact) int { return b.Record - a.Record })
	switch {
	case by.Class != "" && by.Class != l.Class:
		l.List = l.List[:0]
	case by.Most > 0 && len(l.List) > by.Most:
		l.List = l.List[:by.Most]
	}
	l.More = l.Dropped - len(l.List)
}
