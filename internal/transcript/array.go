package transcript

import "bytes"

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
	text := bytes.TrimLeft(bytes.TrimPrefix(all, []byte("\ufeff")), " \t\r\n")
	at, waits := -1, false // where the bracket is
	switch {
	case a.member == "":
		if waits = len(text) == 0 && !rest && len(all) < maxHead; len(text) > 0 && text[0] == '[' && len(all)-len(text) < maxHead {
			at = len(all) - len(text)
		}
	case len(text) < 2 || text[0] == '{' && (text[1] == '\n' || text[1] == '\r'):
		name := []byte("\n  \"" + a.member + "\": [")
		if i := bytes.Index(all, name); i >= 0 {
			at = i + len(name) - 1
		}
		waits = at < 0 && len(all) < maxMember // also at rest: the file may be half written
	}
	if waits {
		a.head = bytes.Clone(all)
		return nil, off
	}
	a.decided, a.open, a.head = true, at >= 0, nil
	return all[max(at, 0):], a.start + int64(max(at, 0))
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
