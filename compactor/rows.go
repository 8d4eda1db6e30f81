package compactor

import (
	"math"
	"time"
	"unsafe"

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
)

// itemRow is all that is kept of an item: where it is, what it is, how it hangs together with others.
type itemRow struct {
	off     int64
	key     uint64 // first 8 bytes of the hash of the raw span
	subject uint64 // what it is about: hash of the path, the command or the query; 0 where nothing
	size    uint32 // bytes of the raw span
	chars   uint32
	rec     uint32 // index of its record
	pair    int32  // index of the call of a result and of the result of a call, -1 where none
	edits   uint32 // of a file call: changes of its file before it
	exit    int16
	flags   flag
	tool    uint16 // index into names
	kind    transcript.Kind
	op      transcript.Op
}

func (r *itemRow) has(f flag) bool { return r.flags&f != 0 }

func (r *itemRow) span() transcript.Span { return transcript.Span{Off: r.off, Len: int64(r.size)} }

// record is the record's number in the transcript.
func (r *itemRow) record() int { return int(r.rec) + 1 }

// recordRow is all that is kept of a record.
type recordRow struct {
	off   int64
	key   uint64 // first 8 bytes of the hash of the line
	uuid  uint64 // hash of its UUID, 0 where it has none
	milli int64  // Unix time, 0 where it has none
	size  uint32 // bytes of the line; clamped, see Compactor.huge
	first uint32 // index of its first item; its items end where the next record's begin
}

func (r *recordRow) time() time.Time { return fromMilli(r.milli) }

func fromMilli(m int64) time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.UnixMilli(m).UTC()
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
	var zero T
	return int64(len(c.list)) * (chunk*int64(unsafe.Sizeof(zero)) + 8)
}

// items gives the indices of a record's items: from, and behind the last.
func (c *Compactor) items(rec int) (from, to int) {
	from, to = int(c.records.at(rec).first), c.rows.n
	if rec+1 < c.records.n {
		to = int(c.records.at(rec + 1).first)
	}
	return from, to
}

// line is the span of a record, without its line end.
func (c *Compactor) line(rec int) transcript.Span {
	r := c.records.at(rec)
	if n, ok := c.huge[rec]; ok {
		return transcript.Span{Off: r.off, Len: n}
	}
	return transcript.Span{Off: r.off, Len: int64(r.size)}
}

func (c *Compactor) pushRecord(r *transcript.Record) int {
	row := recordRow{off: r.Span.Off, key: r.Hash.Key(), first: uint32(c.rows.n)}
	if !r.Time.IsZero() {
		row.milli = r.Time.UnixMilli()
	}
	if r.UUID != "" {
		row.uuid = hashOf(r.UUID)
	}
	rec := c.records.n
	if r.Span.Len > math.MaxUint32 {
		c.huge[rec] = r.Span.Len
		row.size = math.MaxUint32
	} else {
		row.size = uint32(r.Span.Len)
	}
	return c.records.push(row)
}

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
