package transcript

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

// Move puts a record and all in it into an earlier generation, under another number.
func (r *Record) Move(back, n int) {
	r.N, r.Span = n, r.Span.Earlier(back)
	for i := range r.Items {
		r.Items[i].Span = r.Items[i].Span.Earlier(back)
	}
}
