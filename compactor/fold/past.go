package fold

import (
	"slices"
	"sort"

	"ccd/internal/mark"
)

// What the budget can never reach again becomes past: of 64 records only the hash, the place and the time are left,
// which is all that their range's marker needs. Rows that a table names are kept. What goes when depends on the
// records and the options alone.
const (
	pastStep  = 4096    // records that go at once: a multiple of block
	reach     = 1 << 16 // records that always stay
	reachItem = 8       // items that may stay for each record of the reach
	keepFirst = 16      // human messages that stay for being the first
	keepLast  = 2048    // that stay for being the newest, at least
	askLeast  = 40      // chars that a human message takes at least where it is shown
)

// block is the number of records of the smallest range whose hash outlives its records. Larger ranges are eight times
// the next smaller one.
const (
	block      = 64
	largest    = block << 12
	blockRatio = 8
)

// stretch is a span of records [from, to).
type stretch struct{ from, to int }

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
func (p *past) take(f *Fold, from, to int) {
	for rec := from; rec < to; rec++ {
		p.add(rec, mark.KeyID(f.records.at(rec).key))
	}
	for rec := from; rec < to; rec += block {
		r, b := f.records.at(rec), pastBlock{place: f.records.place(rec)}
		b.late, b.early = r.late, r.early
		b.span.Len = f.Line(rec+block-1).End() - b.span.Off
		b.items = b.first < f.records.place(rec+block).first
		p.blocks = append(p.blocks, b)
	}
	for i := f.records.place(from).first; i < f.records.place(to).first; i++ {
		if row := f.rows.at(i); !row.Has(Side) {
			p.chars += int64(row.Chars)
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
func (f *Fold) rangeHash(s stretch) (mark.Hash, stretch) {
	from, parts := s.from, mark.NewCombiner()
	if from < f.records.from && !(s.to == from+1 && f.records.keeps(from)) {
		l := f.past.level(s)
		s.from = s.from / l.size * l.size
		s.to = min(s.from+l.size, f.records.n)
		if n := s.from / l.size; n < len(l.done) {
			return l.done[n], s
		}
		from, parts = f.records.from, l.open.Clone()
	}
	for rec := from; rec < s.to; rec++ {
		parts.Add(mark.KeyID(f.records.at(rec).key))
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

// Range returns the hash of the records [from, to), as mark.Combine gives it, and the range that it is of: where some of
// them are past, the next larger one whose ends are fixed.
func (f *Fold) Range(from, to int) (h mark.Hash, actualFrom, actualTo int) {
	h, s := f.rangeHash(stretch{from, to})
	return h, s.from, s.to
}

// PastChars is the chars of the items whose rows are gone, those of inline sub-agents left out.
func (f *Fold) PastChars() int64 { return f.past.chars }

// settle makes the oldest records past, if there are too many.
func (f *Fold) settle() {
	for f.overfull() {
		from, to := f.records.from, f.records.from+pastStep
		f.past.take(f, from, to)
		first := f.records.place(to).first
		f.dropHumans(first)
		keep := f.keepers(first)
		f.dropTexts(first, keep)
		records := make([]int32, 0, len(keep))
		for _, i := range keep {
			records = append(records, int32(f.rows.at(int(i)).Rec))
		}
		f.rows.drop(first, keep)
		f.records.drop(to, slices.Compact(records))
	}
}

// overfull reports whether records have to go. Those of a message list never do: its ranges name each of them.
func (f *Fold) overfull() bool {
	if f.session.Unlined() {
		return false
	}
	n, items := f.records.n-f.records.from, f.rows.n-f.rows.from
	return n >= f.reach+pastStep || n >= 2*pastStep && items >= f.reach*reachItem
}

// keepers are the items before the first one that stays that are still told of, ascending: those that the tables name,
// with what they are paired with, and the calls of results that stay.
func (f *Fold) keepers(first int) []int32 {
	var keep []int32
	take := func(i int32) {
		if i < 0 || int(i) >= first {
			return
		}
		if row := f.rows.at(int(i)); !row.Gone() {
			keep = append(keep, i)
		}
	}
	f.rowsTold(func(i int32) {
		take(i)
		if i >= 0 {
			take(f.rows.at(int(i)).Pair)
		}
	})
	stays := func(i int32, row *Row) {
		if int(row.Pair) >= first {
			keep = append(keep, i)
		}
	}
	for n, i := range f.rows.which {
		stays(i, &f.rows.kept[n])
	}
	for i := f.rows.from; i < first; i++ {
		stays(int32(i), f.rows.at(i))
	}
	slices.Sort(keep)
	return slices.Compact(keep)
}

// rowsTold gives the rows that the fold itself tells of; -1 among them.
func (f *Fold) rowsTold(yield func(int32)) {
	yield(f.lastRow)
	yield(f.given)
	for i := range min(keepFirst, f.humans.n) {
		yield(*f.humans.at(i))
	}
	for i := f.humans.from; i < f.humans.n; i++ {
		yield(*f.humans.at(i))
	}
	for e := f.calls.newest; e != nil; e = e.older {
		yield(e.value.row)
	}
	f.tables.rowsTold(yield)
}

// HasItems reports whether a record has items; of one that is past, whether its block has.
func (f *Fold) HasItems(rec int) bool {
	if rec < f.records.from {
		return f.past.blocks[rec/block].items
	}
	from, to := f.Items(rec)
	return from < to
}

// dropHumans lets go which rows the human messages before an item have, but for the first and the newest ones.
func (f *Fold) dropHumans(first int) {
	to := max(f.humans.from, f.humans.n-max(keepLast, f.o.Budget()/askLeast))
	for to > f.humans.from && int(*f.humans.at(to - 1)) >= first {
		to--
	}
	keep := make([]int32, 0, keepFirst)
	for i := range int32(min(keepFirst, to)) {
		keep = append(keep, i)
	}
	f.humans.drop(to, keep)
}

// dropTexts lets go what is known of the messages before an item, but for those kept.
func (f *Fold) dropTexts(first int, keep []int32) {
	var kept []int32
	told := func(n int32, row int32) {
		if _, ok := slices.BinarySearch(keep, row); ok {
			kept = append(kept, n)
		}
	}
	for n, t := range f.texts.kept {
		told(f.texts.which[n], t.Row)
	}
	to := f.texts.from
	for ; to < f.texts.n && int(f.texts.at(to).Row) < first; to++ {
		told(int32(to), f.texts.at(to).Row)
	}
	f.texts.drop(to, kept)
}
