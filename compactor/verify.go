package compactor

import (
	"fmt"
	"math"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
)

// fact notes a key fact by the text that shows it.
func (d *draft) fact(kind, text string, row int32, must bool) {
	key := factKey{kind, row, text}
	if d.notes.seen == nil {
		d.notes.seen = map[factKey]bool{}
	}
	if !d.notes.seen[key] {
		d.notes.seen[key] = true
		d.notes.facts = append(d.notes.facts, fact{kind: kind, text: text, row: row, must: must})
	}
}

type factKey struct {
	kind string
	row  int32
	text string
}

// tiny gives the items whole under Recent where a compaction would not be shorter than that; nil where it is.
func (d *draft) tiny(p *page) *page {
	if d.c.held.total > int64(p.runes()) || p.recent.start == 0 && p.state == "" {
		return nil
	}
	old, recent := d.notes, d.recent
	d.notes.asked, d.notes.filed, d.notes.turns, d.notes.answer, d.recent = nil, nil, nil, -1, 0
	small := &page{recent: d.recentUnits(0, math.MaxInt32, math.MaxInt32)}
	if d.hides(small) {
		small.ranges = d.tailRanges(0)
	}
	if d.err == nil && small.recent.start == 0 && small.excess(d.c.o.budget()) <= 0 {
		d.notes.facts = nil
		return small
	}
	d.notes, d.recent = old, recent
	return nil
}

// hides reports whether a page that is Recent alone leaves an item out or cuts one.
func (d *draft) hides(p *page) bool {
	shown := map[int32]bool{}
	for _, i := range p.recent.shown {
		shown[i] = true
	}
	for i := range d.c.rows.n {
		if !shown[int32(i)] {
			return true
		}
	}
	return false
}

// verify checks the text against what it must hold and counts the key facts.
func (d *draft) verify(out *Compaction, body string, p *page) {
	h := &out.Header
	h.Verified = true
	d.count(h, body, p)
	switch {
	case len(out.Pointers) != len(mark.IDs(body)):
		d.doubt(h, "an ID has no pointer")
	case longest(body) > maxLine:
		d.doubt(h, "a line is too long")
	case p.excess(d.c.o.budget()) > 0:
		d.doubt(h, fmt.Sprintf("%d chars are over the budget, or more than %d lines", p.runes(), maxLines))
	}
	if missing := d.uncovered(out, p); missing > 0 {
		h.KeyInformation.Lost += missing
		d.doubt(h, fmt.Sprintf("%d items are under no ID", missing))
	}
	if all := h.KeyInformation; all.Lost*20 > all.Visible+all.Recoverable+all.Lost {
		d.doubt(h, "more than 5 % of the key information is lost")
	}
	if t := d.c.held.total; int64(p.runes()) > t*6/10 && t > 0 {
		d.doubt(h, fmt.Sprintf("over 60 %% of the text: %d of %d chars", p.runes(), t))
	}
}

func (d *draft) doubt(h *Header, why string) {
	if h.Verified {
		h.Verified, h.Reason = false, why
	}
}

// count sorts the key facts into those that stand in the text and those under an ID.
func (d *draft) count(h *Header, body string, p *page) {
	k := &h.KeyInformation
	for n := range d.c.humans.n {
		row := *d.c.humans.at(n)
		if _, ok := d.notes.asked[row]; ok || (p.state == "" && int(d.row(row).rec) >= p.recent.start) {
			k.Visible++
		} else {
			k.Recoverable++
		}
	}
	for _, f := range d.notes.facts {
		if strings.Contains(body, f.text) {
			k.Visible++
		} else {
			k.Recoverable++
		}
	}
	if i := d.c.lastRow; i >= 0 {
		if d.notes.answer == i || int(d.row(i).rec) >= p.recent.start {
			k.Visible++
		} else {
			k.Recoverable++
		}
	}
}

// uncovered counts the records with items that neither stand whole nor under one of the IDs of ranges.
func (d *draft) uncovered(out *Compaction, p *page) int {
	if len(out.Pointers) == 0 && !d.hides(p) {
		return 0
	}
	covered := make([]bool, d.last)
	for _, p := range out.Pointers {
		for s := range d.named[p.Hash.ID()] {
			for r := s.from; r < s.to && r < d.last; r++ {
				covered[r] = true
			}
		}
	}
	n := 0
	for rec, ok := range covered {
		if !ok && d.c.hasItems(rec) {
			n++
		}
	}
	return n
}

// longest is the longest line of a text, in chars.
func longest(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		n = max(n, lexicon.Chars(strings.TrimSuffix(line, "\n")))
	}
	return n
}
