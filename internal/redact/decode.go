package redact

import (
	"bytes"
	"cmp"
	"unicode/utf8"
)

// part returns a view of text, which was decoded from the bytes of v from byte off on; at has where each byte began there.
func (v *view) part(text []byte, at []int32, off int) *view {
	out := &view{text: text, at: make([]int32, len(at))}
	for i, p := range at {
		out.at[i] = int32(off) + p
		if v.at != nil {
			out.at[i] = v.at[out.at[i]]
		}
	}
	return out
}

// unescaped undoes the JSON escapes of bytes [i, to) of a text, of all levels at once: a JSON text within a string escapes its
// quotes again.
func unescaped(line []byte, i, to int) *view {
	line = line[:to]
	v := &view{text: make([]byte, 0, to-i), at: make([]int32, 0, to-i+1)}
	put := func(at int, text ...byte) {
		for _, c := range text {
			v.text, v.at = append(v.text, c), append(v.at, int32(at))
		}
	}
	backslash, control := -1, -1 // where the next ones are
	for i < len(line) {
		if backslash < i {
			backslash = nextByte(line, i, '\\')
		}
		if control < i {
			control = nextByte(line, i, escape)
		}
		end := min(backslash, control) // most bytes are plain, and are taken at once
		v.text = append(v.text, line[i:end]...)
		at := v.at[len(v.at):len(v.text)]
		for n := range at {
			at[n] = int32(i + n)
		}
		v.at = v.at[:len(v.text)]
		if i = end; i == len(line) {
			break
		}
		if line[i] == escape {
			i = cmp.Or(afterSequence(line, i+1), i+1)
			continue
		}
		from := i
		for i < len(line) && line[i] == '\\' {
			i++
		}
		if i == len(line) {
			put(from, '\\')
			break
		}
		if end := sequence(line, i); end > 0 {
			i = end
			continue
		}
		switch c := line[i]; c {
		case 'n':
			put(from, '\n')
		case 'r':
			put(from, '\r')
		case 't':
			put(from, '\t')
		case '"', '/', '\'':
			put(from, c)
		case 'u':
			if i+4 < len(line) {
				a, ok := unhex(line[i+1], line[i+2])
				b, ok2 := unhex(line[i+3], line[i+4])
				if ok && ok2 {
					put(from, utf8.AppendRune(nil, rune(a)<<8|rune(b))...)
					i += 4
					break
				}
			}
			put(from, c)
		default:
			put(from, '\\', c)
		}
		i++
	}
	v.at = append(v.at, int32(len(line)))
	return v
}

// nextByte returns where the first c from byte i on is, or the length of text.
func nextByte(text []byte, i int, c byte) int {
	if n := bytes.IndexByte(text[i:], c); n >= 0 {
		return i + n
	}
	return len(text)
}

// sequence returns the end of the control sequence of a terminal that begins with the JSON escape after the backslash before
// byte i, 0 if there is none.
func sequence(line []byte, i int) int {
	if !bytes.HasPrefix(line[i:], []byte("u001b")) && !bytes.HasPrefix(line[i:], []byte("u001B")) {
		return 0
	}
	return cmp.Or(afterSequence(line, i+len("u001b")), i+len("u001b"))
}

// afterSequence returns the end of the control sequence after the escape character before byte i, 0 if there is none.
func afterSequence(line []byte, i int) int {
	if i == len(line) || line[i] != '[' {
		return 0
	}
	for i++; i < len(line) && (line[i] >= '0' && line[i] <= '?'); {
		i++
	}
	return min(i+1, len(line))
}

func unhex(a, b byte) (byte, bool) {
	if classes[a]&hexDigit == 0 || classes[b]&hexDigit == 0 {
		return 0, false
	}
	return nibble(a)<<4 | nibble(b), true
}

func nibble(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return fold(c) - 'a' + 10
}

// percents searches what is percent-encoded.
func (s *scan) percents(v *view, depth int) {
	text := v.text
	for to, done := 0, 0; ; {
		i := bytes.IndexByte(text[to:], '%')
		if i < 0 {
			return
		}
		i += to
		if from := shortBefore(text, i); from < i && from >= done {
			done = s.stretch(v, from, minToken, depth)
		}
		if to = i + 1; i+2 >= len(text) || classes[text[i+1]]&classes[text[i+2]]&hexDigit == 0 {
			continue
		}
		for i > 0 && classes[text[i-1]]&inToken != 0 {
			i--
		}
		i = afterEscape(text, i)
		for to < len(text) && classes[text[to]]&inToken != 0 {
			to++
		}
		out, at := unpercent(text[i:to])
		s.within(v.part(out, at, i), depth+1)
	}
}

// shortBefore returns where a stretch begins that ends before byte i and that stretches skipped, because it is short and has
// no digit, or i. With a '%' after it, it may be part of a longer token.
func shortBefore(text []byte, i int) int {
	from := i
	for from > 0 && i-from < longToken && text[from-1] >= '+' && text[from-1] < 0x80 {
		if from--; classes[text[from]]&digit != 0 {
			return i
		}
	}
	if i-from < minToken || i-from == longToken {
		return i
	}
	return from
}

// unpercent undoes percent-encoding.
func unpercent(text []byte) (out []byte, at []int32) {
	for i := 0; i < len(text); i++ {
		at = append(at, int32(i))
		if text[i] == '%' && i+2 < len(text) {
			if c, ok := unhex(text[i+1], text[i+2]); ok {
				out = append(out, c)
				i += 2
				continue
			}
		}
		out = append(out, text[i])
	}
	return out, append(at, int32(len(text)))
}

// minEncoded is the length of the shortest text in base64 or hexadecimal that is decoded.
const minEncoded = 20

// encoded searches the text in a segment [from, to) of base64 characters, if it is the encoding of one, or a line of a
// private key.
func (s *scan) encoded(t *token, from, to, depth int) {
	text := t.text
	if to-from >= 2*keyLine && t.keys <= from && t.has&digit != 0 {
		if bytes.Contains(text[max(0, from-keyGap):from], dashes) || bytes.Contains(text[to:min(len(text), to+keyGap)], dashes) {
			t.keys = s.keys(t.view, max(0, from-keyHead))
		}
	}
	if text[from] == '+' || text[from] == '-' { // a line of a diff
		from++
	}
	if bytes.HasPrefix(text[from:to], []byte("0x")) {
		from += len("0x")
	}
	if to-from < minEncoded {
		return
	}
	if first := text[from]; (first >= 'I' && first <= 'f' || first == 'C') && t.base64 <= from && !isToken(text[from:], to-from) {
		if readable64(text[from : from+16]) {
			out, at := unbase64(text[from:], to-from)
			t.base64 = from + int(at[len(at)-1])
			s.within(t.view.part(out, at, from), depth+1)
		}
	}
	if to-from < 2*minEncoded*4/5 || (to-from)%2 != 0 {
		return
	}
	for i := from; i < from+16; i += 2 {
		if c, ok := unhex(text[i], text[i+1]); !ok || !isReadable(c) {
			return
		}
	}
	var out []byte
	var at []int32
	for i := from; i+1 < to; i += 2 {
		c, ok := unhex(text[i], text[i+1])
		if !ok {
			break
		}
		out, at = append(out, c), append(at, int32(i-from))
	}
	s.within(t.view.part(out, append(at, int32(2*len(out))), from), depth+1)
}

// isToken reports whether n characters of base64 are the first part of a JSON web token, which is one secret as a whole.
func isToken(text []byte, n int) bool {
	return bytes.HasPrefix(text, []byte("eyJ")) && n < len(text) && text[n] == '.'
}

func isReadable(c byte) bool { return c >= ' ' && c < 0x7f || c == '\n' || c == '\t' || c == '\r' }

// readable64 reports whether whole groups of base64, in either alphabet, encode a readable text.
func readable64(text []byte) bool {
	for ; len(text) >= 4; text = text[4:] {
		n := uint32(sextets[text[0]])<<18 | uint32(sextets[text[1]])<<12 | uint32(sextets[text[2]])<<6 | uint32(sextets[text[3]])
		if !isReadable(byte(n>>16)) || !isReadable(byte(n>>8)) || !isReadable(byte(n)) {
			return false
		}
	}
	return true
}

// sextets are the values of the characters of base64.
var sextets = func() (t [256]byte) {
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		t[c] = byte(i)
	}
	t['-'], t['_'] = t['+'], t['/']
	return t
}()

// unbase64 decodes a text whose first line has n characters of base64. It continues in the next lines if they are the rest of
// a wrapped text. at has where in text the group of each byte begins.
func unbase64(text []byte, n int) (out []byte, at []int32) {
	var group [4]byte
	var k, first int
	flush := func() {
		bits := uint32(0)
		for i := range 4 {
			bits <<= 6
			if i < k {
				bits |= uint32(sextets[group[i]])
			}
		}
		for i := range max(0, k-1) {
			out, at = append(out, byte(bits>>(16-8*i))), append(at, int32(first))
		}
		k = 0
	}
	i := 0
	for i < len(text) {
		c := text[i]
		if classes[c]&base64Char != 0 {
			if k == 0 {
				first = i
			}
			group[k] = c
			if k++; k == 4 {
				flush()
			}
			i++
			continue
		}
		next := lineEnd(text[i:])
		if next == 0 || i < n || n < 60 || i+next >= len(text) || classes[text[i+next]]&base64Char == 0 {
			break
		}
		i += next
	}
	flush()
	return out, append(at, int32(i))
}

// lineEnd returns the length of the line end with which text begins, as it is or as an escape, 0 if there is none.
func lineEnd(text []byte) int {
	i := 0
	for i < len(text) && (text[i] == '\r' || text[i] == '\n') {
		i++
	}
	for i+1 < len(text) && text[i] == '\\' {
		n := i
		for n < len(text) && text[n] == '\\' {
			n++
		}
		if n == len(text) || text[n] != 'n' && text[n] != 'r' {
			break
		}
		i = n + 1
	}
	return i
}
