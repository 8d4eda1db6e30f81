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
