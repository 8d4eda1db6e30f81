package compactor

import (
	"math"
	"reflect"
	"sort"
	"time"

	"ccd/internal/transcript"
)

// flag is what detection saw in an item while its text was at hand.
type flag uint16

const (
	failed     flag = 1 << iota // a result: the tool or its exit status says so
	side                        // of an inline sub-agent: not of this context
	opens                       // the first item of a message
	errorLines                  // a result that holds lines that look like errors
	decides                     // assistant text with decision words
	corrects                    // human text with correction words
	constrains                  // human text with constraint words
	fenced                      // holds a code fence
	structured                  // is JSON
	exits                       // a result: its exit status is known
	rejected                    // a result: the human or a rule refused the call
	partial                     // a read of some lines only
	pictured                    // a result that holds images
	focused                     // holds a word in focus
)

// itemRow is all that is kept of an item: where it is, what it is, how it hangs together with others. It takes 40 bytes.
type itemRow struct {
	key     uint64 // first 8 bytes of the hash of the raw span
	rec     uint32 // index of its record
	chars   uint32
	pair    int32  // index of the call of a result and of the result of a call, -1 where none
	subject uint32 // what it is about: half of the hash that subjectOf gives; rarely, two share it
	edits   uint16 // of a file call: changes of its file before it, at most 65,535
	exit    int16
	flags   flag
	tool    uint16 // index into names
	kind    transcript.Kind
	op      transcript.Op
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

func (r *itemRow) has(f flag) bool { return r.flags&f != 0 }

// size is the bytes of the raw span.
func (r *itemRow) size() int64 { return r.length.int() }

// record is the record's number in the transcript.
func (r *itemRow) record() int { return int(r.rec) + 1 }

// span is where an item stands.
func (c *Compactor) span(r *itemRow) transcript.Span {
	return transcript.Span{Off: c.line(int(r.rec)).Off + r.from.int(), Len: r.size()}
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

// place tells where record i stands.
func (rs *recordRows) place(i int) place {
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

func (rs *recordRows) bytes() int64 {
	return rs.chunks.bytes() + int64(len(rs.bases))*24 + int64(len(rs.wide))*64
}

// chunk is the number of rows that are allocated at once: growing never copies what is there.
const chunk = 256

// chunks is a slice that grows without copying its elements.
type chunks[T any] struct {
	list []*[chunk]T
	n    int
}

func (c *chunks[T]) push(v T) int {
	if c.n == len(c.list)*chunk {
		c.list = append(c.list, new([chunk]T))
	}
	c.list[c.n/chunk][c.n%chunk] = v
	c.n++
	return c.n - 1
}

func (c *chunks[T]) at(i int) *T { return &c.list[i/chunk][i%chunk] }

func (c *chunks[T]) bytes() int64 {
	return int64(len(c.list)) * (chunk*int64(reflect.TypeFor[T]().Size()) + 8)
}

// aside keeps something for a few of the rows, pushed in their order.
type aside[T any] struct {
	rows   chunks[int32]
	values chunks[T]
}

func (a *aside[T]) push(row int32, v T) {
	a.rows.push(row)
	a.values.push(v)
}

// get returns what is kept for a row, nil where nothing is. It takes the logarithm of their number.
func (a *aside[T]) get(row int32) *T {
	i := sort.Search(a.rows.n, func(i int) bool { return *a.rows.at(i) >= row })
	if i == a.rows.n || *a.rows.at(i) != row {
		return nil
	}
	return a.values.at(i)
}

func (a *aside[T]) bytes() int64 { return a.rows.bytes() + a.values.bytes() }

// items gives the indices of a record's items: from, and behind the last.
func (c *Compactor) items(rec int) (from, to int) {
	from, to = c.records.place(rec).first, c.rows.n
	if rec+1 < c.records.n {
		to = c.records.place(rec + 1).first
	}
	return from, to
}

// line is the span of a record, without its line end.
func (c *Compactor) line(rec int) transcript.Span { return c.records.place(rec).span }

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
