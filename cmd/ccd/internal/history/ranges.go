package history

import (
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// The sizes of ranges, as in compactor/fold. A range begins at a multiple of its size. The last range of a text ends where
// the session ended at that time.
const (
	leastRange  = 64
	rangeRatio  = 8
	rangeLevels = 5
)

// ranges finds every range that any earlier text of a session may have named. Those texts cannot be searched: a hook's text
// is not stored and a companion is overwritten.
type ranges struct {
	w    want
	open [rangeLevels]openRange
}

// openRange is the range of one size that contains the last record.
type openRange struct {
	parts mark.Combiner
	first transcript.Pointer // of its first record
}

// record adds the wanted ranges that end with a record.
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
