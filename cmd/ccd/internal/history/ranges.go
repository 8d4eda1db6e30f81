package history

import (
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// A text names ranges of records whose first record stands at a multiple of their size; the last of a text ends where the
// session ended then. The sizes are those of compactor/fold.
const (
	leastRange  = 64
	rangeRatio  = 8
	rangeLevels = 5
)

// ranges knows every range that any text of a session may have named since the session began, whoever read it: a hook's
// text is not kept, and a companion is written anew.
type ranges struct {
	w    want
	open [rangeLevels]openRange
}

// openRange is the range of one size that the last record stands in.
type openRange struct {
	parts mark.Combiner
	first transcript.Pointer // of its first record
}

// record gives the ranges that end with a record and are wanted.
func (g *ranges) record(r *transcript.Record, add func(transcript.Pointer)) {
	size := leastRange
	for n := range g.open {
		o := &g.open[n]
		if (r.N-1)%size == 0 {
			o.parts, o.first = mark.NewCombiner(), Whole(*r)
		}
		size *= rangeRatio
		o.parts.Add(r.Hash.ID())
		if h := o.parts.Hash(); g.w.has(h) {
			p := o.first
			p.Hash, p.Last, p.Note = h, r.N, "range"
			p.Parts = []transcript.Part{{Span: transcript.Span{Off: p.Parts[0].Span.Off, Len: r.Span.End() - p.Parts[0].Span.Off}}}
			add(p)
		}
	}
}
