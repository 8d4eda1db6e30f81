package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// view is a text that is part of another one, or was decoded from it.
type view struct {
	text  []byte
	of    *view  // nil: the line itself
	from  int    // where a part begins
	runs  []run  // of a decoded text
	raw   [2]int // the bytes of the other text whose escapes were undone; its runs are found when a secret is
	notes bool   // runs, when it is decoded
	depth int
	token token // the last one

	// Up to where base64, percent encoding and escapes were decoded, keys, tables and lists of arguments read, and commands parsed.
	b64, percent, escapes, keys, rows, listed, shell int
	manifest                                         bool // it is one
}

// run says where in the other text the bytes from byte at on stand: each for itself from byte src on, or, with n > 0, all of them in n bytes.
type run struct{ at, src, n int32 }

// part returns bytes [from, to) of a view as they are.
func (v *view) part(from, to int) *view {
	return &view{text: v.text[from:to], of: v, from: from, depth: v.depth}
}

// plain appends bytes [from, to) of the other text.
func (v *view) plain(from, to int) {
	if v.notes && from < to {
		v.runs = append(v.runs, run{at: int32(len(v.text)), src: int32(from)})
	}
	v.text = append(v.text, v.of.text[from:to]...)
}

// unit appends bytes that stand for n bytes of the other text from byte src on.
func (v *view) unit(src, n int, text ...byte) {
	if v.notes {
		v.runs = append(v.runs, run{int32(len(v.text)), int32(src), int32(n)})
	}
	v.text = append(v.text, text...)
}

// source returns which bytes of the line a stretch of the view stands for.
func (v *view) source(from, to int) (int, int) {
	for ; v.of != nil; v = v.of {
		from, _ = v.at(from)
		_, to = v.at(to - 1)
	}
	return from, to
}

// at returns which bytes of the other text byte i stands for.
func (v *view) at(i int) (from, to int) {
	if v.runs == nil && v.raw[1] > 0 {
		v.runs = v.of.unescaped(&view{notes: true}, v.raw[0], v.raw[1]).runs
	}
	if v.runs == nil {
		return v.from + i, v.from + i + 1
	}
	n, found := slices.BinarySearchFunc(v.runs, int32(i), func(r run, i int32) int { return int(r.at) - int(i) })
	if !found {
		n--
	}
	r := v.runs[n]
	if from = int(r.src); r.n > 0 {
		return from, from + int(r.n)
	}
	from += i - int(r.at)
	return from, from + 1
}

// escape begins a control sequence of a terminal, such as a colour.
const escape = 0x1b

// unescaped undoes one level of the JSON escapes of bytes [from, to) of a view, and leaves out the control sequences of a terminal. It
// returns out, whose memory it uses again.
func (v *view) unescaped(out *view, from, to int) *view {
	text := v.text[:to]
	*out = view{of: v, depth: v.depth + 1, text: slices.Grow(out.text[:0], to-from), raw: [2]int{from, to}, notes: out.notes}
	backslash, control := -1, -1 // where the next ones are
	for i := from; i < to; {
		if backslash < i {
			backslash = nextByte(text, i, '\\')
		}
		if control < i {
			control = nextByte(text, i, escape)
		}
		end := min(backslash, control)
		out.plain(i, end)
		if i = end; i == to {
			break
		}
		n, c := 0, rune(escape)
		if text[i] != escape {
			n, c = unescape(text[i:])
		}
		switch {
		case n == 0, c == escape:
			n = afterSequence(text, i+max(n, 1)) - i
		case n == 1: // a backslash of the text
			out.plain(i, i+1)
		case c < utf8.RuneSelf:
			out.unit(i, n, byte(c))
		default:
			out.unit(i, n, utf8.AppendRune(nil, c)...)
		}
		i += n
	}
	return out
}

// again searches the line around byte i of a text without its escapes and control sequences.
func (s *scan) again(v *view, i int) {
	if i >= v.escapes {
		from := bytes.LastIndexByte(v.text[:i], '\n') + 1
		v.escapes = nextByte(v.text, i, '\n')
		s.search(v.unescaped(&view{}, from, v.escapes))
	}
}

// unescape returns the length of the escape with which text begins and what it stands for. The length is 1 if it is none.
func unescape(text []byte) (int, rune) {
	if len(text) < 2 {
		return 1, '\\'
	}
	switch c := text[1]; c {
	case 'n':
		return 2, '\n'
	case 'r':
		return 2, '\r'
	case 't':
		return 2, '\t'
	case '"', '\\', '/', '\'':
		return 2, rune(c)
	case 'u':
		if len(text) >= 6 {
			if c, err := strconv.ParseUint(string(text[2:6]), 16, 16); err == nil {
				return 6, rune(c)
			}
		}
	}
	return 1, '\\'
}

// nextByte returns where the first c from byte i on is, or the length of text.
func nextByte(text []byte, i int, c byte) int {
	if n := bytes.IndexByte(text[i:], c); n >= 0 {
		return i + n
	}
	return len(text)
}

// afterSequence returns the end of the control sequence after the escape character before byte i.
func afterSequence(text []byte, i int) int {
	if i == len(text) || text[i] != '[' || bytes.HasPrefix(text[i:], redacted) {
		return i
	}
	for i++; i < len(text) && text[i] >= '0' && text[i] <= '?'; {
		i++
	}
	return min(i+1, len(text))
}

// minEncoded is the length of the shortest text in base64 or hexadecimal that is decoded.
const minEncoded = 20

// encoded searches the text in a stretch [from, to) of base64 characters, if it is the encoding of one. A secret in it is marked as a
// whole with what is around it, because both share characters.
func (s *scan) encoded(v *view, from, to int) {
	text := v.text
	if text[from] == '+' || text[from] == '-' { // a line of a diff
		from++
	}
	if bytes.HasPrefix(text[from:to], []byte("0x")) {
		from += len("0x")
	}
	if to-from < minEncoded || v.depth >= maxDepth || from < v.b64 || bytes.HasPrefix(text[from:], []byte("eyJ")) && to < len(text) && text[to] == '.' {
		return
	}
	if code := text[from : to-(to-from)%2]; isHex(code) {
		out, _ := hex.DecodeString(string(code))
		s.decoded(v, from, to, out)
		return
	}
	if !beginsText([16]byte(text[from:])) {
		return
	}
	if to-from >= 60 { // it continues in the next lines
		to = from + len(wrapped().Find(text[from:]))
	}
	code := strings.TrimRight(toURL.Replace(string(text[from:to])), "=")
	if len(code)%4 == 1 {
		code = code[:len(code)-1]
	}
	if out, err := base64.RawURLEncoding.DecodeString(code); err == nil {
		v.b64 = to
		s.decoded(v, from, to, out)
	}
}

// beginsText reports whether what begins with the code is the base64 of a text.
func beginsText(code [16]byte) bool {
	for i, c := range code {
		switch c {
		case '+':
			code[i] = '-'
		case '/':
			code[i] = '_'
		}
	}
	var head [12]byte
	_, err := base64.RawURLEncoding.Decode(head[:], code[:])
	return err == nil && isText(head[:])
}

// percents searches what the token around byte i stands for.
func (s *scan) percents(v *view, i int) {
	if t := v.tokenAt(i); i >= v.percent && t.to-t.from >= minToken {
		v.percent = t.to
		s.decoded(v, t.from, t.to, percent().ReplaceAllFunc(v.text[t.from:t.to], func(p []byte) []byte {
			c, _ := hex.DecodeString(string(p[1:]))
			return c
		}))
	}
}

var (
	percent = lazy(`%[0-9A-Fa-f]{2}`)
	toURL   = strings.NewReplacer("+", "-", "/", "_", "\n", "", "\r", "")
	wrapped = lazy(`^(?:[\w+/-]+\r?\n)*[\w+/-]+=*`)
)

// decoded searches what bytes [from, to) of a view stand for.
func (s *scan) decoded(v *view, from, to int, text []byte) {
	if isText(text[:min(len(text), 16)]) && v.depth < maxDepth {
		out := &view{of: v, depth: v.depth + 1, notes: true}
		out.unit(from, to-from, text...)
		s.search(out)
	}
}

func isText(text []byte) bool {
	return !slices.ContainsFunc(text, func(c byte) bool { return (c < ' ' || c >= 0x7f) && c != '\n' && c != '\t' && c != '\r' })
}
