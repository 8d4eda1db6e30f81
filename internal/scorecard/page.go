package scorecard

import (
	"hash/maphash"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
)

// page is a text prepared for the search: quoting and escapes are undone, white space and emphasis normalized.
type page struct {
	chars int
	flat  string   // all of it on one line
	paths string   // flat with slashes for backslashes
	lines []string // one per line; a continued quoted line is joined
	ids   []mark.ID
	units []int // where each sentence or line begins in flat
	words []word
}

// word is a content word and its place in flat.
type word struct {
	sum uint64
	at  int
}

var quoted = lazy(`^[ \t]*>[ \t]`)

// plainPage prepares a text without quoting.
func plainPage(text string) page {
	p := page{chars: utf8.RuneCountInString(text)}
	for line := range strings.Lines(text) {
		p.lines = append(p.lines, quoted().ReplaceAllString(line, ""))
	}
	p.flatten()
	return p
}

// newPage prepares a companion, without its front matter.
func newPage(text string) page {
	text = body(text)
	p := page{chars: utf8.RuneCountInString(text), ids: mark.IDs(text)}
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimRight(line, "\r\n"), " ")
		rest, goesOn := strings.CutPrefix(line, ">+ ")
		if !goesOn {
			rest = strings.TrimPrefix(line, "> ")
		}
		if plain, err := mark.Unquote("> " + rest); err == nil {
			rest = plain
		}
		if goesOn && len(p.lines) > 0 {
			p.lines[len(p.lines)-1] += rest
			continue
		}
		p.lines = append(p.lines, rest)
	}
	p.flatten()
	return p
}

func body(text string) string {
	const rule = "---\n"
	if rest, ok := strings.CutPrefix(text, rule); ok {
		if _, after, ok := strings.Cut(rest, "\n"+rule); ok {
			return after
		}
	}
	return text
}

// seed is random because the sums of words are compared within one process only.
var seed = maphash.MakeSeed()

// flatten joins the lines, and finds the sentences and content words.
func (p *page) flatten() {
	var b strings.Builder
	for i, l := range p.lines {
		p.lines[i] = normal(l)
		for _, s := range sentences(p.lines[i]) {
			if s = strings.TrimSpace(s); s == "" {
				continue
			}
			if b.Len() > 0 && !strings.HasSuffix(b.String(), " ") {
				b.WriteByte(' ')
			}
			p.units = append(p.units, b.Len())
			b.WriteString(s)
		}
	}
	p.flat = b.String()
	p.paths = slash(p.flat)
	for i, w := range content(p.flat) {
		p.words = append(p.words, word{maphash.String(seed, w), i})
	}
}

// holds reports whether the page contains text: whole, or cut by an ellipsis after at least leastCut characters. A
// short text must not be part of a longer word.
func (p *page) holds(text string) bool { return holdsIn(p.flat, text) }

func holdsIn(s, text string) bool {
	if !long(text, leastCut) {
		return bounded(s, text, false) >= 0
	}
	return cutIn(s, text) >= 0
}

// cutIn returns the position of text in s, or -1. A text that an ellipsis cuts after at least leastCut of its
// characters counts.
func cutIn(s, text string) int {
	if i := strings.Index(s, text); i >= 0 {
		return i
	}
	begin := lexicon.Head(text, leastCut)
	if len(begin) == len(text) {
		return -1
	}
	for from := 0; ; {
		i := strings.Index(s[from:], begin)
		if i < 0 {
			return -1
		}
		n := common(s[from+i:], text)
		if rest := s[from+i+n:]; strings.HasPrefix(rest, "…") || strings.HasPrefix(rest, "...") || strings.HasPrefix(rest, " ...") {
			return from + i
		}
		from += i + len(begin)
	}
}

// leastCut is the least number of characters of a cut text.
const leastCut = 80

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// bounded returns the position of w in s where it is not part of a longer word or a longer path, or -1. A relative path
// may follow a directory.
func bounded(s, w string, path bool) int {
	if w == "" {
		return -1
	}
	for from := 0; ; {
		i := strings.Index(s[from:], w)
		if i < 0 {
			return -1
		}
		i += from
		if startsWord(s[:i], w, path) && endsWord(s[i+len(w):], w, path) {
			return i
		}
		from = i + 1
	}
}

// inWord reports whether a character continues a word.
func inWord(r rune) bool { return r == '_' || (unicode.IsLetter(r) || unicode.IsDigit(r)) && !dense(r) }

func startsWord(before, w string, path bool) bool {
	first, _ := utf8.DecodeRuneInString(w)
	last, n := utf8.DecodeLastRuneInString(before)
	switch {
	case before == "" || !inWord(first) && !path:
		return true
	case inWord(last):
		return false
	case path && last == '/':
		return strings.HasSuffix(before, "./") || strings.HasSuffix(before, "…/") || strings.Contains(w, "/")
	case path:
		return last != '-' && last != '.'
	case digit(w[0]) && strings.ContainsRune(".,:-", last):
		return len(before) == n || !digit(before[len(before)-n-1])
	}
	return true
}

// endsWord reports whether a word ends before after. A full stop continues a name before a letter (`.go`), and a number
// or version before a digit (`.1`).
func endsWord(after, w string, path bool) bool {
	last, _ := utf8.DecodeLastRuneInString(w)
	next, _ := utf8.DecodeRuneInString(after)
	switch {
	case after == "" || !inWord(last):
		return true
	case inWord(next):
		return false
	case after[0] != '.' || len(after) == 1:
		return true
	case path:
		return !wordByte(after[1])
	}
	return !digit(w[len(w)-1]) || !digit(after[1])
}

// near reports whether the page contains both texts, the second at most within bytes before or after the first.
func (p *page) near(text, other string, within int) bool {
	for from := 0; from < len(p.flat); {
		i := cutIn(p.flat[from:], text)
		if i < 0 {
			return false
		}
		i += from
		if n := common(p.flat[i:], text); holdsIn(p.flat[max(0, i-within-len(other)):i], other) || holdsIn(p.flat[i+n:min(len(p.flat), i+n+within+len(other))], other) {
			return true
		}
		from = i + 1
	}
	return false
}

// alone reports whether a short text is by itself: as a line, at the end of a line after a colon, or in quotes.
// Anywhere else it may be part of another sentence.
func (p *page) alone(text string) bool {
	for _, l := range p.lines {
		for from := 0; ; {
			i := bounded(l[from:], text, false)
			if i < 0 {
				break
			}
			i += from
			before, after := l[:i], l[i+len(text):]
			starts := before == "" || strings.HasSuffix(before, ": ") || strings.HasSuffix(before, "- ") || strings.HasSuffix(before, "> ")
			ends := strings.Trim(after, ".!?。！？") == "" || strings.HasPrefix(after, " [ccd ") || strings.HasPrefix(after, " (#")
			last, _ := utf8.DecodeLastRuneInString(before)
			next, _ := utf8.DecodeRuneInString(after)
			if starts && ends || strings.ContainsRune(`"“„「『'`, last) && strings.ContainsRune(`"”“」』'`, next) {
				return true
			}
			from = i + len(text)
		}
	}
	return false
}

// beside reports whether the page contains text in a line that gives the state, or whose next line does.
func (p *page) beside(text string, tells func(string) bool) bool {
	for i, l := range p.lines {
		at := cutIn(l, text)
		if at < 0 {
			continue
		}
		n := common(l[at:], text)
		if tells(l[:at]+" \x00 "+l[at+n:]) || i+1 < len(p.lines) && tells(p.lines[i+1]) {
			return true
		}
	}
	return false
}

// How much of the statement around a name a text must show.
const (
	spotShare = 0.6 // of the content words around it in its statement, in their order
	spotNear  = 20  // content words before and after it that are compared
	spotGap   = 6   // bytes between two unchanged statements
	maxPlaces = 64  // places of a name that are checked
)

// tells reports whether the page says about a name what a statement of its source says, in one sentence or line.
func (p *page) tells(one *fact) bool {
	short := func(s spot) bool { return s.words == nil && p.near(s.before, s.self, spotGap) }
	if slices.ContainsFunc(one.spots, short) {
		return true
	}
	from := 0
	for range maxPlaces {
		i := bounded(p.flat[from:], one.text, false)
		if i < 0 {
			return false
		}
		i += from
		around := p.around(i, len(one.text))
		for _, s := range one.spots {
			if s.words != nil && inOrder(s.words, around) >= int(spotShare*float64(len(s.words))+0.999) {
				return true
			}
		}
		from = i + len(one.text)
	}
	return false
}

// around returns the content words around a place in its sentence or line.
func (p *page) around(at, n int) []word {
	u := sort.SearchInts(p.units, at+1) - 1
	end := len(p.flat)
	if u+1 < len(p.units) {
		end = p.units[u+1]
	}
	place := func(at int) int {
		i, _ := slices.BinarySearchFunc(p.words, at, func(w word, at int) int { return w.at - at })
		return i
	}
	left, right := place(at), place(at+n)
	return append(slices.Clone(p.words[max(place(p.units[u]), left-spotNear):left]), p.words[right:max(right, min(place(end), right+spotNear))]...)
}

// inOrder returns how many of the words a text contains in their order: the length of the longest common subsequence.
func inOrder(words []string, text []word) int {
	row := make([]int, len(words)+1)
	sums := make([]uint64, len(words))
	for i, w := range words {
		sums[i] = maphash.String(seed, w)
	}
	for _, t := range text {
		above := 0
		for i, sum := range sums {
			was := row[i+1]
			if sum == t.sum {
				row[i+1] = max(was, above+1)
			}
			row[i+1] = max(row[i+1], row[i])
			above = was
		}
	}
	return row[len(words)]
}
