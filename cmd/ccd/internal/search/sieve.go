package search

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"ccd/internal/transcript"
)

// sieve finds the lines that may hold an item in which all terms stand, by their bytes alone: no line is decoded for
// it. It may give too many, and never too few.
//
// JSON writes a character in a string as it is, but for the control characters, the quote and the backslash. So what
// stands in a text between two of these stands in the line as well, unless an escape `\uXXXX` spells one of its
// characters: lines with such escapes are always given.
type sieve struct {
	runs []run // the rarest first; empty: every line may
}

func newSieve(terms []term) sieve {
	var s sieve
	for _, t := range terms {
		for _, u := range t.runs {
			s.add(u.folded)
		}
	}
	s.sort()
	return s
}

func (s *sieve) sort() {
	slices.SortStableFunc(s.runs, func(a, b run) int {
		return cmp.Or(b.rarity()-a.rarity(), len(b.folded)-len(a.folded))
	})
}

// add takes the parts of a word that a line holds as they are.
func (s *sieve) add(word []rune) {
	begin := 0
	for i, r := range word {
		if plainInJSON(r) {
			continue
		}
		if i > begin {
			s.runs = append(s.runs, newRun(word[begin:i]))
		}
		if begin = i + 1; r == '"' || r == '\\' || r == '/' { // behind a backslash, but there
			s.runs = append(s.runs, newRun([]rune{r}))
		}
	}
	if len(word) > begin {
		s.runs = append(s.runs, newRun(word[begin:]))
	}
}

// plainInJSON reports whether a character is written as it is in a JSON string, or spelled `\uXXXX`.
func plainInJSON(r rune) bool {
	return r != '"' && r != '\\' && r != '/' && !unicode.IsControl(r) && r != unicode.ReplacementChar
}

// lines returns the lines of data that may hold a match, without their line ends, in order.
func (s *sieve) lines(data []byte) []transcript.Span {
	if len(s.runs) == 0 {
		return all(data)
	}
	var found []transcript.Span
	lead := &s.runs[0]
	p := lead.places(data)
	for at := p.from(0); at < len(data); {
		if _, _, ok := lead.around(data, at); !ok {
			at = p.from(at + 1)
			continue
		}
		line := lineAround(data, at)
		if s.others(data[line.Off:line.End()]) {
			found = append(found, line)
		}
		at = p.from(int(line.End()))
	}
	spelled := spelled(data)
	spelled = slices.DeleteFunc(spelled, func(line transcript.Span) bool { return !s.unspelled(data[line.Off:line.End()]) })
	if len(spelled) == 0 {
		return found
	}
	found = append(found, spelled...)
	slices.SortFunc(found, func(a, b transcript.Span) int { return cmp.Compare(a.Off, b.Off) })
	return slices.Compact(found)
}

// unspelled reports whether all runs stand in a line once its escapes are undone, or those of JSON within its strings.
func (s *sieve) unspelled(line []byte) bool {
	for range 2 {
		line = unescaped(line)
		if start, _ := s.runs[0].find(line, 0); start >= 0 && s.others(line) {
			return true
		}
	}
	return false
}

// unescaped undoes the escapes of JSON wherever they stand.
func unescaped(line []byte) []byte {
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

func (s *sieve) others(line []byte) bool {
	for i := range s.runs[1:] {
		if start, _ := s.runs[1+i].find(line, 0); start < 0 {
			return false
		}
	}
	return true
}

// spelled returns the lines with an escape `\uXXXX` that stands for a character which need not be escaped.
func spelled(data []byte) (found []transcript.Span) {
	for at := nextEscape(data, 0); at >= 0; at = nextEscape(data, at) {
		if r, ok := unit(data[at:]); !ok || r < ' ' {
			at += len(`\u`)
			continue
		}
		line := lineAround(data, at)
		found = append(found, line)
		at = int(line.End())
	}
	return found
}

// nextEscape returns where the next `\u` stands at or behind at, -1 where there is none. Backslashes are too frequent to
// be looked at one by one: eight bytes are compared at a time, and the eight behind each of them.
func nextEscape(data []byte, at int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; at+9 <= len(data); at += 8 {
		a := binary.LittleEndian.Uint64(data[at:]) ^ ones*'\\'
		b := binary.LittleEndian.Uint64(data[at+1:]) ^ ones*'u'
		if (a-ones)&^a&(b-ones)&^b&highs == 0 { // no byte of a is zero where that of b is
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

// unit reads the escape `\uXXXX` at the beginning of b.
func unit(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}

func lineAround(data []byte, at int) transcript.Span {
	from := bytes.LastIndexByte(data[:at], '\n') + 1
	to := bytes.IndexByte(data[at:], '\n')
	if to < 0 {
		to = len(data) - at
	}
	return transcript.Span{Off: int64(from), Len: int64(at + to - from)}
}

func all(data []byte) (lines []transcript.Span) {
	for at := 0; at < len(data); {
		line := lineAround(data, at)
		lines = append(lines, line)
		at = int(line.End()) + 1
	}
	return lines
}
