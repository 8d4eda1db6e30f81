package transcript

import (
	"bytes"
	"encoding/binary"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Spelled returns the lines with an escape `\uXXXX` of a character that need not be escaped.
func Spelled(data []byte) (found []Span) {
	for at := nextEscape(data, 0); at >= 0; at = nextEscape(data, at) {
		if r, ok := unit(data[at:]); !ok || r < ' ' {
			at += len(`\u`)
			continue
		}
		line := LineAround(data, at)
		found = append(found, line)
		at = int(line.End())
	}
	return found
}

// nextEscape returns the position of the next `\u` at or after at, -1 if there is none. It tests eight positions at a time for a
// backslash followed by a u, because backslashes are too frequent to be checked one by one.
func nextEscape(data []byte, at int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; at+9 <= len(data); at += 8 {
		a := binary.LittleEndian.Uint64(data[at:]) ^ ones*'\\'
		b := binary.LittleEndian.Uint64(data[at+1:]) ^ ones*'u'
		if (a-ones)&^a&(b-ones)&^b&highs == 0 { // no position is zero in both a and b
			continue
		}
		if i := bytes.Index(data[at:at+9], []byte(`\u`)); i >= 0 {
			return at + i
		}
	}
	if i := bytes.Index(data[min(at, len(data)):], []byte(`\u`)); i >= 0 {
		return at + i
	}
	return -1
}

// Unescaped undoes all JSON escapes.
func Unescaped(line []byte) []byte {
	out := make([]byte, 0, len(line))
	for {
		i := bytes.IndexByte(line, '\\')
		if i < 0 || i+1 == len(line) {
			return append(out, line...)
		}
		out = append(out, line[:i]...)
		r, ok := unit(line[i:])
		if !ok {
			out, line = append(out, line[i+1]), line[i+2:]
			continue
		}
		line = line[i+6:]
		if second, ok := unit(line); ok && utf16.DecodeRune(r, second) != unicode.ReplacementChar {
			r, line = utf16.DecodeRune(r, second), line[6:]
		}
		out = utf8.AppendRune(out, r)
	}
}

// LineAround returns the line of data that contains the byte at a position, without its line end.
func LineAround(data []byte, at int) Span {
	from := bytes.LastIndexByte(data[:at], '\n') + 1
	to := bytes.IndexByte(data[at:], '\n')
	if to < 0 {
		to = len(data) - at
	}
	return Span{Off: int64(from), Len: int64(at + to - from)}
}
