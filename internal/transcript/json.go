package transcript

import (
	"bytes"
	"cmp"
	"errors"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Node is a JSON value in a file. Its bytes are valid JSON (see values), so walking it only has to find where values
// end. The zero Node is an absent value.
type Node struct {
	Raw []byte // without surrounding white space
	Off int64  // of Raw[0] in the file
}

// Valid accepts JSON as agents write it, with duplicate names (the last one wins) and invalid UTF-8 (kept). jsontext
// limits nesting to 10000 levels.
func Valid(value []byte) bool {
	return jsontext.Value(value).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// values parses the JSON values of the line: usually one, several if a crash joined two records. If one cannot be parsed, the
// record is Broken, and what a crash cut off is skipped up to the record behind it.
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
		d.parseValue(r, Node{rest, off})
		return
	}
	broken := false
	for at := 0; at >= 0 && at < len(rest); {
		value, end := firstValue(rest[at:])
		if value != nil {
			d.addValue(r, Node{value, off + int64(at+end-len(value))})
			at += end
			continue
		}
		broken, at = true, d.wholeAfter(rest, at)
	}
	r.Broken = broken
}

// hasWords reports whether a value has a text of several words.
func hasWords(value []byte) bool {
	dec := jsontext.NewDecoder(bytes.NewBuffer(value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return false
		}
		if token.Kind() == '"' && strings.ContainsRune(strings.TrimSpace(token.String()), ' ') {
			return true
		}
	}
}

// firstValue returns the JSON value at the beginning of a text, and where it ends. It is nil if there is none: then end is where
// that shows.
func firstValue(text []byte) (value []byte, end int) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	value, err := dec.ReadValue()
	if err != nil {
		var at *jsontext.SyntacticError
		if errors.As(err, &at) {
			return nil, int(at.ByteOffset)
		}
		return nil, len(text)
	}
	return value, int(dec.InputOffset())
}

// mostSearched bounds how much is parsed to find a record in the rest of a line, as a multiple of its length.
const mostSearched = 16

// wholeAfter returns where the next record begins in a text whose value at from is cut off; -1 if there is none. A record reaches to the
// end of the text or to another one: a part of the cut one does not, or is none of the agent's.
func (d *Decoder) wholeAfter(text []byte, from int) int {
	for at, left := from, mostSearched*len(text); left > 0; {
		n := bytes.IndexByte(text[at+1:], '{')
		if n < 0 {
			break
		}
		at += 1 + n
		value, end := firstValue(text[at:])
		left -= end
		rest := bytes.TrimLeft(text[at+end:], " \t\r")
		if value != nil && (len(rest) == 0 || rest[0] == '{') && d.knows(value) {
			return at
		}
	}
	return -1
}

// knows reports whether a value is a record of a known type by itself.
func (d *Decoder) knows(value []byte) bool {
	r := NewDecoder(Format{Client: d.Client, Parse: d.parse}, d.Class).record(value, 0)
	return !r.Unknown && r.Type != ""
}

// parseValue parses a value. Only an object can be a record.
func (d *Decoder) parseValue(r *Record, value Node) {
	switch {
	case d.parse == nil:
	case value.Is('{'):
		d.parse(d, r, value)
	default:
		r.Unknown = true
	}
}

// addValue parses one of several values of a line. Their items are concatenated; other fields come from the first value
// that has them and is more than bookkeeping.
func (d *Decoder) addValue(r *Record, value Node) {
	first := *r
	*r = Record{N: r.N, Span: r.Span, Raw: r.Raw, Marks: r.Marks, Items: r.Items, client: r.client, exact: r.exact}
	d.parseValue(r, value)
	if first.Type == "" || first.UI && !r.UI {
		r.Unknown = r.Unknown || first.Unknown
		return
	}
	first.Model, first.Title = cmp.Or(first.Model, r.Model), cmp.Or(first.Title, r.Title)
	first.Items, first.Back, first.From, first.Unknown = r.Items, first.Back+r.Back, cmp.Or(first.From, r.From), first.Unknown || r.Unknown
	if first.APIError = first.APIError || r.APIError; first.Stand[0] == 0 {
		first.Stand = r.Stand
	}
	first.Usage, first.Boundary = cmp.Or(first.Usage, r.Usage), cmp.Or(first.Boundary, r.Boundary)
	*r = first
}

// CompleteObject returns the object at the beginning of a text. If it is cut off, the result has the members so far,
// with the available part of the last one's text. It is nil if the text is no object.
func CompleteObject(text []byte) []byte {
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	end, ends := 1, []byte("}") // end of the last whole member, and the closing brackets missing there
	var open []byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			from := i
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if i >= len(text) {
				cut := bytes.TrimRight(text[:max(from+1, len(text)-len(`\u0000`))], `\`)
				if whole := closed(cut, append([]byte{'"'}, open...)); Valid(whole) {
					return whole
				}
			}
		case '{', '[':
			open = append([]byte{c + 2}, open...)
		case '}', ']':
			if open = open[min(1, len(open)):]; len(open) == 0 {
				if whole := text[:i+1]; Valid(whole) {
					return whole
				}
				return nil
			}
		case ',':
			end, ends = i, open
		}
	}
	if whole := closed(text[:end], ends); Valid(whole) {
		return whole
	}
	return nil
}

func closed(text, ends []byte) []byte { return append(bytes.Clone(text), ends...) }

// Is reports whether the value is present and begins with c: '{', '[', '"', 't', 'f', 'n'.
func (n Node) Is(c byte) bool { return len(n.Raw) > 0 && n.Raw[0] == c }

// Has reports whether the value is present and not null.
func (n Node) Has() bool { return len(n.Raw) > 0 && n.Raw[0] != 'n' }

// Full reports whether the value is present, and not null or an empty string, list or object.
func (n Node) Full() bool {
	return n.Has() && string(n.Raw) != `""` && string(n.Raw) != "[]" && string(n.Raw) != "{}"
}

// IsTrue reports whether the value is true.
func (n Node) IsTrue() bool { return n.Is('t') }

// Integer returns a number's integer part, 0 if the value is no number.
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

// maxTokens exceeds any real token count; sums of a few do not overflow.
const maxTokens = 1 << 53

// Tokens returns an integer as a count, at most maxTokens. ok is false for other values. An absent value and null count 0.
func (n Node) Tokens() (count int64, ok bool) {
	if !n.Has() {
		return 0, true
	}
	f, err := strconv.ParseFloat(string(n.Raw), 64)
	switch {
	case f >= maxTokens: // an overflow, which is also an error
		return maxTokens, true
	case err != nil || f < 0 || f != math.Trunc(f):
		return 0, false
	}
	return int64(f), true
}

// Keys returns the names in a line's JSON object in order, none if it is no object.
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

// Text returns a string's text, "" if the value is not a string.
func (n Node) Text() string {
	if !n.Is('"') {
		return ""
	}
	return string(unquote(nil, n.Raw))
}

// Field returns the member with this name, the last one if there are several.
func (n Node) Field(name string) (found Node) {
	for key, value := range n.Members() {
		if string(key) == name {
			found = value
		}
	}
	return found
}

// Object is the members of a JSON object.
type Object []member

type member struct {
	name  []byte // unescaped
	value Node
}

// Object returns the members, none if the value is not an object.
func (n Node) Object() Object { return n.object(nil) }

func (n Node) object(to Object) Object {
	for name, value := range n.Members() {
		to = append(to, member{name, value})
	}
	return to
}

// Field returns the member with this name, the last one if there are several.
func (o Object) Field(name string) Node {
	for i := len(o) - 1; i >= 0; i-- {
		if string(o[i].name) == name {
			return o[i].value
		}
	}
	return Node{}
}

// First returns the first of these members that is present and not empty.
func (o Object) First(names ...string) Node {
	for _, name := range names {
		if n := o.Field(name); n.Full() {
			return n
		}
	}
	return Node{}
}

// Has reports whether all of these members are present and not null.
func (o Object) Has(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !o.Field(name).Has() })
}

// Tokens returns the sum of some counts, NoCount if one of them is invalid.
func (o Object) Tokens(names ...string) int64 {
	var counts []Node
	for _, name := range names {
		counts = append(counts, o.Field(name))
	}
	return SumTokens(counts...)
}

// SumTokens returns the sum of some counts, NoCount if one of them is invalid.
func SumTokens(counts ...Node) (sum int64) {
	for _, n := range counts {
		count, ok := n.Tokens()
		if !ok {
			return NoCount
		}
		sum += count
	}
	return sum
}

// Object is Node.Object in memory that is reused for the next record.
func (d *Decoder) Object(n Node) Object {
	from := len(d.members)
	d.members = n.object(d.members)
	return d.members[from:len(d.members):len(d.members)]
}

// Members yields an object's names (unescaped) and values in order, nothing if the value is not an object.
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

// Elements yields a list's values in order, nothing if the value is not a list.
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

// skipTo returns the position of the next byte that is not white space, a comma or a colon.
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

// skipValue returns the end of the value at i. It counts nesting instead of recursing.
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

// ends are the bytes that end a number, true, false or null.
var ends = [256]bool{' ': true, '\t': true, '\r': true, '\n': true, ',': true, ']': true, '}': true}

// skipString returns the end of the string at i, 0 if it does not end. It counts the backslashes before each quote once, so it is linear.
func skipString(b []byte, i int) int {
	for i++; ; i++ {
		next := bytes.IndexByte(b[i:], '"')
		if next < 0 {
			return 0
		}
		i += next
		n := i
		for b[n-1] == '\\' {
			n--
		}
		if (i-n)%2 == 0 {
			return i + 1
		}
	}
}
