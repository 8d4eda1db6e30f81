package transcript

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"hash"
	"hash/fnv"
	"iter"
	"slices"

	"ccd/internal/mark"
	"ccd/internal/redact"
)

// Decoder turns the bytes of one generation of a session's file into records. It keeps what later lines need of earlier
// ones (an unfinished line, the tool of each call), in bounded memory. The records do not depend on how the bytes were
// split into segments.
type Decoder struct {
	parse  Parser // nil: records have no items
	Client *Client
	array  *array // state of reading a JSON array of messages; nil if the file can only have lines

	Class   Class
	Redact  *redact.Session // what records leave out; nil: nothing
	n       int             // records so far
	open    bool            // the last record had no newline
	end     int64           // offset after it
	start   int64           // offset of the unfinished line
	size    int64           // its bytes so far
	part    []byte          // the bytes themselves, unless they are too many
	head    []byte          // then their first and last ones
	tail    []byte
	long    hash.Hash      // hash of the bytes if they are too many to keep
	tools   memory[string] // tool of each call
	Last    repeated       // strings that repeat from record to record
	rec     Record         // reused for each line
	items   []Item         // memory of rec.Items
	usage   Usage          // memory of rec.Usage
	bound   Boundary       // memory of rec.Boundary
	members Object         // memory of Object

	recent    []string         // UUIDs of the last records
	titles    memory[Node]     // titles of conversations, by the UUID of a record that was not read yet
	once      memory[struct{}] // the records that were read
	Apart     bool             // no record counts as written again: lines are read in any order, or twice
	titleRank int              // of the best title so far
	Chain     Chain
	said      memory[struct{}] // what a person said, by hash
	fresh     bool             // the agent compacted its context, and has said nothing since
	Begun     bool             // the header of the transcript was read
	joint     joint
	State     any // other state of an agent's parser; must be bounded and depend only on the records
}

// Parser fills r, except N, Span, Raw and Hash, from one valid JSON object of its line. Several objects of one line are
// passed in order; r.Items grows.
type Parser func(d *Decoder, r *Record, value Node)

// NewDecoder returns a decoder for a transcript of the agent. In a sub-agent's file (class SubAgent) no line is Side
// and no prompt is Human. For an Attachment, and for the zero Format, every line is a record without items.
func NewDecoder(f Format, class Class) *Decoder {
	d := &Decoder{Class: class, Client: f.Client, parse: f.Parse, Chain: Chain{links: memory[link]{most: maxChain}}, once: memory[struct{}]{most: maxOnce}}
	if class == Earlier {
		d.Class = Main
	}
	if d.Client == nil {
		d.Client = &Client{}
	}
	if class == Attachment {
		d.parse = nil
	} else if f.List || f.Member != "" {
		d.array = &array{member: f.Member}
	}
	return d
}

// ContinuesLine reports whether the segment continues a line that Records yielded without its end (Segment.Rest). Then
// the caller must fold again from the first byte with a new Decoder.
func (d *Decoder) ContinuesLine(seg Segment) bool {
	return d.open && len(seg.Data) > 0 && !d.endsLine(seg)
}

// endsLine reports whether the segment starts with the newline of that line.
func (d *Decoder) endsLine(seg Segment) bool {
	return d.open && d.array == nil && seg.Start.Offset == d.end && len(seg.Data) > 0 && seg.Data[0] == '\n'
}

// All yields the records of segments in order, up to the first error.
func (d *Decoder) All(segments iter.Seq2[Segment, error]) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		for seg, err := range segments {
			if err != nil {
				yield(nil, err)
				return
			}
			for r := range d.Records(seg) {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// Records yields the records of the next segment in order. A record and its contents are only valid until the next one.
// An unfinished line is kept for the next segment, up to MaxLine bytes. The sequence must be consumed completely, once.
func (d *Decoder) Records(seg Segment) iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		defer d.release()
		data, off := seg.Data, seg.Start.Offset
		if d.endsLine(seg) {
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

// atRest yields the unfinished line as a record if nothing follows for now.
func (d *Decoder) atRest(rest bool, yield func(*Record) bool) {
	if rest && d.size > 0 {
		d.open, d.end = true, d.start+d.size
		yield(d.line(nil, 0))
	}
}

// StateOf returns the decoder's State, a new one at first. A parser has one type of it.
func StateOf[T any](d *Decoder) *T {
	s, ok := d.State.(*T)
	if !ok {
		s = new(T)
		d.State = s
	}
	return s
}

// Names returns what a record is known by in other generations of its transcript: its UUID, or else its bytes; and what it says and
// when, "" if it says nothing, because a client may give UUIDs to the records of an older version.
func (r *Record) Names() (name, said string) {
	if len(r.Items) > 0 && !r.Time.IsZero() {
		h := fnv.New128a()
		h.Write([]byte(r.Time.String()))
		for i := range r.Items {
			it := &r.Items[i]
			sum := it.Sum()
			h.Write(append(sum[:], it.Call...))
		}
		said = string(h.Sum(nil))
	}
	if name = cmp.Or(r.UUID, said); name == "" {
		sum := r.Sum()
		name = string(sum[:])
	}
	return name, said
}

// Unlined reports whether the records so far are elements of one JSON value, not lines.
func (d *Decoder) Unlined() bool { return d.array != nil && d.array.open }

// Kept returns the memory of an unfinished line in bytes.
func (d *Decoder) Kept() int64 { return int64(cap(d.part)) }

// keep stores the next part of an unfinished line. Of a line over MaxLine it keeps only hash and length.
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
		d.head = append(bytes.Clone(d.part[:min(len(d.part), keepEnds)]), data[:min(len(data), max(0, keepEnds-len(d.part)))]...)
		d.tail, d.part = bytes.Clone(d.part[max(0, len(d.part)-keepEnds):]), nil
	}
	d.long.Write(data)
	if d.tail = append(d.tail, data[max(0, len(data)-keepEnds):]...); len(d.tail) > 2*keepEnds {
		d.tail = bytes.Clone(d.tail[len(d.tail)-keepEnds:])
	}
}

// appendTight appends without reserving more than twice the need or MaxLine.
func appendTight(to, data []byte) []byte {
	need := len(to) + len(data)
	if need > cap(to) {
		to = append(make([]byte, 0, max(need, min(2*cap(to), MaxLine))), to...)
	}
	return append(to, data...)
}

// line returns the record of the line at off that ends with tail.
func (d *Decoder) line(tail []byte, off int64) *Record {
	if d.size == 0 && len(tail) <= MaxLine {
		return d.record(tail, off)
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
		return d.record(part, d.start)
	}
	r := d.next(Span{d.start, size})
	r.sum = mark.Hash(long.Sum(nil))
	d.readEnds(r, d.head, d.tail)
	d.head, d.tail = nil, nil
	return r
}

// keepEnds is how many bytes of the two ends of a line over MaxLine are kept.
const keepEnds = 256 << 10

// readEnds parses what is kept of a line over MaxLine. If what is between lies in one text, as a picture does, all else is read;
// otherwise only what the line begins with.
func (d *Decoder) readEnds(r *Record, head, tail []byte) {
	r.Long, r.Unread = true, true
	cut := int64(len(head))
	line, whole := slices.Concat(head, tail[max(0, len(tail)-keepEnds):]), true
	if !Valid(bytes.TrimSpace(line)) {
		line, whole = CompleteObject(head), false
	}
	if line == nil {
		return
	}
	d.parseValue(r, Node{bytes.TrimSpace(d.redacted(r, line)), r.Span.Off})
	gap, items := r.Span.Len-int64(len(line)), r.Items
	r.Items = r.Items[:0]
	for _, it := range items {
		switch from, to := it.Span.Off-r.Span.Off, it.Span.End()-r.Span.Off; {
		case whole && from >= cut:
			it.Span.Off += gap
		case to > cut || !whole && !intact(head, line, from, to): // a part of it is missing
			r.Unread = !whole || it.Kind != Image
			continue
		}
		r.Items = append(r.Items, it)
	}
	r.exact, r.Marks = nil, nil
	d.items = r.Items
}

// intact reports whether a value of a line that was completed stands so in what the line begins with.
func intact(head, line []byte, from, to int64) bool {
	if !bytes.Equal(head[from:to], line[from:to]) {
		return false
	}
	return bytes.IndexByte([]byte(`"{[`), head[from]) >= 0 || to < int64(len(head)) && head[to] == '"'
}

// Limits for buffers kept between segments, because many decoders are idle.
const (
	keepLine  = 4 << 10
	keepItems = 16
)

// release drops references to the segment's bytes.
func (d *Decoder) release() {
	d.rec = Record{}
	clear(d.items[:cap(d.items)])
	if cap(d.items) > keepItems {
		d.items = nil
	}
	d.members = nil
}

func (d *Decoder) next(span Span) *Record {
	d.n++
	d.members = d.members[:0]
	d.Chain.record = d.n
	d.rec = Record{N: d.n, Span: span, Items: d.items[:0], client: d.Client}
	d.rec.Fork, d.rec.Back, d.rec.From, d.joint = d.joint.fork, d.joint.back, d.joint.from, joint{}
	return &d.rec
}

// redacted takes a record's line, and returns it without its secrets.
func (d *Decoder) redacted(r *Record, line []byte) []byte {
	r.exact, r.Marks = line, d.Redact.Marks(line)
	if len(r.Marks) == 0 {
		return line
	}
	return redact.Apply(line, 0, r.Marks)
}

func (d *Decoder) record(line []byte, off int64) *Record {
	r := d.next(Span{off, int64(len(line))})
	r.Raw = d.redacted(r, line)
	d.values(r, r.Raw)
	for i := range r.Items {
		it := &r.Items[i]
		r.Aborted = r.Aborted || it.Kind == Result && !it.Side && it.Failed && it.Explain(it.Tool, Other).Stopped
	}
	d.fresh = d.fresh && !r.Replies()
	r.Unread = r.Broken || r.Unknown && !r.UI && len(r.Items) == 0 && hasWords(r.Raw)
	d.items = r.Items
	return r
}

// Replacement returns the items of the new context in a boundary record (Boundary.Replaced): copies of earlier items,
// instructions, the summary. Their spans are inside the record. It is empty for other records.
func Replacement(r *Record) []Item {
	if r.Boundary == nil || !r.Boundary.Replaced || !Valid(r.Raw) || r.client == nil || r.client.Replacement == nil {
		return nil
	}
	held := Record{Span: r.Span, Marks: r.Marks, client: r.client, exact: r.exact}
	r.client.Replacement(NewDecoder(Format{Client: r.client}, Main), &held, Node{r.Raw, r.Span.Off})
	return held.Items
}

// array is the state of reading a message list. A list is either one JSON array, each element of which becomes a
// record, or lines. The first byte that is not white space decides.
type array struct {
	member  string // the array is this member of an object whose first line is its own; "": the array is the whole file
	decided bool   // array or lines was decided
	head    []byte // white space before the decision
	start   int64  // offset of head
	open    bool   // it is an array
	opened  bool   // the opening bracket was read
	ended   bool   // the closing bracket was read
	kind    byte   // first byte of the current element
	level   int    // nesting depth in it
	quote   bool   // inside a string of it
	skip    bool   // the last byte was a backslash in a string
}

// Limits for what precedes the bracket of an array: white space, and the members of the object before it.
const (
	maxHead   = 4096
	maxMember = 1 << 20
)

// begin decides between an array and lines as soon as possible, and returns the bytes to read now.
func (a *array) begin(data []byte, off int64, rest bool) ([]byte, int64) {
	if a.decided {
		return data, off
	}
	if len(a.head) == 0 {
		a.start = off
	}
	all := append(a.head, data...)
	at, waits := a.bracket(all, rest)
	if waits {
		a.head = bytes.Clone(all)
		return nil, off
	}
	a.decided, a.open, a.head = true, at >= 0, nil
	return all[max(at, 0):], a.start + int64(max(at, 0))
}

// bracket returns where the array begins, -1 if there is none; waits: more bytes will tell.
func (a *array) bracket(all []byte, rest bool) (at int, waits bool) {
	text := bytes.TrimLeft(bytes.TrimPrefix(all, []byte("\ufeff")), " \t\r\n")
	at = -1
	switch {
	case a.member == "":
		if waits = len(text) == 0 && !rest && len(all) < maxHead; len(text) > 0 && text[0] == '[' && len(all)-len(text) < maxHead {
			at = len(all) - len(text)
		}
	case len(text) < 2 || text[0] == '{' && (text[1] == '\n' || text[1] == '\r'):
		at = a.list(all)
		if rest && at < 0 && Valid(text) { // an object without such a member: one record
			at = len(all) - len(text)
		}
		waits = at < 0 && len(all) < maxMember // also at rest: the file may be half written
	}
	return at, waits
}

// list returns where the object's member that is the array begins, -1 if there is none.
func (a *array) list(all []byte) int {
	name := []byte("\n  \"" + a.member + "\": [")
	if i := bytes.Index(all, name); i >= 0 {
		return i + len(name) - 1
	}
	return -1
}

// elements yields a record for each element of the array, with the element's own span. Bytes after the array become
// records too, so that nothing is lost.
func (d *Decoder) elements(data []byte, off int64, rest bool, yield func(*Record) bool) {
	a := d.array
	for i := 0; i < len(data); {
		if d.size == 0 {
			if i = a.next(data, i); i == len(data) {
				break
			}
		}
		size, done := a.scan(data[i:], d.size > 0)
		if !done {
			d.keep(data[i:], off+int64(i))
			break
		}
		r := d.line(data[i:i+size], off+int64(i))
		i += size
		if !yield(r) {
			return
		}
	}
	d.atRest(rest, yield)
}

// next finds where the next element begins, and resets the scan.
func (a *array) next(data []byte, i int) int {
	for ; i < len(data); i++ {
		switch c := data[i]; {
		case a.member != "" && a.ended: // the object's other members
		case c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',':
		case c == '[' && !a.opened:
			a.opened = true
		case c == ']' && a.opened && !a.ended:
			a.ended = true
		default:
			a.kind, a.level, a.quote, a.skip = c, 0, false, false
			return i
		}
	}
	return i
}

// scan finds the end of the element that data begins or continues. more means that it began in an earlier call.
func (a *array) scan(data []byte, more bool) (size int, done bool) {
	nested := a.kind == '{' || a.kind == '[' || a.kind == '"'
	for i, c := range data {
		switch {
		case a.skip:
			a.skip = false
		case a.quote:
			a.skip = c == '\\'
			if a.quote = c != '"'; !a.quote && a.level == 0 {
				return i + 1, true
			}
		case !nested:
			if (more || i > 0) && ends[c] {
				return i, true
			}
		case c == '"':
			a.quote = true
		case c == '{' || c == '[':
			a.level++
		case c == '}' || c == ']':
			if a.level--; a.level <= 0 {
				return i + 1, true
			}
		}
	}
	return 0, false
}
