package transcript

import (
	"bytes"
	"io"
	"iter"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Node is a JSON value, where it stands. Its bytes have been validated (see values), so that walking it needs only to
// find where values end. The zero Node is an absent value.
type Node struct {
	Raw []byte // no white space around it
	Off int64  // of raw[0] in the file
}

// Valid accepts what agents write: duplicate names (the last wins) and bytes that are not UTF-8 (kept as they are).
// Nesting is still cut by jsontext, at 10000 levels.
func Valid(value []byte) bool {
	return jsontext.Value(value).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// values parses the JSON values of the line: nearly always one, several where a crash glued two records together.
// What comes after a value that cannot be parsed is given up, and the record is Broken.
func (d *Decoder) values(r *Record, line []byte) {
	rest := line
	if r.N == 1 {
		rest = bytes.TrimPrefix(rest, []byte("\ufeff"))
	}
	rest = bytes.TrimLeft(rest, " \t\r")
	off := r.Span.Off + int64(len(line)-len(rest))
	rest = bytes.TrimRight(rest, " \t\r")
	if len(rest) == 0 {
		return
	}
	if Valid(rest) {
		d.take(r, Node{rest, off})
		return
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(rest), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		value, err := dec.ReadValue()
		if err != nil {
			r.Broken = err != io.EOF
			return
		}
		end := dec.InputOffset()
		d.glued(r, Node{rest[end-int64(len(value)) : end], off + end - int64(len(value))})
	}
}

// take parses a value. One that is no object is no record that any agent writes.
func (d *Decoder) take(r *Record, value Node) {
	switch {
	case d.parse == nil:
	case value.Is('{'):
		d.parse(d, r, value)
	default:
		r.Unknown = true
	}
}

// glued parses one of several values of a line: items add up, what is told once keeps its first value. The type is that
// of the first value that is more than bookkeeping.
func (d *Decoder) glued(r *Record, value Node) {
	first := *r
	*r = Record{N: r.N, Span: r.Span, Raw: r.Raw, Hash: r.Hash, Items: r.Items, client: r.client}
	d.take(r, value)
	if first.Type == "" {
		r.Unknown = r.Unknown || first.Unknown
		return
	}
	if !first.UI || r.UI {
		r.Type = first.Type
	}
	r.UI = first.UI && r.UI
	r.Unknown = first.Unknown || r.Unknown
	if r.Usage == nil {
		r.Usage = first.Usage
	}
	if first.Boundary != nil {
		r.Boundary = first.Boundary
	}
	if !first.Time.IsZero() {
		r.Time = first.Time
	}
	r.Back += first.Back
	if first.Resumed != nil {
		r.Resumed = first.Resumed
	}
	keep(&r.UUID, first.UUID)
	keep(&r.Model, first.Model)
	keep(&r.Cwd, first.Cwd)
	keep(&r.Branch, first.Branch)
	keep(&r.Version, first.Version)
	keep(&r.Title, first.Title)
	keep(&r.Agent, first.Agent)
}

// keep sets s to what was told first, if it was told.
func keep(s *string, first string) {
	if first != "" {
		*s = first
	}
}

// Is reports whether the value Is there and begins with c: '{', '[', '"', 't', 'f', 'n'.
func (n Node) Is(c byte) bool { return len(n.Raw) > 0 && n.Raw[0] == c }

// Has reports whether the value is there and is not null.
func (n Node) Has() bool { return len(n.Raw) > 0 && n.Raw[0] != 'n' }

// Full reports whether the value is there and is neither null nor an empty string, list or object.
func (n Node) Full() bool {
	return n.Has() && string(n.Raw) != `""` && string(n.Raw) != "[]" && string(n.Raw) != "{}"
}

// IsTrue reports whether the value is true.
func (n Node) IsTrue() bool { return n.Is('t') }

// Integer returns a number's whole part, 0 where it is none.
func (n Node) Integer() int64 {
	if i, err := strconv.ParseInt(string(n.Raw), 10, 64); err == nil {
		return i
	}
	f, err := strconv.ParseFloat(string(n.Raw), 64)
	if err != nil || f != f || f > 1<<53 || f < -(1<<53) {
		return 0
	}
	return int64(f)
}

// maxTokens is more than any count of tokens; sums of a few are far from overflowing.
const maxTokens = 1 << 53

// Tokens returns a whole number as a count, at most maxTokens. ok is false where the value is none. What is absent counts 0.
func (n Node) Tokens() (count int64, ok bool) {
	if len(n.Raw) == 0 {
		return 0, true
	}
	f, err := strconv.ParseFloat(string(n.Raw), 64)
	switch {
	case f >= maxTokens: // an overflow too, which is an error
		return maxTokens, true
	case err != nil || f < 0 || f != math.Trunc(f):
		return 0, false
	}
	return int64(f), true
}

// Keys returns the names of a line's JSON object, in order; nothing where it is no such object.
func Keys(line []byte) (names []string) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || !Valid(line) {
		return nil
	}
	for key := range (Node{Raw: line}).Members() {
		names = append(names, string(key))
	}
	return names
}

// Text returns a string's Text, "" where the value is not a string.
func (n Node) Text() string {
	if !n.Is('"') {
		return ""
	}
	return string(unquote(nil, n.Raw))
}

// Field returns the member of the name, the last of several.
func (n Node) Field(name string) (found Node) {
	for key, value := range n.Members() {
		if string(key) == name {
			found = value
		}
	}
	return found
}

// Members gives an object's names (unescaped) and values, in order; nothing where it is not an object.
func (n Node) Members() iter.Seq2[[]byte, Node] {
	return func(yield func([]byte, Node) bool) {
		if !n.Is('{') {
			return
		}
		for i := 1; ; {
			i = skipTo(n.Raw, i)
			if n.Raw[i] == '}' {
				return
			}
			end := skipString(n.Raw, i)
			key := n.Raw[i+1 : end-1]
			if bytes.IndexByte(key, '\\') >= 0 {
				key = unquote(nil, n.Raw[i:end])
			}
			i = skipTo(n.Raw, end)
			end = skipValue(n.Raw, i)
			if !yield(key, Node{n.Raw[i:end], n.Off + int64(i)}) {
				return
			}
			i = end
		}
	}
}

// Elements gives a list's values, in order; nothing where it is not a list.
func (n Node) Elements() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if !n.Is('[') {
			return
		}
		for i := 1; ; {
			i = skipTo(n.Raw, i)
			if n.Raw[i] == ']' {
				return
			}
			end := skipValue(n.Raw, i)
			if !yield(Node{n.Raw[i:end], n.Off + int64(i)}) {
				return
			}
			i = end
		}
	}
}

// skipTo returns the place of the next byte that is not white space, a comma or a colon.
func skipTo(b []byte, i int) int {
	for {
		switch b[i] {
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
		default:
			return i
		}
	}
}

// skipValue returns the end of the value that begins at i. It does not recurse: nesting is counted.
func skipValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
	default:
		for i < len(b) && !ends[b[i]] {
			i++
		}
		return i
	}
	for depth := 0; ; {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
}

// ends holds the bytes that end a number, true, false or null.
var ends = [256]bool{' ': true, '\t': true, '\r': true, '\n': true, ',': true, ']': true, '}': true}

// skipString returns the end of the string that begins at i. The backslashes before a quote are counted once for
// each quote, so that the whole is linear.
func skipString(b []byte, i int) int {
	for i++; ; i++ {
		i += bytes.IndexByte(b[i:], '"')
		n := i
		for b[n-1] == '\\' {
			n--
		}
		if (i-n)%2 == 0 {
			return i + 1
		}
	}
}
