package fold

import (
	"slices"
	"sort"

	"ccd/internal/mark"
)

// Records that the budget can never reach again become past: only the hash, position and time of each block of 64 records are
// kept, which is all that a range's marker needs. Rows that a table refers to are kept. When a record becomes past depends
// only on the records and the options.
const (
	pastStep  = 4096    // records dropped at once, a multiple of block
	reach     = 1 << 16 // how many of the newest records are kept, at least; see overfull
	reachItem = 8       // items per record of the reach, above which fewer records are kept
	keepFirst = 16      // first human messages that are kept
	keepLast  = 2048    // newest human messages that are kept, at least
	askLeast  = 40      // minimum chars of a human message that is shown
)

// block is the number of records of the smallest range whose hash outlives its records. Larger ranges are eight times
// the next smaller one.
const (
	block      = 64
	largest    = block << 12
	blockRatio = 8
)

// past is what is kept of the first records.
type past struct {
	blocks []pastBlock
	levels []pastLevel
	chars  int64 // of the items, without those of inline sub-agents
}

// pastBlock is a block of 64 records.
type pastBlock struct {
	recordRow      // that of the first record, without its key; the span ends with the last record
	items     bool // the records have items
}

// pastLevel has the hashes of ranges of one size, as computed by mark.Combine.
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

// take adds the records [from, to), whole blocks that follow those added before.
func (p *past) take(f *Fold, from, to int) {
	for rec := from; rec < to; rec++ {
		p.add(rec, f.records.at(rec).key)
	}
	for rec := from; rec < to; rec += block {
		b := pastBlock{recordRow: *f.records.at(rec)}
		b.key, b.span.Len = 0, f.Line(rec+block-1).End()-b.span.Off
		b.items = b.first < f.records.at(rec+block).first
		p.blocks = append(p.blocks, b)
	}
	for i := f.records.at(from).first; i < f.records.at(to).first; i++ {
		if row := f.Row(i); !row.Has(Side) {
			p.chars += int64(row.Chars)
		}
	}
}

func (p *past) add(rec int, key uint64) {
	for n := range p.levels {
		l := &p.levels[n]
		l.open.AddKey(key)
		if (rec+1)%l.size == 0 {
			l.done, l.open = append(l.done, l.open.Hash()), mark.NewCombiner()
		}
	}
}

// recordOf returns the first record of the block that contained item i.
func (p *past) recordOf(i int) uint32 {
	n := sort.Search(len(p.blocks), func(n int) bool { return int(p.blocks[n].first) > i })
	return uint32(max(0, n-1) * block)
}

func (p *past) bytes() int64 {
	n := int64(cap(p.blocks)) * 48
	for _, l := range p.levels {
		n += int64(cap(l.done))*32 + 450
	}
	return n
}

// Range returns the hash of the records [from, to), as computed by mark.Combine, and the range that it covers: if some of
// them are past, the next larger range with fixed ends.
func (f *Fold) Range(from, to int) (h mark.Hash, actualFrom, actualTo int) {
	first, parts := from, mark.NewCombiner()
	if from < f.records.from && !(to == from+1 && f.records.keeps(from)) {
		l := f.past.level(from, to)
		from = from / l.size * l.size
		to = min(from+l.size, f.records.n)
		if n := from / l.size; n < len(l.done) {
			return l.done[n], from, to
		}
		first, parts = f.records.from, l.open.Clone()
	}
	for rec := first; rec < to; rec++ {
		parts.AddKey(f.records.at(rec).key)
	}
	return parts.Hash(), from, to
}

// level returns the level with the smallest ranges of which one contains the records [from, to), else the last level.
func (p *past) level(from, to int) *pastLevel {
	for n := range p.levels {
		if l := &p.levels[n]; from/l.size == (to-1)/l.size {
			return l
		}
	}
	return &p.levels[len(p.levels)-1]
}

// PastChars returns the chars of the items whose rows were dropped, without those of inline sub-agents.
func (f *Fold) PastChars() int64 { return f.past.chars }

// settle makes the oldest records past if there are too many.
func (f *Fold) settle() {
	for f.overfull() {
		from, to := f.records.from, f.records.from+pastStep
		f.past.take(f, from, to)
		first := int(f.records.at(to).first)
		f.dropHumans(first)
		keep := f.keepers(first)
		f.dropTexts(first, keep)
		records := make([]int32, 0, len(keep))
		for _, i := range keep {
			records = append(records, int32(f.rows.at(int(i)).Rec))
		}
		f.rows.drop(first, keep)
		f.secrets.drop(first, keep)
		f.records.drop(to, slices.Compact(records))
	}
}

// overfull reports whether records must become past, because there are too many of them or of their items. Those of a message
// list never do, because its ranges name each of them.
func (f *Fold) overfull() bool {
	if f.session.Unlined() {
		return false
	}
	n, items := f.records.n-f.records.from, f.rows.n-f.rows.from
	return n >= f.reach+pastStep || n >= 2*pastStep && items >= f.reach*reachItem
}

// keepers returns the items before first that must be kept, ascending: those that tables refer to, their pairs, and the calls
// of kept results.
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
	f.eachRow(func(i int32) {
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

// eachRow yields the rows that the fold refers to, and -1 for missing ones.
func (f *Fold) eachRow(yield func(int32)) {
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
	f.tables.eachRow(yield)
}

// HasItems reports whether a record has items. For a past record it reports whether the block has.
func (f *Fold) HasItems(rec int) bool {
	if rec < f.records.from {
		return f.past.blocks[rec/block].items
	}
	from, to := f.Items(rec)
	return from < to
}

// dropHumans drops the rows of the human messages before an item, except the first and the newest ones.
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

// dropTexts drops what is known of the messages before an item, except the kept ones.
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
