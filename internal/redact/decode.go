package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"unicode/utf8"

	"ccd/internal/lazy"
)

// view is a text that is part of another one, or was decoded from it.
type view struct {
	text     []byte
	of       *view // nil: the line itself
	from, to int   // the bytes of the other text
	how      encoding
	runs     []run // of undone escapes: noted when a secret is found
	depth    int
	token    token // the last one

	// Up to where percent encoding and escapes were decoded, keys, tables and commands read.
	percent, escapes, keys, rows, shell int
	manifest                            bool // it is one
}

// encoding is how a view's bytes stand for those of the other text.
type encoding int

const (
	plain   encoding = iota // each for one
	whole                   // each for all
	escapes                 // as its runs say
)

// run says where in the other text the bytes from byte at on stand: each for itself from byte src on, or, with n > 0, all of them in n bytes.
type run struct{ at, src, n int }

// part returns bytes [from, to) of a view as they are.
func (v *view) part(from, to int) *view {
	return &view{text: v.text[from:to], of: v, from: from, to: to, depth: v.depth}
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
	switch {
	case v.how == plain:
		return v.from + i, v.from + i + 1
	case v.how == whole:
		return v.from, v.to
	case v.runs == nil:
		v.of.unescape(nil, v.from, v.to, func(at, src, n int) { v.runs = append(v.runs, run{at, src, n}) })
	}
	n, found := slices.BinarySearchFunc(v.runs, i, func(r run, i int) int { return r.at - i })
	if !found {
		n--
	}
	r := v.runs[n]
	if r.n > 0 {
		return r.src, r.src + r.n
	}
	return r.src + i - r.at, r.src + i - r.at + 1
}

// escape begins a control sequence of a terminal, such as a colour.
const escape = 0x1b

// unescaped undoes one level of the JSON escapes of bytes [from, to) of a view, and leaves out the control sequences of a terminal. It
// returns out, whose memory it uses again.
func (v *view) unescaped(out *view, from, to int) *view {
	*out = view{of: v, from: from, to: to, how: escapes, depth: v.depth + 1, text: slices.Grow(out.text[:0], to-from)}
	out.text = v.unescape(out.text, from, to, nil)
	return out
}

// unescape appends to out what bytes [from, to) of a view stand for. If note is not nil, it gets the runs.
func (v *view) unescape(out []byte, from, to int, note func(at, src, n int)) []byte {
	text := v.text[:to]
	backslash, control := -1, -1 // where the next ones are
	for i := from; i < to; {
		if backslash < i {
			backslash = nextByte(text, i, '\\')
		}
		if control < i {
			control = nextByte(text, i, escape)
		}
		end := min(backslash, control)
		if note != nil && i < end {
			note(len(out), i, 0)
		}
		out = append(out, text[i:end]...)
		if i = end; i == to {
			break
		}
		n, c := 0, rune(escape)
		if text[i] != escape {
			n, c = unescape(text[i:])
		}
		if c == escape {
			i = afterSequence(text, i+max(n, 1))
			continue
		}
		if note != nil {
			note(len(out), i, n)
		}
		out = utf8.AppendRune(out, c)
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
	if i == len(text) || text[i] != '[' || bytes.HasPrefix(text[i:], []byte("[redacted ")) {
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
	if to-from < minEncoded || v.depth >= maxDepth || bytes.HasPrefix(text[from:], []byte("eyJ")) && to < len(text) && text[to] == '.' {
		return
	}
	if code := text[from : to-(to-from)%2]; isHex(code) {
		out, _ := hex.DecodeString(string(code))
		s.decoded(v, from, to, out)
		return
	}
	s.base64(v, from, to)
}

// base64 searches the text in a stretch [from, to) of base64 characters, if it is the encoding of one.
func (s *scan) base64(v *view, from, to int) {
	code, alphabet := v.text[from:to], base64.RawStdEncoding
	if len(code)%4 == 1 {
		code = code[:len(code)-1]
	}
	if bytes.IndexByte(code, '-') >= 0 || bytes.IndexByte(code, '_') >= 0 {
		alphabet = base64.RawURLEncoding
	}
	var head [minEncoded]byte
	if n, err := alphabet.Decode(head[:], code[:minEncoded]); err == nil && isText(head[:n]) {
		out, _ := alphabet.AppendDecode(nil, code)
		for to < len(v.text) && v.text[to] == '=' {
			to++
		}
		s.decoded(v, from, to, out)
	}
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

var percent = lazy.Regexp(`%[0-9A-Fa-f]{2}`)

// decoded searches what bytes [from, to) of a view stand for.
func (s *scan) decoded(v *view, from, to int, text []byte) {
	if isText(text[:min(len(text), 16)]) && v.depth < maxDepth {
		s.search(&view{of: v, from: from, to: to, how: whole, depth: v.depth + 1, text: text})
	}
}

func isText(text []byte) bool {
	return !slices.ContainsFunc(text, func(c byte) bool { return (c < ' ' || c >= 0x7f) && c != '\n' && c != '\t' && c != '\r' })
}
