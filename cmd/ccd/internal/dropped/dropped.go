// Package dropped tells what an agent's own compaction took from it: which key facts it held before, and which of them
// neither its summary nor what it kept shows.
//
// It owns what a compaction of a session is: a boundary, a summary, or both beside each other, with conversation before
// them. Its invariant: a report is a function of the records alone, and every fact in it names an original that stands
// before the compaction. What a key fact is, and when a text shows one, is the scorecard's. It knows nothing of the
// archive, of companions, or of how a report is printed.
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

// NoneError tells that a session has no such compaction.
type NoneError struct {
	Compactions int // that it has
	Records     int // that it has
	Summary     int // number of the record where it begins with a compaction made elsewhere, 0 where it does not
}

// Error tells it in one line.
func (e *NoneError) Error() string {
	return fmt.Sprintf("no such compaction: %d in %d records", e.Compactions, e.Records)
}

// Records gives the records of a session from the first on, anew each time; an error ends them. A record is valid until
// the next one.
type Records func() iter.Seq2[*transcript.Record, error]

// Choice says which compaction is meant, and how much of it is listed.
type Choice struct {
	Boundary int             // its number from 1 on, 0 for the last one
	Class    scorecard.Class // the one to list, "" for all
	Most     int             // facts listed of a class, 0 for all
}

// Report is what one compaction dropped.
type Report struct {
	Boundary   int        `json:"boundary"`      // number of the compaction, from 1 on
	Boundaries int        `json:"boundaries"`    // how many the session has
	Record     int        `json:"record"`        // number of its first record
	Time       *time.Time `json:"time"`          // null where not told
	Trigger    string     `json:"trigger"`       // "auto", "manual" or ""
	Tokens     int64      `json:"tokens_before"` // that the agent held, 0 where not told
	Summary    mark.ID    `json:"summary"`       // "" where none can be read
	Sealed     bool       `json:"sealed"`        // part of the new context is encrypted: only the rest is compared
	Preserved  int        `json:"preserved"`     // records from before that the agent keeps
	Chars      int        `json:"chars"`         // of the summary and all that was kept with it
	Facts      int        `json:"facts"`         // that the agent held before
	Kept       int        `json:"kept"`          // of these
	Dropped    int        `json:"dropped"`       // of these
	Earlier    int        `json:"earlier"`       // facts that it held no more: earlier compactions dropped them
	Classes    []Class    `json:"classes"`       // those that have facts, the most important first
}

// Class is the facts of one class.
type Class struct {
	Class   scorecard.Class `json:"class"`
	Facts   int             `json:"facts"`
	Kept    int             `json:"kept"`
	Dropped int             `json:"dropped"`
	List    []Fact          `json:"list"` // dropped ones, the most important and then the newest first
	More    int             `json:"more"` // dropped ones that are not in List
}

// Fact is one that was dropped.
type Fact struct {
	Text   string  `json:"text"`      // on one line, as the transcript has it: data, not made inert; "" of what is the end of a long text
	Tail   string  `json:"tail"`      // the end of a long text, else ""
	Status string  `json:"status"`    // how a command ended, the state of a plan item, else ""
	Record int     `json:"record"`    // number of the newest record that holds it
	ID     mark.ID `json:"id"`        // of the original in there
	Output mark.ID `json:"output_id"` // of a command: its last output, else ""
	Strong bool    `json:"strong"`    // a person named it, or it was named at least twice
}

// Of reports on a compaction of a session. It reads the records twice, and holds what the agent held, and key facts. It
// fails with a NoneError where there is no such compaction.
func Of(records Records, by Choice) (*Report, error) {
	found, err := find(records(), by.Boundary)
	if err != nil {
		return nil, err
	}
	if found.count == 0 || by.Boundary > found.count {
		return nil, &NoneError{Compactions: found.count, Records: found.record, Summary: found.begun}
	}
	c := comparison{last: found.last, before: found.before}
	for r, err := range records() {
		if err != nil {
			return nil, err
		}
		if r.N > c.last.end {
			break
		}
		c.add(r)
	}
	return c.report(found.count, by), nil
}

// comparison is what stood before a compaction, and what stands after it.
type comparison struct {
	before, last *event // the compaction, and the one before it
	facts        *scorecard.Facts
	held, holds  scorecard.Context
	out          Report
}

func (c *comparison) add(r *transcript.Record) {
	if c.facts == nil {
		c.facts = scorecard.New()
	}
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

// told takes what the records of the compaction say of it.
func (c *comparison) told(r *transcript.Record) {
	if c.out.Time == nil && !r.Time.IsZero() {
		at := r.Time
		c.out.Time = &at
	}
	for i := range r.Items {
		if it := &r.Items[i]; isSummary(it) {
			c.out.Summary = mark.Sum(it.Raw).ID()
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

// report grades the facts.
func (c *comparison) report(count int, by Choice) *Report {
	out := &c.out
	out.Boundary, out.Boundaries, out.Record = c.last.number, count, c.last.record
	out.Trigger, out.Tokens, out.Chars = c.last.trigger, c.last.tokens, c.holds.Chars()
	out.Classes = []Class{}
	for one := range c.facts.All() {
		if one.Record < c.before.since() && !c.held.Shows(one) {
			out.Earlier++
			continue
		}
		n := len(out.Classes)
		if n == 0 || out.Classes[n-1].Class != one.Class {
			out.Classes = append(out.Classes, Class{Class: one.Class, List: []Fact{}})
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

// importance is the order of classes: what an agent needs most to go on comes first.
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
	c.List = append(c.List, Fact{
		Text: one.Text, Tail: one.Tail, Status: one.Status, Record: one.Record, ID: one.ID, Output: one.Output, Strong: one.Strong,
	})
}

// cut orders the list and keeps what is asked for.
func (c *Class) cut(by Choice) {
	slices.SortStableFunc(c.List, func(a, b Fact) int {
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
