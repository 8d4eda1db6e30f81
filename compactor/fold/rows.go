package fold

import (
	"reflect"
	"slices"

	"ccd/internal/transcript"
)

// Flag is a property of an item, detected when its text was read.
type Flag uint16

// The flags.
const (
	Failed     Flag = 1 << iota // a result: the tool or its exit status says so
	Side                        // of an inline sub-agent, so not in this context
	Opens                       // the first item of a message
	ErrorLines                  // a result with lines that look like errors
	Decides                     // assistant text with decision words
	Corrects                    // human text with correction words
	Constrains                  // human text with constraint words
	Exits                       // a result: its exit status is known
	Rejected                    // a result: the human or a rule refused the call
	Partial                     // a read of some lines only
	Pictured                    // a result with images
	Focused                     // contains a word in focus
	Claimed                     // a result in which a tool's server imitates the client's report of the human's words
	Looks                       // a result of a command that only looks: lists, reads, searches or tests for existence
	Back                        // human text that the person took back; Subject is the record that did
)

// Row is everything that is kept of an item: its position, kind and relations. It takes 40 bytes.
type Row struct {
	Key     uint64 // first 8 bytes of the hash of the raw span
	Rec     uint32 // index of its record
	Chars   uint32 // length of the item's text; 0 for images and files
	Pair    int32  // index of a result's call or a call's result, -1 if none
	Subject uint32 // what it is about: half of the hash from subjectOf; collisions are rare
	Edits   uint16 // of a file call: changes of its file before it, at most 65,535
	Exit    int16  // of a result; of a human message its transcript.Frame
	Flags   Flag
	Tool    uint16 // its number, see Fold.Tool
	Kind    transcript.Kind
	Op      transcript.Op
	from    uint24 // byte offset in its record
	length  uint24 // bytes of the raw span, which is at most transcript.MaxLine
}

// uint24 is a number below 16 MB in three bytes.
type uint24 [3]byte

func uint24Of(n int64) uint24 {
	n = max(0, min(n, 1<<24-1))
	return uint24{byte(n), byte(n >> 8), byte(n >> 16)}
}

func (u uint24) int() int64 { return int64(u[0]) | int64(u[1])<<8 | int64(u[2])<<16 }

// Frame returns what a client put around the text of a human message.
func (r *Row) Frame() transcript.Frame { return transcript.Frame(r.Exit) }

// Has reports whether one of the flags is set.
func (r *Row) Has(f Flag) bool { return r.Flags&f != 0 }

// Size returns the length of the raw span in bytes.
func (r *Row) Size() int64 { return r.length.int() }

// Record returns the number of its record in the transcript, from 1.
func (r *Row) Record() int { return int(r.Rec) + 1 }

// Gone reports whether the item was dropped, so that only its range covers it.
func (r *Row) Gone() bool { return r.Key == 0 }

// Span returns the position of an item in the transcript, in bytes.
func (f *Fold) Span(r *Row) transcript.Span {
	return transcript.Span{Off: f.Line(int(r.Rec)).Off + r.from.int(), Len: r.Size()}
}

// itemRows are the rows of all items.
type itemRows struct {
	chunks[Row]
	past *past
}

// at returns the row of item i. If the item was dropped or never existed, only its record is set, approximately.
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

// recordRow is everything that is kept of a record. It takes 40 bytes.
type recordRow struct {
	key   uint64 // first 8 bytes of the hash of the line
	span  transcript.Span
	milli int64 // its Unix time, 0 if it has none
	first int32 // its first item; its items end where those of the next record begin
}

// recordRows are the rows of all records.
type recordRows struct {
	chunks[recordRow]
	past *past
}

func (rs *recordRows) add(r *transcript.Record, first int) int {
	row := recordRow{key: r.Hash.Key(), span: r.Span, first: int32(first)}
	if !r.Time.IsZero() {
		row.milli = r.Time.UnixMilli()
	}
	return rs.push(row)
}

// at returns the row of record i. For a dropped record it returns that of its block: the block's span, with the time and the
// first item of the block's first record.
func (rs *recordRows) at(i int) *recordRow {
	if i >= rs.from {
		return rs.chunks.at(i)
	}
	if r, ok := rs.old(i); ok {
		return r
	}
	return &rs.past.blocks[i/block].recordRow
}

// keeps reports whether a record before from was kept.
func (rs *recordRows) keeps(i int) bool {
	_, ok := rs.old(i)
	return ok
}

// chunk is the number of rows that are allocated at once, so that growing never copies existing rows.
const chunk = 256

// chunks is a slice that grows without copying its elements and whose first elements can be dropped.
type chunks[T any] struct {
	list []*[chunk]T
	n    int // elements pushed so far
	from int // elements before it were dropped, except the kept ones

	kept  []T
	which []int32 // their indices, ascending
	none  T       // returned for a dropped element
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

// at returns an element. For a dropped one it returns a copy of c.none, which is valid until the next call.
func (c *chunks[T]) at(i int) *T {
	if i < c.from {
		p, _ := c.old(i)
		return p
	}
	return &c.list[i/chunk][i%chunk]
}

// old is at for an element before from. ok reports whether it was kept.
func (c *chunks[T]) old(i int) (v *T, ok bool) {
	if n, found := slices.BinarySearch(c.which, int32(i)); found {
		return &c.kept[n], true
	}
	c.spare = c.none
	return &c.spare, false
}

// drop drops the elements before to, except those at the given ascending indices.
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

// bytes returns how many bytes the elements take.
func (c *chunks[T]) bytes() int64 {
	size := int64(reflect.TypeFor[T]().Size())
	return int64(len(c.list)-c.from/chunk)*chunk*size + int64(cap(c.list))*8 + int64(cap(c.kept))*size + int64(cap(c.which))*4
}

// Items returns the rows of a record's items, [from, to). A dropped record has none.
func (f *Fold) Items(rec int) (from, to int32) {
	from, to = f.records.at(rec).first, int32(f.rows.n)
	if rec < f.records.from {
		return from, from
	}
	if rec+1 < f.records.n {
		to = f.records.at(rec + 1).first
	}
	return from, to
}

// Line returns the span of a record, without its line end.
func (f *Fold) Line(rec int) transcript.Span { return f.records.at(rec).span }

// hashPath returns the key of a file in rows and tables.
func hashPath(path string) uint64 { return hashOf(transcript.PathKey(path)) }

// hashOf returns the key of a short string in rows and tables (FNV-1a, which never changes). It is never 0.
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
