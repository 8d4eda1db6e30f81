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

// sieve finds the lines that may contain an item with all terms, by their bytes and without decoding. It may return too many
// lines, never too few.
//
// JSON writes the characters of a string literally, except control characters, the quote and the backslash. So the parts of
// a text between these occur literally in the line, unless an escape `\uXXXX` replaces one of their characters. Lines with
// such escapes are always returned.
type sieve struct {
	runs []run // the rarest first; if empty, every line may match
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

// add adds the parts of a word that occur literally in a line.
func (s *sieve) add(word []rune) {
	begin := 0
	for i, r := range word {
		if plainInJSON(r) {
			continue
		}
		if i > begin {
			s.runs = append(s.runs, newRun(word[begin:i]))
		}
		if begin = i + 1; r == '"' || r == '\\' || r == '/' { // JSON may put a backslash before it, so it is a run of its own
			s.runs = append(s.runs, newRun([]rune{r}))
		}
	}
	if len(word) > begin {
		s.runs = append(s.runs, newRun(word[begin:]))
	}
}

// plainInJSON reports whether JSON writes a character literally or as `\uXXXX`, never as another escape.
func plainInJSON(r rune) bool {
	return r != '"' && r != '\\' && r != '/' && !unicode.IsControl(r) && r != unicode.ReplacementChar
}

// lines returns the lines of data that may contain a match, without their line ends, in order.
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

// unspelled reports whether a line contains all runs after its escapes are undone once or, for JSON within a string, twice.
func (s *sieve) unspelled(line []byte) bool {
	for range 2 {
		line = unescaped(line)
		if start, _ := s.runs[0].find(line, 0); start >= 0 && s.others(line) {
			return true
		}
	}
	return false
}

// unescaped undoes all JSON escapes.
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

// spelled returns the lines with an escape `\uXXXX` of a character that need not be escaped.
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

// unit decodes the escape `\uXXXX` at the beginning of b.
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
