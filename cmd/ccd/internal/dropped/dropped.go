// Package dropped reports what an agent's own compaction dropped: the key facts in its context before that neither its
// summary nor the records it kept show.
//
// It defines a compaction: a boundary, a summary, or both together, with conversation before them. Invariant: a report
// depends only on the records, and every fact in it names an original from before the compaction. Package scorecard defines
// key facts and when a text shows one. dropped knows nothing of the archive, of companions, or of how a report is printed.
package dropped

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"ccd/internal/mark"
	"ccd/internal/scorecard"
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

// Records returns the records of a session from the first one, on every call. An error ends them. A record is valid until
// the next one.
type Records func() iter.Seq2[*transcript.Record, error]

// Choice selects a compaction and how much of it is listed.
type Choice struct {
	Boundary int             // number of the compaction from 1, 0 for the last one
	Class    scorecard.Class // the class to list, "" for all
	Most     int             // facts listed per class, 0 for all
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
	Chars      int        `json:"chars"`         // of the summary and what was kept with it
	Facts      int        `json:"facts"`         // in the agent's context before
	Kept       int        `json:"kept"`          // of these
	Dropped    int        `json:"dropped"`       // of these
	Earlier    int        `json:"earlier"`       // facts that earlier compactions had dropped already
	Classes    []Class    `json:"classes"`       // classes with facts, the most important first
}

// Class lists the facts of one class.
type Class struct {
	Class   scorecard.Class  `json:"class"`
	Facts   int              `json:"facts"`
	Kept    int              `json:"kept"`
	Dropped int              `json:"dropped"`
	List    []scorecard.Fact `json:"list"` // dropped facts, the most important and then the newest first
	More    int              `json:"more"` // dropped facts that are not in List
}

// Of reports on a compaction of a session. It reads the records twice and keeps the agent's context and the key facts in
// memory. It fails with a NoneError if there is no such compaction.
func Of(records Records, by Choice) (*Report, error) {
	var f Finder
	for r, err := range records() {
		if err != nil {
			return nil, err
		}
		f.Add(r)
	}
	c, err := f.Compare(by.Boundary)
	if err != nil {
		return nil, err
	}
	for r, err := range records() {
		if err != nil {
			return nil, err
		}
		if r.N > c.Last() {
			break
		}
		c.Add(r)
	}
	return c.Report(by), nil
}

// Comparison compares the facts before a compaction with what the agent kept of them.
type Comparison struct {
	count       int               // compactions of the session
	last        event             // the one that is reported
	before      *event            // the previous one, nil if there is none
	facts       *scorecard.Facts  // of all records before last
	held, holds scorecard.Context // what the agent kept at before and at last
	out         Report
}

// Record is the first record of the compaction.
func (c *Comparison) Record() int { return c.last.record }

// Last is the last record of the compaction. A comparison needs no more.
func (c *Comparison) Last() int { return c.last.end }

// Add adds a record. The records up to Last are added in their order, beginning with the first of the session.
func (c *Comparison) Add(r *transcript.Record) {
	if r.N < c.last.record {
		c.facts.Add(r)
	}
	c.before.hold(&c.held, r)
	c.last.hold(&c.holds, r)
	if r.N >= c.last.record {
		c.told(r)
	} else if c.last.keeps(r) {
		c.out.Preserved++
	}
}

// told reads what the records of the compaction say about it.
func (c *Comparison) told(r *transcript.Record) {
	if c.out.Time == nil && !r.Time.IsZero() {
		at := r.Time
		c.out.Time = &at
	}
	for i := range r.Items {
		if it := &r.Items[i]; isSummary(it) {
			c.out.Summary = it.Sum().ID()
		}
	}
	for _, it := range transcript.Replacement(r) {
		switch it.Kind {
		case transcript.Thinking:
			c.out.Sealed = true
		case transcript.Human, transcript.Text, transcript.Call, transcript.Result:
			c.out.Preserved++
		}
	}
}

// Report grades the facts of the records that were added. It is called once.
func (c *Comparison) Report(by Choice) *Report {
	out := &c.out
	out.Boundary, out.Boundaries, out.Record = c.last.number, c.count, c.last.record
	out.Last = c.last.end
	out.Trigger, out.Tokens, out.Chars = c.last.trigger, c.last.tokens, c.holds.Chars()
	out.Classes = []Class{}
	for one := range c.facts.All() {
		if one.Record < c.before.since() && !c.held.Shows(one) {
			out.Earlier++
			continue
		}
		n := len(out.Classes)
		if n == 0 || out.Classes[n-1].Class != one.Class {
			out.Classes = append(out.Classes, Class{Class: one.Class, List: []scorecard.Fact{}})
			n++
		}
		out.Classes[n-1].add(one, c.holds.Shows(one))
	}
	slices.SortStableFunc(out.Classes, func(a, b Class) int {
		return slices.Index(importance, a.Class) - slices.Index(importance, b.Class)
	})
	for i := range out.Classes {
		class := &out.Classes[i]
		out.Facts, out.Kept, out.Dropped = out.Facts+class.Facts, out.Kept+class.Kept, out.Dropped+class.Dropped
		class.cut(by)
	}
	return out
}

// importance is the order of classes: what an agent needs most to continue comes first.
var importance = []scorecard.Class{
	scorecard.Asked, scorecard.Plan, scorecard.OpenErrors, scorecard.Git, scorecard.Edited, scorecard.Deleted, scorecard.Refusals,
	scorecard.Questions, scorecard.Answers, scorecard.Decisions, scorecard.Outcomes, scorecard.Commands, scorecard.Reports,
	scorecard.Errors, scorecard.Numbers, scorecard.URLs, scorecard.Hashes, scorecard.Identifiers,
}

func (c *Class) add(one scorecard.Fact, kept bool) {
	c.Facts++
	if kept {
		c.Kept++
		return
	}
	c.Dropped++
	c.List = append(c.List, one)
}

// cut sorts the list and keeps what by selects.
func (c *Class) cut(by Choice) {
	slices.SortStableFunc(c.List, func(a, b scorecard.Fact) int {
		if a.Strong != b.Strong {
			if a.Strong {
				return -1
			}
			return 1
		}
		return b.Record - a.Record
	})
	switch {
	case by.Class != "" && by.Class != c.Class:
		c.List = c.List[:0]
	case by.Most > 0 && len(c.List) > by.Most:
		c.List = c.List[:by.Most]
	}
	c.More = c.Dropped - len(c.List)
}
