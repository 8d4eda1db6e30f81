package transcript

import "bytes"

// array is how far the reading of a message list is. A list is either one JSON array, each element of which becomes a
// record, or lines; the first byte that is not white space tells.
type array struct {
	member string // the array is this member of an object, which begins with a line of its own; "": it is the whole file
	told   bool   // it is known which
	head   []byte // while it is not: the white space so far
	start  int64  // offset of head
	open   bool   // it is an array
	begun  bool   // its opening bracket has been read
	ended  bool   // its closing bracket has been read
	kind   byte   // first byte of the element being read
	level  int    // of nesting in it
	quote  bool   // within a string of it
	skip   bool   // the last byte was a backslash in a string
}

// How much may stand before the bracket of an array: white space, and of an object the members before it.
const (
	maxHead   = 4096
	maxMember = 1 << 20
)

// begin tells whether an array or lines come, as soon as that can be told, and returns what is to be read now.
func (a *array) begin(data []byte, off int64, rest bool) ([]byte, int64) {
	if a.told {
		return data, off
	}
	if len(a.head) == 0 {
		a.start = off
	}
	all := append(a.head, data...)
	if a.member != "" {
		return a.beginMember(all, off)
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(all, []byte("\ufeff")), " \t\r\n")
	blank := len(all) - len(text)
	if len(text) == 0 && blank < maxHead && !rest {
		a.head = all
		return nil, off
	}
	a.open = len(text) > 0 && text[0] == '[' && blank < maxHead
	a.told, a.head = true, nil
	if a.open {
		return text, a.start + int64(len(all)-len(text))
	}
	return all, a.start
}

// beginMember is begin for an object. Of the object only the elements of the member are records.
func (a *array) beginMember(all []byte, off int64) ([]byte, int64) {
	text := bytes.TrimLeft(bytes.TrimPrefix(all, []byte("\ufeff")), " \t\r\n")
	object := len(text) < 2 || text[0] == '{' && (text[1] == '\n' || text[1] == '\r')
	i, name := -1, []byte("\n  \""+a.member+"\": [")
	if object {
		i = bytes.Index(all, name)
	}
	if i < 0 && object && len(all) < maxMember { // also at rest: the file may be half written
		a.head = bytes.Clone(all)
		return nil, off
	}
	a.told, a.open, a.head = true, i >= 0, nil
	if a.open {
		from := i + len(name) - 1
		return all[from:], a.start + int64(from)
	}
	return all, a.start
}

// elements gives a record for each element of the array, its span that of the element alone. What follows the array
// is given as records too, so that nothing is lost.
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

// next finds where the next element begins, and readies the scan of it.
func (a *array) next(data []byte, i int) int {
	for ; i < len(data); i++ {
		switch c := data[i]; {
		case a.member != "" && a.ended: // the object's other members
		case c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',':
		case c == '[' && !a.begun:
			a.begun = true
		case c == ']' && a.begun && !a.ended:
			a.ended = true
		default:
			a.kind, a.level, a.quote, a.skip = c, 0, false, false
			return i
		}
	}
	return i
}

// scan finds the end of the element that data begins or goes on with. More is whether it goes on.
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
