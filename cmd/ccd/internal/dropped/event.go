package dropped

import (
	"iter"
	"strings"

	"ccd/internal/scorecard"
	"ccd/internal/transcript"
)

// event is one compaction: the records from its boundary or summary up to where the conversation goes on.
type event struct {
	number      int // from 1 on; 0 of a summary with nothing before it
	record, end int // its first and its last record
	bounded     bool
	replaced    bool // the boundary carries the whole new context
	trigger     string
	tokens      int64
	preserved   map[string]bool // UUIDs of records before it that the agent keeps
}

// search is what find has found.
type search struct {
	count        int    // compactions of the session
	before, last *event // the one that is meant, and the one before it; nil where there is none
	talked       bool   // something has been said or done
	begun        int    // the record of the event that nothing stands before, 0 where there is none
	open         *event // the one whose records go on
	record       int
	words        string // what the agent said last, "" where something else was done since
	spoken       int    // its record
}

// find looks for compaction number n, the last one for 0.
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

// echoed takes the words before a summary that end it for a part of the compaction: some versions write what the model
// answered as its own message too.
func (s *search) echoed(r *transcript.Record) {
	if words := strings.TrimSpace(s.words); words != "" && strings.HasSuffix(strings.TrimSpace(summaryOf(r)), words) {
		s.open.record = min(s.open.record, s.spoken)
	}
}

// lastWords is what the agent says in a record that ends with its words.
func lastWords(r *transcript.Record) string {
	if it := r.Items[len(r.Items)-1]; it.Kind == transcript.Text && !it.Side {
		return string(transcript.Original(it.Kind, it.Raw))
	}
	return ""
}

func summaryOf(r *transcript.Record) string {
	for i := range r.Items {
		if it := &r.Items[i]; isSummary(it) {
			return string(transcript.Original(it.Kind, it.Raw))
		}
	}
	return ""
}

// begin opens an event. One that nothing stands before dropped nothing that could be told: it goes on from elsewhere.
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

// tells reports whether the session's own conversation goes on in a record, and whether it holds a summary.
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

// take adds what a boundary tells.
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

// keeps reports whether the agent keeps a record from before.
func (e *event) keeps(r *transcript.Record) bool {
	return e != nil && r.N < e.record && r.UUID != "" && e.preserved[r.UUID]
}

// since is the first record after the event, 0 where there is none.
func (e *event) since() int {
	if e == nil {
		return 0
	}
	return e.record
}

// hold adds what a record gives to the context that the event begins: kept records, the summary, what the client puts
// beside it. What hooks add is not the agent's own; where the boundary carries all of the context, nothing else is.
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
