package dropped

import (
	"iter"
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

// Finder finds the compactions of a session as its records come.
type Finder struct {
	Found []Compaction

	s search
}

// Add adds a record.
func (f *Finder) Add(r *transcript.Record) {
	f.s.add(r, 0)
	e := f.s.open
	if e == nil || e.number == 0 {
		return
	}
	if len(f.Found) < e.number {
		f.Found = append(f.Found, Compaction{N: e.number})
	}
	last := &f.Found[e.number-1]
	last.Record, last.Trigger, last.Before = e.record, e.trigger, e.tokens
	if last.Time.IsZero() {
		last.Time = r.Time
	}
}

// search is the state of find.
type search struct {
	count        int    // compactions of the session
	before, last *event // the wanted one (last) and the one before it; nil if there is none
	talked       bool   // something has been said or done
	begun        int    // record of an event with nothing before it, 0 if there is none
	open         *event // the event that has not ended yet
	record       int
	words        string // what the agent said last, "" if something else followed
	spoken       int    // the record of words
}

// find finds compaction number n; 0 is the last one.
func find(records iter.Seq2[*transcript.Record, error], n int) (*search, error) {
	s := &search{}
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		s.add(r, n)
	}
	s.close(s.record)
	return s, nil
}

func (s *search) add(r *transcript.Record, n int) {
	s.record = r.N
	said, summed := tells(r)
	if r.Boundary != nil || summed {
		if s.open == nil || r.Boundary != nil && s.open.bounded {
			s.close(r.N - 1)
			s.begin(r.N, n)
		}
		s.open.take(r.Boundary)
		s.echoed(r)
		return
	}
	if said {
		s.close(r.N - 1)
		s.talked, s.words, s.spoken = true, lastWords(r), r.N
	}
}

// echoed adds the agent's last message to the compaction if the summary ends with it, because some versions also write the
// model's summary as a message.
func (s *search) echoed(r *transcript.Record) {
	if words := strings.TrimSpace(s.words); words != "" && strings.HasSuffix(strings.TrimSpace(scorecard.Summary(r)), words) {
		s.open.record = min(s.open.record, s.spoken)
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
func (s *search) begin(record, n int) {
	s.open = &event{record: record}
	if s.talked {
		s.count++
		s.open.number = s.count
	} else if s.begun == 0 {
		s.begun = record
	}
	if n == 0 || s.count <= n {
		if s.open.number > 0 || s.last == nil {
			s.before, s.last = s.last, s.open
		}
	}
}

func (s *search) close(record int) {
	if s.open != nil {
		s.open.end = record
		s.open = nil
	}
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
