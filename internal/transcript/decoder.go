package transcript

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"iter"

	"ccd/internal/mark"
)

// Decoder turns the bytes of one generation of a session's file into records. It keeps what later lines need of
// earlier ones (an unfinished line, which call a result answers) and nothing that grows with the file.
// The records do not depend on how the bytes were cut into segments.
type Decoder struct {
	parse  Parser // nil: no record has items
	client *Client
	array  *array // how far a JSON array of messages is; nil where only lines can come

	Class Class
	n     int        // records given so far
	open  bool       // the last record had no line end
	end   int64      // offset behind it
	start int64      // offset of the unfinished line
	size  int64      // its bytes so far
	part  []byte     // its bytes, while they are not too many
	long  hash.Hash  // of its bytes, once they are too many to keep
	tools *callTable // which tool each call named
	Last  repeated   // strings that repeat from record to record
	rec   Record     // given anew for each line
	items []Item     // rec.Items' memory
	usage Usage      // rec.Usage's memory
	bound Boundary   // rec.Boundary's memory

	recent    ring // UUIDs of the last records
	titleRank int  // of the best title so far
	Chain     Chain
	Begun     bool // the header of the transcript has been read
	State     any  // what else an agent's parser keeps from record to record: bounded, and a function of the records alone
}

// Parser fills everything of r but N, Span, Raw and Hash from one JSON object of its line, which is known to be valid.
// Several values of one line are given in order; r.Items grows.
type Parser func(d *Decoder, r *Record, value Node)

// NewDecoder returns a decoder for a transcript of the agent. Class Main or SubAgent tells whose words a prompt is:
// in a sub-agent's file no line is Side and no prompt is Human. Of an Attachment, and of the zero Format, every line is
// a record without items.
func NewDecoder(f Format, class Class) *Decoder {
	d := &Decoder{Class: class, client: f.Client, parse: f.Parse, tools: newCallTable()}
	if d.client == nil {
		d.client = &Client{}
	}
	if class == Attachment {
		d.parse = nil
	} else if f.List || f.Member != "" {
		d.array = &array{member: f.Member}
	}
	return d
}

// Reopens reports whether the segment goes on with a line that Records gave without its end, at rest (Segment.Rest).
// Then the caller must fold again from the first byte with another Decoder.
func (d *Decoder) Reopens(seg Segment) bool {
	return d.open && len(seg.Data) > 0 && !d.ends(seg)
}

// ends reports whether the segment begins with the end of the line that was given without one.
func (d *Decoder) ends(seg Segment) bool {
	return d.open && d.array == nil && seg.Start.Offset == d.end && len(seg.Data) > 0 && seg.Data[0] == '\n'
}

// Torn returns the size of an unfinished line that is not one whole JSON object or array, 0 if there is none. Records
// has not given it yet; more bytes of it cost nothing.
func (d *Decoder) Torn() int64 {
	if line := bytes.TrimSpace(d.part); len(line) > 0 && bytes.IndexByte([]byte("}]"), line[len(line)-1]) >= 0 && Valid(line) {
		return 0
	}
	return d.size
}

// Records gives the records of the next segment, in order. The record and all that it holds are reused: they are
// valid until the next one. A line that goes on in the next segment is kept, at most MaxLine bytes of it. The sequence
// must be taken to its end, once.
func (d *Decoder) Records(seg Segment) iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		defer d.release()
		data, off := seg.Data, seg.Start.Offset
		if d.ends(seg) {
			data, off = data[1:], off+1
		}
		d.open = d.open && len(seg.Data) == 0
		if d.array != nil {
			data, off = d.array.begin(data, off, seg.Rest)
			if d.array.open {
				d.elements(data, off, seg.Rest, yield)
				return
			}
		}
		d.lines(data, off, seg.Rest, yield)
	}
}

func (d *Decoder) lines(data []byte, off int64, rest bool, yield func(*Record) bool) {
	for len(data) > 0 {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			d.keep(data, off)
			break
		}
		r := d.line(data[:i], off)
		data, off = data[i+1:], off+int64(i)+1
		if !yield(r) {
			return
		}
	}
	d.atRest(rest, yield)
}

// atRest gives what has not ended as a record, if nothing follows for now.
func (d *Decoder) atRest(rest bool, yield func(*Record) bool) {
	if rest && d.size > 0 {
		d.open, d.end = true, d.start+d.size
		yield(d.line(nil, 0))
	}
}

// Unlined reports whether the records so far are elements of one JSON value, not lines.
func (d *Decoder) Unlined() bool { return d.array != nil && d.array.open }

// Kept returns the bytes of memory that an unfinished line takes.
func (d *Decoder) Kept() int64 { return int64(cap(d.part)) }

// keep stores the beginning, or the next stretch, of a line that has not ended. A line that is too long leaves only
// its hash and its length.
func (d *Decoder) keep(data []byte, off int64) {
	if d.size == 0 {
		d.start = off
	}
	d.size += int64(len(data))
	if d.long == nil && d.size <= MaxLine {
		d.part = appendTight(d.part, data)
		return
	}
	if d.long == nil {
		d.long = sha256.New()
		d.long.Write(d.part)
		d.part = nil
	}
	d.long.Write(data)
}

// appendTight appends without ever reserving more than twice the need or MaxLine.
func appendTight(to, data []byte) []byte {
	need := len(to) + len(data)
	if need > cap(to) {
		to = append(make([]byte, 0, max(need, min(2*cap(to), MaxLine))), to...)
	}
	return append(to, data...)
}

// line gives the record of the line that ends with tail, which begins at off.
func (d *Decoder) line(tail []byte, off int64) *Record {
	if d.size == 0 && len(tail) <= MaxLine {
		return d.record(tail, off, mark.Sum(tail))
	}
	if len(tail) > 0 || d.size == 0 {
		d.keep(tail, off)
	}
	size, long, part := d.size, d.long, d.part
	d.size, d.long = 0, nil
	if d.part = part[:0]; cap(part) > keepLine {
		d.part = nil
	}
	if long == nil {
		return d.record(part, d.start, mark.Sum(part))
	}
	r := d.next(Span{d.start, size}, mark.Hash(long.Sum(nil)))
	r.Long = true
	return r
}

// What may outlive its use: a buffer of bytes, a list of items. Decoders at rest are many.
const (
	keepLine  = 4 << 10
	keepItems = 16
)

// release lets go of the segment's bytes.
func (d *Decoder) release() {
	d.rec = Record{}
	clear(d.items[:cap(d.items)])
	if cap(d.items) > keepItems {
		d.items = nil
	}
}

func (d *Decoder) next(span Span, sum mark.Hash) *Record {
	d.n++
	d.rec = Record{N: d.n, Span: span, Hash: sum, Items: d.items[:0], client: d.client}
	return &d.rec
}

func (d *Decoder) record(line []byte, off int64, sum mark.Hash) *Record {
	r := d.next(Span{off, int64(len(line))}, sum)
	r.Raw = line
	d.values(r, line)
	d.items = r.Items
	return r
}
