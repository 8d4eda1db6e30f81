package compactor

import (
	"cmp"
	"slices"
	"time"
)

// score says how well an event can be compressed, as the mission has it: chars * hours * redundancy / importance.
type score struct {
	redundancy float64 // 1, and the part of its values and words that a later event has
	chars      int     // of all its pieces
	class      int     // percent of its chars that it keeps before the rest counts less: by the third of all scores
	keeps      int     // the same in chars
}

// leastAge is the age of the newest event in a score; no class keeps more of one event than a room divided by widest.
const (
	leastAge = time.Minute
	widest   = 10
)

// score scores the events that have pieces, and divides them into the classes of the options.
func (d *draft) score() {
	later := make([]bool, len(d.words.seen))
	var all []*event
	for _, e := range slices.Backward(d.events) {
		said, again := 0, 0
		for _, p := range e.pieces() {
			e.chars += p.chars
			for _, v := range slices.Concat(p.values, p.words) {
				said++
				if later[v] {
					again++
				}
			}
		}
		for _, p := range e.pieces() {
			for _, v := range slices.Concat(p.values, p.words) {
				later[v] = true
			}
		}
		e.redundancy = 1 + float64(again)/float64(max(1, said))
		if e.chars > 0 {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b *event) int { return cmp.Compare(d.scoreOf(a), d.scoreOf(b)) })
	for i, e := range all {
		e.class = d.c.o.Classes[i*len(d.c.o.Classes)/len(all)]
		e.keeps = min(e.chars*e.class/100, d.reader.Room/widest)
	}
}

func (d *draft) scoreOf(e *event) float64 {
	return float64(e.chars) * max(leastAge, d.since(e)).Hours() * e.redundancy / e.importance()
}
