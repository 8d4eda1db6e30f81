package dropped

import (
	"strings"
	"time"

	"ccd/internal/scorecard"
	"ccd/internal/transcript"
)

// event is one compaction: the records from its boundary or summary to where the conversation continues.
type event struct {
	number      int // from 1; 0 for a summary with nothing before it
	record, end int // its first and last record
	bounded     bool
	replaced    bool // the boundary carries the whole new context
	trigger     string
	tokens      int64
	preserved   map[string]bool // UUIDs of earlier records that the agent keeps
}

// Compaction is one compaction by the agent.
type Compaction struct {
	N       int // from 1
	Record  int // its first record
	Time    time.Time
	Trigger string // "auto", "manual" or ""
	Before  int64  // tokens in the context before, 0 if unknown
}

// Finder finds the compactions of a session as its records come. Its zero value has seen none.
type Finder struct {
	Found []Compaction

	events []*event // those of Found, before them a summary with nothing before it
	talked bool     // something has been said or done
	open   *event   // the event that has not ended yet
	record int
	words  string // what the agent said last, "" if something else followed
	spoken int    // the record of words
}

// Add adds a record.
func (f *Finder) Add(r *transcript.Record) {
	f.record = r.N
	said, summed := tells(r)
	switch {
	case r.Boundary != nil || summed:
		if f.open == nil || r.Boundary != nil && f.open.bounded {
			f.close(r.N - 1)
			f.begin(r.N)
		}
		f.open.take(r.Boundary)
		f.echoed(r)
	case said:
		f.close(r.N - 1)
		f.talked, f.words, f.spoken = true, lastWords(r), r.N
	}
	e := f.open
	if e == nil || e.number == 0 {
		return
	}
	last := &f.Found[e.number-1]
	last.Record, last.Trigger, last.Before = e.record, e.trigger, e.tokens
	if last.Time.IsZero() {
		last.Time = r.Time
	}
}

// echoed adds the agent's last message to the compaction if the summary ends with it, because some versions also write the
// model's summary as a message.
func (f *Finder) echoed(r *transcript.Record) {
	if words := strings.TrimSpace(f.words); words != "" && strings.HasSuffix(strings.TrimSpace(scorecard.Summary(r)), words) {
		f.open.record = min(f.open.record, f.spoken)
	}
}

// lastWords returns the agent's text if the record ends with it.
func lastWords(r *transcript.Record) string {
	if it := r.Items[len(r.Items)-1]; it.Kind == transcript.Text && !it.Side {
		return string(transcript.Original(it.Kind, it.Raw))
	}
	return ""
}

// begin opens an event. An event with nothing before it is not counted: what it dropped is in another session.
func (f *Finder) begin(record int) {
	f.open = &event{record: record}
	if f.talked {
		f.Found = append(f.Found, Compaction{N: len(f.Found) + 1})
		f.open.number = len(f.Found)
	}
	if f.talked || len(f.events) == 0 {
		f.events = append(f.events, f.open)
	}
}

func (f *Finder) close(record int) {
	if f.open != nil {
		f.open.end = record
		f.open = nil
	}
}

// Compare returns a comparison for compaction number n, 0 for the last one, of the records that were added. The error is a
// *NoneError if there is no such compaction.
func (f *Finder) Compare(n int) (*Comparison, error) {
	if n == 0 {
		n = len(f.Found)
	}
	if n < 1 || n > len(f.Found) {
		none := &NoneError{Compactions: len(f.Found), Records: f.record}
		if len(f.events) > 0 && f.events[0].number == 0 {
			none.Summary = f.events[0].record
		}
		return nil, none
	}
	at := n - 1 + len(f.events) - len(f.Found)
	c := &Comparison{last: *f.events[at], facts: scorecard.New(), count: len(f.Found)}
	if at > 0 {
		c.before = f.events[at-1]
	}
	if c.last.end == 0 { // it has not ended
		c.last.end = f.record
	}
	return c, nil
}

// tells reports whether a record continues the session's own conversation, and whether it contains a summary.
func tells(r *transcript.Record) (said, summed bool) {
	for i := range r.Items {
		switch it := &r.Items[i]; {
		case it.Side:
		case isSummary(it):
			summed = true
		case it.Kind == transcript.Human || it.Kind == transcript.Text || it.Kind == transcript.Call || it.Kind == transcript.Result:
			said = true
		}
	}
	return said, summed
}

func isSummary(it *transcript.Item) bool { return it.Kind == transcript.Summary && !it.Side }

// take adds the data of a boundary.
func (e *event) take(b *transcript.Boundary) {
	if b == nil {
		return
	}
	e.bounded, e.replaced, e.trigger, e.tokens = true, b.Replaced, strings.Clone(b.Trigger), b.Before
	e.preserved = map[string]bool{}
	for _, uuid := range b.Preserved {
		e.preserved[strings.Clone(uuid)] = true
	}
}

// keeps reports whether the agent keeps an earlier record.
func (e *event) keeps(r *transcript.Record) bool {
	return e != nil && r.N < e.record && r.UUID != "" && e.preserved[r.UUID]
}

// since returns the number of the event's first record, 0 for no event. Of records before it, the agent has only what it kept.
func (e *event) since() int {
	if e == nil {
		return 0
	}
	return e.record
}

// hold adds a record's part of the context after the event: kept records, the summary and what the client adds to it. It
// ignores what hooks add, because the agent did not keep that itself, and everything else if the boundary has the whole
// context.
func (e *event) hold(c *scorecard.Context, r *transcript.Record) {
	switch {
	case e.keeps(r):
	case e == nil || r.N < e.record || r.N > e.end || strings.HasPrefix(r.Type, "attachment/hook_"):
		return
	}
	for i := range r.Items {
		if it := &r.Items[i]; !it.Side && (isSummary(it) || !e.replaced) {
			c.Hold(it)
		}
	}
	for _, it := range transcript.Replacement(r) {
		c.Hold(&it)
	}
}
