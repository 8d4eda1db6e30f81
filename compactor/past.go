package compactor

import (
	"slices"
	"sort"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// What the budget can never reach again becomes past: of 64 records only the hash, the place and the time are left,
// which is all that their range's marker needs. Rows that State tells of are kept. What goes when depends on the
// records and the options alone.
const (
	pastStep  = 4096    // records that go at once: a multiple of block
	reach     = 1 << 16 // records that always stay
	reachItem = 8       // items that may stay for each record of the reach
	keepFirst = 16      // human messages that stay for being the first
	keepLast  = 2048    // that stay for being the newest, at least
	askLeast  = 40      // chars that a human message takes at least where it is shown
)

// past is what is left of the first records.
type past struct {
	blocks []pastBlock
	levels []pastLevel
	chars  int64 // of the items, those of inline sub-agents left out
}

// pastBlock is 64 records.
type pastBlock struct {
	place        // from the first byte of the first record to the last of the last one, and the first item
	late  uint32 // as in recordRow, of the first record
	early int16
	items bool // they have items
}

// pastLevel has the hashes of ranges of one size, as mark.Combine gives them.
type pastLevel struct {
	size int // records
	done []mark.Hash
	open mark.Combiner
}

func newPast() *past {
	p := &past{}
	for size := block; size <= largest; size *= blockRatio {
		p.levels = append(p.levels, pastLevel{size: size, open: mark.NewCombiner()})
	}
	return p
}

// take adds the records from..to of c, whole blocks that follow those taken before.
func (p *past) take(c *Compactor, from, to int) {
	for rec := from; rec < to; rec++ {
		p.add(rec, mark.KeyID(c.records.at(rec).key))
	}
	for rec := from; rec < to; rec += block {
		r, b := c.records.at(rec), pastBlock{place: c.records.place(rec)}
		b.late, b.early = r.late, r.early
		b.span.Len = c.line(rec+block-1).End() - b.span.Off
		b.items = b.first < c.records.place(rec+block).first
		p.blocks = append(p.blocks, b)
	}
	for i := c.records.place(from).first; i < c.records.place(to).first; i++ {
		if row := c.rows.at(i); !row.has(side) {
			p.chars += int64(row.chars)
		}
	}
}

func (p *past) add(rec int, id mark.ID) {
	for n := range p.levels {
		l := &p.levels[n]
		l.open.Add(id)
		if (rec+1)%l.size == 0 {
			l.done, l.open = append(l.done, l.open.Hash()), mark.NewCombiner()
		}
	}
}

// recordOf is the first record of the block that item i was in.
func (p *past) recordOf(i int) uint32 {
	n := sort.Search(len(p.blocks), func(n int) bool { return p.blocks[n].first > i })
	return uint32(max(0, n-1) * block)
}

func (p *past) bytes() int64 {
	n := int64(cap(p.blocks)) * 40
	for _, l := range p.levels {
		n += int64(cap(l.done))*32 + 200
	}
	return n
}

// rangeHash is what mark.Combine gives of the records [s.from, s.to), and the range that it is of: where some of them are
// past, the next larger one whose ends are fixed.
func (c *Compactor) rangeHash(s stretch) (mark.Hash, stretch) {
	from, parts := s.from, mark.NewCombiner()
	if from < c.records.from && !(s.to == from+1 && c.records.keeps(from)) {
		l := c.past.level(s)
		s.from = s.from / l.size * l.size
		s.to = min(s.from+l.size, c.records.n)
		if n := s.from / l.size; n < len(l.done) {
			return l.done[n], s
		}
		from, parts = c.records.from, l.open.Clone()
	}
	for rec := from; rec < s.to; rec++ {
		parts.Add(mark.KeyID(c.records.at(rec).key))
	}
	return parts.Hash(), s
}

// level is the one with the smallest ranges of which one holds s, else the last.
func (p *past) level(s stretch) *pastLevel {
	for n := range p.levels {
		if l := &p.levels[n]; s.from/l.size == (s.to-1)/l.size {
			return l
		}
	}
	return &p.levels[len(p.levels)-1]
}

// settle makes the oldest records past, if there are too many.
func (c *Compactor) settle() {
	for c.overfull() {
		from, to := c.records.from, c.records.from+pastStep
		c.past.take(c, from, to)
		first := c.records.place(to).first
		c.dropHumans(first)
		keep := c.keepers(first)
		c.dropTexts(first, keep)
		records := make([]int32, 0, len(keep))
		for _, i := range keep {
			records = append(records, int32(c.rows.at(int(i)).rec))
		}
		c.rows.drop(first, keep)
		c.records.drop(to, slices.Compact(records))
	}
}

// overfull reports whether records have to go. Those of a message list never do: its ranges name each of them.
func (c *Compactor) overfull() bool {
	if c.session.Agent == transcript.Messages {
		return false
	}
	n, items := c.records.n-c.records.from, c.rows.n-c.rows.from
	return n >= c.reach+pastStep || n >= 2*pastStep && items >= c.reach*reachItem
}

// keepers are the items before the first one that stays that are still told of, ascending: those that the tables name,
// with what they are paired with, and the calls of results that stay.
func (c *Compactor) keepers(first int) []int32 {
	var keep []int32
	take := func(i int32) {
		if i < 0 || int(i) >= first {
			return
		}
		if row := c.rows.at(int(i)); !row.gone() {
			keep = append(keep, i)
		}
	}
	c.rowsTold(func(i int32) {
		take(i)
		if i >= 0 {
			take(c.rows.at(int(i)).pair)
		}
	})
	stays := func(i int32, row *itemRow) {
		if int(row.pair) >= first {
			keep = append(keep, i)
		}
	}
	for n, i := range c.rows.which {
		stays(i, &c.rows.kept[n])
	}
	for i := c.rows.from; i < first; i++ {
		stays(int32(i), c.rows.at(i))
	}
	slices.Sort(keep)
	return slices.Compact(keep)
}

// rowsTold gives the rows that the fold itself tells of; -1 among them.
func (c *Compactor) rowsTold(yield func(int32)) {
	yield(c.lastRow)
	yield(c.given)
	for i := range min(keepFirst, c.humans.n) {
		yield(*c.humans.at(i))
	}
	for i := c.humans.from; i < c.humans.n; i++ {
		yield(*c.humans.at(i))
	}
	for e := c.calls.newest; e != nil; e = e.older {
		yield(e.value.row)
	}
	c.tables.rowsTold(yield)
}

// hasItems reports whether a record has items; of one that is past, whether its block has.
func (c *Compactor) hasItems(rec int) bool {
	if rec < c.records.from {
		return c.past.blocks[rec/block].items
	}
	from, to := c.items(rec)
	return from < to
}

// dropHumans lets go which rows the human messages before an item have, but for the first and the newest ones.
func (c *Compactor) dropHumans(first int) {
	to := max(c.humans.from, c.humans.n-max(keepLast, c.o.budget()/askLeast))
	for to > c.humans.from && int(*c.humans.at(to - 1)) >= first {
		to--
	}
	keep := make([]int32, 0, keepFirst)
	for i := range int32(min(keepFirst, to)) {
		keep = append(keep, i)
	}
	c.humans.drop(to, keep)
}

// dropTexts lets go what is known of the messages before an item, but for those kept.
func (c *Compactor) dropTexts(first int, keep []int32) {
	var kept []int32
	told := func(n int32, row int32) {
		if _, ok := slices.BinarySearch(keep, row); ok {
			kept = append(kept, n)
		}
	}
	for n, t := range c.texts.kept {
		told(c.texts.which[n], t.row)
	}
	to := c.texts.from
	for ; to < c.texts.n && int(c.texts.at(to).row) < first; to++ {
		told(int32(to), c.texts.at(to).row)
	}
	c.texts.drop(to, kept)
}

// textOf finds the entry of a message, nil where the row is none or is past.
func (c *Compactor) textOf(i int32) *textRow {
	t := &c.texts
	if int(i) < c.rows.from {
		if n := sort.Search(len(t.kept), func(n int) bool { return t.kept[n].row >= i }); n < len(t.kept) && t.kept[n].row == i {
			return &t.kept[n]
		}
		return nil
	}
	n := t.from + sort.Search(t.n-t.from, func(n int) bool { return t.at(t.from+n).row >= i })
	if n == t.n || t.at(n).row != i {
		return nil
	}
	return t.at(n)
}
