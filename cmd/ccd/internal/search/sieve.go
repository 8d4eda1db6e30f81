package search

import (
	"cmp"
	"slices"
	"unicode"

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
		line := transcript.LineAround(data, at)
		if s.others(data[line.Off:line.End()]) {
			found = append(found, line)
		}
		at = p.from(int(line.End()))
	}
	spelled := transcript.Spelled(data)
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
		line = transcript.Unescaped(line)
		if start, _ := s.runs[0].find(line, 0); start >= 0 && s.others(line) {
			return true
		}
	}
	return false
}

func (s *sieve) others(line []byte) bool {
	for i := range s.runs[1:] {
		if start, _ := s.runs[1+i].find(line, 0); start < 0 {
			return false
		}
	}
	return true
}

func all(data []byte) (lines []transcript.Span) {
	for at := 0; at < len(data); {
		line := transcript.LineAround(data, at)
		lines = append(lines, line)
		at = int(line.End()) + 1
	}
	return lines
}
