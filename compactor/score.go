package compactor

import (
	"math/bits"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/compactor/prose"
	"ccd/internal/transcript"
)

// textRow is what is kept of a message beyond its row: how often later messages take up what it brought up.
type textRow struct {
	row   int32
	refs  uint16
	leans bool // holds words that tell what must or should be
	shape prose.Shape
}

// text notes a message, so that references to it can be counted.
func (c *Compactor) text(i int32, s prose.Shape) { c.texts.push(textRow{row: i, shape: s}) }

// refer counts a reference to the message that brought a term up.
func (c *Compactor) refer(first int32) {
	t := c.textOf(first)
	if t == nil || t.refs == 1<<16-1 {
		return
	}
	t.refs++
	c.mostRefs = max(c.mostRefs, t.refs)
}

// focused reports whether a text holds one of the words that the options put in focus.
func (o *Options) focused(text string) bool {
	if len(o.Focus) == 0 {
		return false
	}
	text = lexicon.Lower(text[:min(len(text), lexicon.Searched)])
	for _, w := range o.Focus {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// importance of a row, 0..1: for messages by what later ones take up, by what kind of words they hold, and a little by
// how new they are; for work by what it did.
func (d *draft) importance(i int32) float64 {
	row := d.row(i)
	m := prose.Matter{Newness: float64(i) / float64(max(1, d.c.rows.n)), Focused: row.has(focused)}
	switch row.kind {
	case transcript.Text, transcript.Human, transcript.Summary:
		if t := d.c.textOf(i); t != nil {
			m.References, m.Most = int(t.refs), int(d.c.mostRefs)
		}
		m.Decides, m.Corrects, m.Constrains = row.has(decides), row.has(corrects), row.has(constrains)
		return min(1, prose.Importance(m))
	}
	return min(1, prose.Importance(m)+d.workImportance(row))
}

// workImportance is how much a call or a result matters by what it did.
func (d *draft) workImportance(row *itemRow) float64 {
	switch {
	case row.has(failed | rejected):
		return 0.5
	case row.op == transcript.Write, row.op == transcript.Edit, row.op == transcript.Delete, row.op == transcript.Rename:
		return 0.2
	case row.op == transcript.Agent, row.op == transcript.Ask:
		return 0.4
	case row.has(errorLines) && row.op == transcript.Command:
		return 0.3
	case row.op == transcript.Command, row.op == transcript.Web:
		return 0.15
	}
	return 0
}

// scale is importance as the score uses it: 1..5, in power-of-two buckets.
func scale(importance float64) int64 { return int64(bucket(int(1 + 4*importance))) }

// ageStep is the age up to which everything is equally old, in milliseconds; from there on ages count in powers of two.
const ageStep = 15 * 60 * 1000

// ageOf is an item's age in quarters of an hour, as a power of two, 1 to 4096.
func (d *draft) ageOf(row *itemRow) int64 {
	n := d.age(row) / ageStep
	return 1 << min(12, bits.Len64(uint64(n)))
}

// score tells how soon an item gives way: the larger, older, more often said again and the less important, the sooner.
// Closed work gives way twice as soon.
func (d *draft) score(c *candidate) int64 {
	s := tokens(c.chars) * d.ageOf(d.row(c.unit.first)) * int64(1+c.copies) / scale(c.importance)
	if c.closed {
		s *= 2
	}
	return s
}

// worth tells how late an item's short form gives way to its range, the last ones being those worth most: messages
// before work of the same importance, which State tells too.
func (d *draft) worth(c *candidate) int {
	row := d.row(c.unit.first)
	w := int(16*c.importance) - bits.Len64(uint64(d.ageOf(row)))
	if row.kind == transcript.Text {
		w += 2
	}
	if c.closed {
		w -= 2
	}
	if c.copies > 0 {
		w -= 8
	}
	return w
}
