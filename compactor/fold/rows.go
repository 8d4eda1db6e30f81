package fold

import (
	"math"
	"reflect"
	"slices"
	"time"

	"ccd/internal/transcript"
)

// Flag is what was seen in an item while its text was at hand.
type Flag uint16

// The flags.
const (
	Failed     Flag = 1 << iota // a result: the tool or its exit status says so
	Side                        // of an inline sub-agent: not of this context
	Opens                       // the first item of a message
	ErrorLines                  // a result that holds lines that look like errors
	Decides                     // assistant text with decision words
	Corrects                    // human text with correction words
	Constrains                  // human text with constraint words
	Exits                       // a result: its exit status is known
	Rejected                    // a result: the human or a rule refused the call
	Partial                     // a read of some lines only
	Pictured                    // a result that holds images
	Focused                     // holds a word in focus
	Claimed                     // a result: the tool's server poses as the client that reports what the human said
	Looks                       // a result of a command that only looks: lists, reads, searches or tests for existence
	Back                        // human text that the person took back; Subject is the record that did
)

// Row is all that is kept of an item: where it is, what it is, how it hangs together with others. It takes 40 bytes.
type Row struct {
	Key     uint64 // first 8 bytes of the hash of the raw span
	Rec     uint32 // index of its record
	Chars   uint32 // of the item's text as it stands; 0 of images and files
	Pair    int32  // index of the call of a result and of the result of a call, -1 where none
	Subject uint32 // what it is about: half of the hash that subjectOf gives; rarely, two share it
	Edits   uint16 // of a file call: changes of its file before it, at most 65,535
	Exit    int16  // of a result; of a human message its transcript.Frame
	Flags   Flag
	Tool    uint16 // its number, see Fold.Tool
	Kind    transcript.Kind
	Op      transcript.Op
	from    uint24 // where it begins in its record, bytes
	length  uint24 // bytes of the raw span: items stand in lines of at most transcript.MaxLine
}

// uint24 is a number below 16 MB in three bytes.
type uint24 [3]byte

func uint24Of(n int64) uint24 {
	n = max(0, min(n, 1<<24-1))
	return uint24{byte(n), byte(n >> 8), byte(n >> 16)}
}

func (u uint24) int() int64 { return int64(u[0]) | int64(u[1])<<8 | int64(u[2])<<16 }

// Frame is what a client put around the words of a human message.
func (r *Row) Frame() transcript.Frame { return transcript.Frame(r.Exit) }

// Has reports whether one of the flags is set.
func (r *Row) Has(f Flag) bool { return r.Flags&f != 0 }

// Size is the bytes of the raw span.
func (r *Row) Size() int64 { return r.length.int() }

// Record is the number of its record in the transcript, from 1 on.
func (r *Row) Record() int { return int(r.Rec) + 1 }

// Gone reports whether nothing is left of the item: it stands under its range.
func (r *Row) Gone() bool { return r.Key == 0 }

// Span is where an item stands in the transcript, bytes.
func (f *Fold) Span(r *Row) transcript.Span {
	return transcript.Span{Off: f.Line(int(r.Rec)).Off + r.from.int(), Len: r.Size()}
}

// itemRows are the rows of all items.
type itemRows struct {
	chunks[Row]
	past *past
}

// at is the row of item i; of one that is gone, or of no item at all, only about where it stood is left.
func (rs *itemRows) at(i int) *Row {
	if i >= rs.from {
		return rs.chunks.at(i)
	}
	r, ok := rs.old(i)
	if !ok {
		r.Rec = rs.past.recordOf(i)
	}
	return r
}

// recordRow is all that is kept of a record. It takes 24 bytes; what does not fit stands in records.wide.
type recordRow struct {
	key    uint64 // first 8 bytes of the hash of the line
	off    uint32 // from the begin of the first record of its chunk
	length uint32 // bytes of the line; isWide where the record stands in records.wide
	late   uint32 // its time, the low 32 of 48 bits
	early  int16  // the high 16 bits
	first  uint16 // its first item, from the first item of its chunk; its items end where the next record's begin
}

const isWide = math.MaxUint32

// milli is the record's Unix time in milliseconds, 0 where it has none.
func (r *recordRow) milli() int64 { return int64(r.early)<<32 | int64(r.late) }

func (r *recordRow) time() time.Time { return fromMilli(r.milli()) }

func (r *recordRow) setTime(t time.Time) {
	if t.IsZero() {
		return
	}
	m := max(math.MinInt16<<32, min(t.UnixMilli(), math.MaxInt16<<32)) // about 4,400 years each way
	r.early, r.late = int16(m>>32), uint32(m)
}

func fromMilli(m int64) time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.UnixMilli(m).UTC()
}

// place is where a record, and the first of its items, stand.
type place struct {
	span  transcript.Span
	first int
}

// recordRows are the rows of all records. Each chunk has the place of its first record, from which the others count.
// What is too far from it, lines over 4 GB among them, is kept whole: 256 records cannot be so without holding 4 GB or
// 65,535 items.
type recordRows struct {
	chunks[recordRow]
	bases []place
	wide  map[int]place
	past  *past
}

func (rs *recordRows) add(r *transcript.Record, first int) int {
	if rs.n%chunk == 0 {
		rs.bases = append(rs.bases, place{span: r.Span, first: first})
	}
	base := rs.bases[rs.n/chunk]
	row := recordRow{key: r.Hash.Key()}
	row.setTime(r.Time)
	off, items := r.Span.Off-base.span.Off, first-base.first
	if off < 0 || off > math.MaxUint32 || r.Span.Len >= isWide || items > math.MaxUint16 {
		if rs.wide == nil {
			rs.wide = map[int]place{}
		}
		rs.wide[rs.n] = place{span: r.Span, first: first}
		row.length = isWide
	} else {
		row.off, row.length, row.first = uint32(off), uint32(r.Span.Len), uint16(items)
	}
	return rs.push(row)
}

// at is the row of record i; of one that is gone only the time is left, that of its block's first.
func (rs *recordRows) at(i int) *recordRow {
	if i >= rs.from {
		return rs.chunks.at(i)
	}
	r, ok := rs.old(i)
	if !ok {
		r.late, r.early = rs.past.blocks[i/block].late, rs.past.blocks[i/block].early
	}
	return r
}

// place tells where record i stands; of one that is gone, where its block stands.
func (rs *recordRows) place(i int) place {
	if i < rs.from {
		if _, ok := rs.old(i); !ok {
			return rs.past.blocks[i/block].place
		}
	}
	r := rs.at(i)
	if r.length == isWide {
		return rs.wide[i]
	}
	base := &rs.bases[i/chunk]
	return place{
		span:  transcript.Span{Off: base.span.Off + int64(r.off), Len: int64(r.length)},
		first: base.first + int(r.first),
	}
}

// keeps reports whether a record before from was kept.
func (rs *recordRows) keeps(i int) bool {
	_, ok := rs.old(i)
	return ok
}

// drop lets the records before one go, but for those at the given indices, ascending.
func (rs *recordRows) drop(to int, keep []int32) {
	rs.chunks.drop(to, keep)
	for i := range rs.wide {
		if i < to && !rs.keeps(i) {
			delete(rs.wide, i)
		}
	}
}

func (rs *recordRows) bytes() int64 {
	return rs.chunks.bytes() + int64(len(rs.bases))*24 + int64(len(rs.wide))*64
}

// chunk is the number of rows that are allocated at once: growing never copies what is there.
const chunk = 256

// chunks is a slice that grows without copying its elements, and whose first ones can be dropped.
type chunks[T any] struct {
	list []*[chunk]T
	n    int // elements pushed so far
	from int // those before it are gone, but for the kept ones

	kept  []T
	which []int32 // their indices, ascending
	none  T       // what is told of one that is gone
	spare T
}

func (c *chunks[T]) push(v T) int {
	if c.n == len(c.list)*chunk {
		c.list = append(c.list, new([chunk]T))
	}
	c.list[c.n/chunk][c.n%chunk] = v
	c.n++
	return c.n - 1
}

// at returns an element. Of one that is gone it returns none, in a place that the next call may use again.
func (c *chunks[T]) at(i int) *T {
	if i < c.from {
		p, _ := c.old(i)
		return p
	}
	return &c.list[i/chunk][i%chunk]
}

// old is at for an element before from; ok reports that it was kept.
func (c *chunks[T]) old(i int) (v *T, ok bool) {
	if n, found := slices.BinarySearch(c.which, int32(i)); found {
		return &c.kept[n], true
	}
	c.spare = c.none
	return &c.spare, false
}

// drop lets the elements before one go, but for the ones at the given indices, ascending.
func (c *chunks[T]) drop(to int, keep []int32) {
	var kept []T
	var which []int32
	for _, i := range keep {
		if int(i) >= to {
			break
		}
		if int(i) >= c.from {
			kept, which = append(kept, *c.at(int(i))), append(which, i)
		} else if v, ok := c.old(int(i)); ok {
			kept, which = append(kept, *v), append(which, i)
		}
	}
	for n := c.from / chunk; n < to/chunk; n++ {
		c.list[n] = nil
	}
	c.from, c.kept, c.which = to, kept, which
}

// bytes is what the elements take.
func (c *chunks[T]) bytes() int64 {
	size := int64(reflect.TypeFor[T]().Size())
	return int64(len(c.list)-c.from/chunk)*chunk*size + int64(cap(c.list))*8 + int64(cap(c.kept))*size + int64(cap(c.which))*4
}

// Items gives the rows of a record's items: from, and behind the last. None are left of a record that is gone.
func (f *Fold) Items(rec int) (from, to int32) {
	from, to = int32(f.records.place(rec).first), int32(f.rows.n)
	if rec < f.records.from {
		return from, from
	}
	if rec+1 < f.records.n {
		to = int32(f.records.place(rec + 1).first)
	}
	return from, to
}

// Line is the span of a record, without its line end.
func (f *Fold) Line(rec int) transcript.Span { return f.records.place(rec).span }

// hashPath names a file in rows and tables.
func hashPath(path string) uint64 { return hashOf(transcript.PathKey(path)) }

// hashOf names a short string in rows and tables (FNV-1a, stable for ever). It is never 0.
func hashOf(parts ...string) uint64 {
	h := uint64(14695981039346656037)
	for i, p := range parts {
		if i > 0 {
			h = (h ^ 0xff) * 1099511628211
		}
		for j := range len(p) {
			h = (h ^ uint64(p[j])) * 1099511628211
		}
	}
	if h == 0 {
		return 1
	}
	return h
}
