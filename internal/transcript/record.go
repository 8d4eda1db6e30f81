package transcript

import (
	"bytes"
	"slices"
	"time"
)

// SetUsage sets the context size that the record reports.
func (d *Decoder) SetUsage(r *Record, u Usage) {
	if u.Context == 0 { // nothing is reported
		return
	}
	d.usage = u
	r.Usage = &d.usage
}

// SetBoundary records that the agent compacted its context here.
func (d *Decoder) SetBoundary(r *Record, b Boundary) {
	d.bound = b
	r.Boundary = &d.bound
	d.fresh = true
}

// Refused adds what the API answered instead of a reply; text may be absent.
func (d *Decoder) Refused(r *Record, text Node) {
	r.APIError = true
	if text.Full() {
		r.UI = false
		r.Add(Item{Kind: Meta}, text)
	}
}

// RememberTool stores the tool of a call.
func (d *Decoder) RememberTool(call, tool string) { d.tools.put(call, tool) }

// ToolOf returns the tool of a call, "" if unknown.
func (d *Decoder) ToolOf(call string) string {
	if tool := d.tools.find(call); tool != nil {
		return *tool
	}
	return ""
}

// ResultFailed reports whether a tool's result says that the tool or its command failed.
func (d *Decoder) ResultFailed(tool string, result Node) bool {
	return d.Client.Explain(tool, d.Client.Op(tool), result.Raw, false).Failed
}

// Typed reports whether a text is a client's form of a slash command or a shell line.
func (d *Decoder) Typed(text string) bool {
	_, _, ok := d.Client.typed(text)
	return ok
}

// Typed reports whether a person typed an item of the record as a message.
func (r *Record) Typed() bool {
	return slices.ContainsFunc(r.Items, func(it Item) bool { return it.Kind == Human && it.Call == "" })
}

// Talks reports whether a person typed the record, or the agent said or did something in it.
func (r *Record) Talks() bool {
	return r.Typed() || r.Replies()
}

// Replies reports whether the agent itself said or did something in the record.
func (r *Record) Replies() bool {
	return slices.ContainsFunc(r.Items, func(it Item) bool { return it.Kind.Assistant() && !it.Side })
}

// ParseTime reads a time: RFC 3339, or a number of milliseconds or seconds since 1970. It returns the zero time if there is none, or if it
// is out of the range that RFC 3339 and JSON allow.
func ParseTime(n Node) time.Time {
	const maxYear = 253402300799999 // the last millisecond of the year 9999
	const minMillis = 1e11          // in 1973: smaller numbers are seconds
	if !n.Is('"') {
		ms := n.Integer()
		if 0 < ms && ms < minMillis {
			ms *= 1000
		}
		if ms > 0 && ms <= maxYear {
			return time.UnixMilli(ms).UTC()
		}
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, string(n.Raw[1:len(n.Raw)-1]))
	if t = t.UTC(); err != nil || t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// Ranks of titles: those given by a person win over generated ones.
const (
	RankSummary = iota + 1
	RankMade
	RankGiven
)

// SetTitle sets the record's title, unless there was a title of higher rank.
func (d *Decoder) SetTitle(r *Record, title Node, rank int) {
	if title.Full() && title.Is('"') && rank >= d.titleRank {
		r.Title, d.titleRank = title.Text(), rank
	}
}

// SetSummary sets the title of the conversation that ends with the record leaf, which can follow. If there is no such
// record, it is the title of another session.
func (d *Decoder) SetSummary(r *Record, title Node, leaf string) {
	if slices.Contains(d.recent, leaf) {
		d.SetTitle(r, title, RankSummary)
	} else {
		d.titles.put(leaf, Node{Raw: bytes.Clone(title.Raw)})
	}
}

// UserRejected is the denial reason of a call that the human refused.
const UserRejected = "user-rejected"

// Waiting is the messages that a person typed while the agent worked, as far as they are not known to have reached it. T is
// what a reader keeps of one.
type Waiting[T any] struct{ all []waiting[T] }

type waiting[T any] struct {
	text     string
	repeated bool // it stands in a record of its own
	kept     T
}

// maxWaiting is how many messages wait. One more is not kept.
const maxWaiting = 64

// Add adds a message.
func (w *Waiting[T]) Add(text string, kept T) {
	if len(w.all) < maxWaiting {
		w.all = append(w.all, waiting[T]{text: text, kept: kept})
	}
}

// Repeats notes that a message stands in a record of its own, so that it is not delivered twice.
func (w *Waiting[T]) Repeats(text string) {
	for i := range w.all {
		w.all[i].repeated = w.all[i].repeated || w.all[i].text == text
	}
}

// All returns the messages that wait, the oldest first.
func (w *Waiting[T]) All() (all []T) {
	for i := range w.all {
		all = append(all, w.all[i].kept)
	}
	return all
}

// Take takes what a record says of the messages. It returns the one that reached the model and stands nowhere else.
func (w *Waiting[T]) Take(r *Record) (kept T, delivered bool) {
	if len(w.all) == 0 || r.Queue == NoQueue || r.Queue == Enqueued {
		return kept, false
	}
	if r.Queue == Withdrawn {
		w.all = nil
		return kept, false
	}
	i := max(0, slices.IndexFunc(w.all, func(one waiting[T]) bool { return one.text == r.Queued }))
	one := w.all[i]
	w.all = slices.Delete(w.all, i, i+1)
	return one.kept, r.Queue == Delivered && !one.repeated
}

// Spent is what a reply cost, in real tokens, as its client reports it.
type Spent struct {
	In      int64 `json:"input_tokens"`       // of the context, not from a cache
	Cached  int64 `json:"cache_read_tokens"`  // read from a cache
	Written int64 `json:"cache_write_tokens"` // of the context, into a cache
	Out     int64 `json:"output_tokens"`      // with what is thought
	Begun   int64 `json:"replies_begun"`      // 1 if Out is only the count that the stream began with
}

// Counts are the names of the counts with which a client reports what a reply cost.
type Counts struct {
	In, Cached, Written string
	Out                 []string
	Within              bool // what is cached counts in In
}

// Spent reads what a reply cost; nil where a count is invalid, or nothing is reported.
func (o Object) Spent(as Counts) *Spent {
	s := Spent{In: o.Tokens(as.In), Cached: o.Tokens(as.Cached), Written: o.Tokens(as.Written), Out: o.Tokens(as.Out...)}
	if !o.Field(as.In).Has() || min(s.In, s.Cached, s.Written, s.Out) == NoCount {
		return nil
	}
	if as.Within {
		s.In = max(0, s.In-s.Cached-s.Written)
	}
	return &s
}

// lifeShift separates the offsets of two generations; a transcript is shorter than 1 << lifeShift bytes.
const lifeShift = 48

// Earlier returns a span of the generation that is back before the newest one, as its offset is written among spans of the
// newest: below 0.
func (s Span) Earlier(back int) Span { return Span{s.Off - int64(back)<<lifeShift, s.Len} }

// Generation returns how many generations before the newest one a span is, 0 for one of the newest, and where in that one.
func (s Span) Generation() (back int, at Span) {
	if s.Off >= 0 {
		return 0, s
	}
	back = int((-s.Off + 1<<lifeShift - 1) >> lifeShift)
	return back, Span{s.Off + int64(back)<<lifeShift, s.Len}
}

// Origin says that a transcript, whose lines are numbered, does not repeat the lines before End of another one, which it
// continues.
type Origin struct {
	ID    string // of that one's session, "" if the transcript continues none
	End   int64
	First int64 // number of the transcript's own first line
}

// maxForkHead is in how many bytes the first message begins in a fork of a session that ccd compacted.
const maxForkHead = 64 << 10

// OriginOf reads the origin in the beginning of a transcript: in its first line, or in ccd's text about another session that is its
// first message, since the client has forked that session after ccd compacted it.
func OriginOf(head []byte) (o Origin) {
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	if !bytes.Contains(line, []byte(`"ordinal"`)) {
		return forkOf(head)
	}
	if !Valid(line) {
		return o
	}
	n := Node{Raw: bytes.TrimSpace(line)}
	o.First = n.Field("ordinal").Integer()
	base := n.Field("payload").Field("history_base")
	if id, end := base.Field("thread_id").Text(), base.Field("end_ordinal_exclusive").Integer(); end > 0 {
		o.ID, o.End = id, end
	}
	return o
}

func forkOf(head []byte) (o Origin) {
	at := 0
	for line := range bytes.Lines(head) {
		if at += len(line); at-len(line) > maxForkHead {
			break
		}
		if !bytes.Contains(line, []byte(`"type":"user"`)) {
			continue
		}
		n := Node{Raw: bytes.TrimSpace(line)}
		if !Valid(n.Raw) {
			break
		}
		if l, ok := ReadLive(n.Field("message").Field("content").Text()); ok && l.Session != n.Field("sessionId").Text() {
			o = Origin{ID: l.Session, End: int64(l.Covers), First: int64(l.Covers)}
		}
		break
	}
	return o
}

// joint is what the first record of the next file of a story tells.
type joint struct {
	fork       bool
	back, from int
}

// Join prepares the decoder for the next file of a story: a fork, or one in which the person goes back before record from of
// those so far. Its records are numbered on, and calls have their results in either file.
func (d *Decoder) Join(fork bool, from int) {
	d.Begun, d.open, d.joint = false, false, joint{fork: fork}
	if !fork {
		d.joint.back, d.joint.from = d.Chain.cut(from-1, from)
	}
}

// Count returns the number of records so far.
func (d *Decoder) Count() int { return d.n }

// Move puts a record and all in it into an earlier generation, under another number.
func (r *Record) Move(back, n int) {
	r.N, r.Span = n, r.Span.Earlier(back)
	for i := range r.Items {
		r.Items[i].Span = r.Items[i].Span.Earlier(back)
	}
}
