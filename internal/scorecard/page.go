package scorecard

import (
	"strings"
	"unicode/utf8"

	"ccd/internal/mark"
)

// page is a text as it is searched for facts: quoting and escapes undone, white space and emphasis normalised.
type page struct {
	chars int
	flat  string   // all of it on one line
	lines []string // line by line; a quoted line that goes on is one
	ids   []mark.ID
}

// plainPage reads a text that stands as it was written.
func plainPage(text string) page {
	p := page{chars: utf8.RuneCountInString(text)}
	for line := range strings.Lines(text) {
		p.lines = append(p.lines, normal(quoted.ReplaceAllString(line, "")))
	}
	p.flat = normal(strings.Join(p.lines, " "))
	return p
}

// newPage reads a text; the front matter of a companion is left out.
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
	for i, l := range p.lines {
		p.lines[i] = normal(l)
	}
	p.flat = normal(strings.Join(p.lines, " "))
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

// holds reports whether text stands in the page, whole, or cut by an ellipsis after most of it.
func (p *page) holds(text string) bool { return cutIn(p.flat, text) >= 0 }

// cutIn returns where text stands in s, -1 where it does not. A text that an ellipsis cuts after at least leastCut of
// its characters stands too.
func cutIn(s, text string) int {
	if i := strings.Index(s, text); i >= 0 {
		return i
	}
	begin := head(text, leastCut)
	if len(begin) == len(text) {
		return -1
	}
	for from := 0; ; {
		i := strings.Index(s[from:], begin)
		if i < 0 {
			return -1
		}
		n := common(s[from+i:], text)
		if rest := s[from+i+n:]; strings.HasPrefix(rest, "…") || strings.HasPrefix(rest, "...") {
			return from + i
		}
		from += i + len(begin)
	}
}

// leastCut is how many characters of a cut text must stand.
const leastCut = 80

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// word reports whether w stands in the page and is not part of a longer word.
func (p *page) word(w string) bool { return bounded(p.flat, w, false) }

// path reports whether a path stands in the page and is no part of a longer name. A path that begins below a directory
// may stand behind it.
func (p *page) path(w string) bool { return bounded(p.flat, w, true) }

func bounded(s, w string, path bool) bool {
	if w == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(s[from:], w)
		if i < 0 {
			return false
		}
		i += from
		if startsWord(s[:i], w, path) && endsWord(s[i+len(w):], w, path) {
			return true
		}
		from = i + 1
	}
}

func startsWord(before, w string, path bool) bool {
	if before == "" || !wordByte(w[0]) && !path {
		return true
	}
	switch c := before[len(before)-1]; {
	case wordByte(c):
		return false
	case path && (c == '/' || c == '\\'):
		before = before[:len(before)-1]
		return strings.HasSuffix(before, ".") || strings.HasSuffix(before, "…") || strings.ContainsAny(w, `/\`)
	case path:
		return c != '-' && c != '.'
	}
	return true
}

// endsWord reports whether a word ends before after. A name goes on in `.go`, a number or version in `.1`.
func endsWord(after, w string, path bool) bool {
	last := w[len(w)-1]
	switch {
	case after == "" || !wordByte(last):
		return true
	case wordByte(after[0]):
		return false
	case after[0] != '.' || len(after) == 1:
		return true
	case path:
		return !wordByte(after[1])
	}
	return !digit(last) || !digit(after[1])
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= utf8.RuneSelf
}

// beside reports whether text stands on a line that, or whose next one, tells the state.
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
