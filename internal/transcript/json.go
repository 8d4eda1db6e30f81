package transcript

import (
	"bytes"
	"io"
	"iter"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a JSON value, where it stands. Its bytes have been validated (see values), so that walking it needs only to
// find where values end. The zero node is an absent value.
type node struct {
	raw []byte // no white space around it
	off int64  // of raw[0] in the file
}

// valid accepts what agents write: duplicate names (the last wins) and bytes that are not UTF-8 (kept as they are).
// Nesting is still cut by jsontext, at 10000 levels.
func valid(value []byte) bool {
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
	if valid(rest) {
		d.parse(d, r, node{rest, off})
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
		d.glued(r, node{rest[end-int64(len(value)) : end], off + end - int64(len(value))})
	}
}

// glued parses one of several values of a line: items add up, what is told once keeps its first value. The type is that
// of the first value that is more than bookkeeping.
func (d *Decoder) glued(r *Record, value node) {
	first := *r
	*r = Record{N: r.N, Span: r.Span, Raw: r.Raw, Hash: r.Hash, Items: r.Items}
	d.parse(d, r, value)
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

// is reports whether the value is there and begins with c: '{', '[', '"', 't', 'f', 'n'.
func (n node) is(c byte) bool { return len(n.raw) > 0 && n.raw[0] == c }

// has reports whether the value is there and is not null.
func (n node) has() bool { return len(n.raw) > 0 && n.raw[0] != 'n' }

// full reports whether the value is there and is neither null nor an empty string, list or object.
func (n node) full() bool {
	return n.has() && string(n.raw) != `""` && string(n.raw) != "[]" && string(n.raw) != "{}"
}

func (n node) isTrue() bool { return n.is('t') }

// integer returns a number's whole part, 0 where it is none.
func (n node) integer() int64 {
	if i, err := strconv.ParseInt(string(n.raw), 10, 64); err == nil {
		return i
	}
	f, err := strconv.ParseFloat(string(n.raw), 64)
	if err != nil || f != f || f > 1<<53 || f < -(1<<53) {
		return 0
	}
	return int64(f)
}

// maxTokens is more than any count of tokens; sums of a few are far from overflowing.
const maxTokens = 1 << 53

// tokens returns a whole number as a count, at most maxTokens. ok is false where the value is none. What is absent counts 0.
func (n node) tokens() (count int64, ok bool) {
	if len(n.raw) == 0 {
		return 0, true
	}
	f, err := strconv.ParseFloat(string(n.raw), 64)
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
	if len(line) == 0 || !valid(line) {
		return nil
	}
	for key := range (node{raw: line}).members() {
		names = append(names, string(key))
	}
	return names
}

// text returns a string's text, "" where the value is not a string.
func (n node) text() string {
	if !n.is('"') {
		return ""
	}
	return string(unquote(nil, n.raw))
}

// field returns the member of the name, the last of several.
func (n node) field(name string) (found node) {
	for key, value := range n.members() {
		if string(key) == name {
			found = value
		}
	}
	return found
}

// members gives an object's names (unescaped) and values, in order; nothing where it is not an object.
func (n node) members() iter.Seq2[[]byte, node] {
	return func(yield func([]byte, node) bool) {
		if !n.is('{') {
			return
		}
		for i := 1; ; {
			i = skipTo(n.raw, i)
			if n.raw[i] == '}' {
				return
			}
			end := skipString(n.raw, i)
			key := n.raw[i+1 : end-1]
			if bytes.IndexByte(key, '\\') >= 0 {
				key = unquote(nil, n.raw[i:end])
			}
			i = skipTo(n.raw, end)
			end = skipValue(n.raw, i)
			if !yield(key, node{n.raw[i:end], n.off + int64(i)}) {
				return
			}
			i = end
		}
	}
}

// elements gives a list's values, in order; nothing where it is not a list.
func (n node) elements() iter.Seq[node] {
	return func(yield func(node) bool) {
		if !n.is('[') {
			return
		}
		for i := 1; ; {
			i = skipTo(n.raw, i)
			if n.raw[i] == ']' {
				return
			}
			end := skipValue(n.raw, i)
			if !yield(node{n.raw[i:end], n.off + int64(i)}) {
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
