package transcript

import "bytes"

// lifeShift separates the offsets of two generations; a transcript is shorter than 1 << lifeShift bytes.
const lifeShift = 48

// Earlier returns a span of the generation that is back before the newest one, as its offset is written among spans of the
// newest: below 0.
func (s Span) Earlier(back int) Span { return Span{s.Off - int64(back)<<lifeShift, s.Len} }

// Life returns how many generations before the newest one a span is, 0 for one of the newest, and where in that one.
func (s Span) Life() (back int, at Span) {
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

// OriginOf reads the origin in the first line of a transcript.
func OriginOf(line []byte) (o Origin) {
	if !bytes.Contains(line, []byte(`"ordinal"`)) || !Valid(line) {
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
