package lexicon

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// TermKind is what a term is.
type TermKind uint8

// The kinds of terms, as State tells them.
const (
	PlainTerm   TermKind = iota // no Term
	NameTerm                    // an identifier: camelCase, PascalCase, snake_case, dotted.name, a flag, a code span
	PathTerm                    // a path or a file's name
	FigureTerm                  // a number with its unit or what it counts
	AddressTerm                 // a URL
	HashTerm                    // a hash, a UUID or a version
)

// Term is a word of a text that says something on its own: what an agent that goes on would look for by name.
type Term struct {
	Kind TermKind
	Text string
}

const (
	maxTerm  = 160 // bytes of a Term; a longer one is none, but for an address
	maxURL   = 400 // bytes of an address
	maxSpan  = 80  // bytes of a code span that is taken as it stands
	minIdent = 3   // bytes of an identifier

	maxScheme = 16 // bytes at the start of an address that hold its scheme
)

// Terms calls yield with the terms of a text in order, until it returns false. Linear in the text: each byte is looked
// at a bounded number of times.
func Terms(text string, yield func(Term) bool) {
	var fences Fences
	for line := range strings.Lines(text) {
		if fence, code := fences.Line(line); !fence && !lineTerms(line, code, yield) {
			return
		}
	}
}

// lineTerms gives the terms of one line.
func lineTerms(line string, fence bool, yield func(Term) bool) bool {
	number := ""
	for i := 0; i < len(line); {
		c := line[i]
		if c == '`' && !fence {
			if n := codeSpan(line[i:]); n > 0 {
				if !yield(Term{spanKind(line[i+1 : i+n-1]), line[i+1 : i+n-1]}) {
					return false
				}
				number = ""
				i += n
				continue
			}
		}
		n, plain := wordEnd(line[i:])
		if n == 0 {
			if c != ' ' {
				number = ""
			}
			i++
			for i < len(line) && line[i]&0xc0 == 0x80 {
				i++
			}
			continue
		}
		w := line[i : i+n]
		i += n
		before := number
		number = ""
		if plain {
			if before != "" && isUnit(w) && !yield(Term{FigureTerm, before + " " + w}) {
				return false
			}
			continue
		}
		w = trimEnd(w)
		if before != "" && isUnit(w) {
			if !yield(Term{FigureTerm, before + " " + w}) {
				return false
			}
			continue
		}
		kind := termKindOf(w)
		if kind == PlainTerm && len(w) == n && IsNumber(strings.ReplaceAll(w, "/", ".")) {
			number = w
		}
		if kind == PlainTerm {
			continue
		}
		if !yield(Term{kind, w}) {
			return false
		}
	}
	return true
}

// trimEnd takes off what ends a clause, not a name.
func trimEnd(w string) string {
	for len(w) > 0 && strings.IndexByte(".,:;!?'-/=&", w[len(w)-1]) >= 0 {
		w = w[:len(w)-1]
	}
	return w
}

// codeSpan is the length of a code span at the start of s, its ticks included; 0 where there is none or it is long.
func codeSpan(s string) int {
	end := strings.IndexByte(s[1:min(len(s), maxSpan+2)], '`')
	if end < 2 {
		return 0
	}
	return end + 2
}

// spanKind is what a code span is.
func spanKind(s string) TermKind {
	if k := termKindOf(s); k != PlainTerm {
		return k
	}
	return NameTerm
}

// The classes of bytes in words.
const (
	noWord   = iota
	letter   // a Lower-case letter
	capital  // an upper-case one
	sign     // a digit, or a sign that names have
	outsider // not ASCII
)

var byteClass = classes()

func classes() (t [256]uint8) {
	for c := range t {
		switch b := byte(c); {
		case b >= utf8.RuneSelf:
			t[c] = outsider
		case b >= 'a' && b <= 'z':
			t[c] = letter
		case b >= 'A' && b <= 'Z':
			t[c] = capital
		case b >= '0' && b <= '9', strings.IndexByte("_./-:#@$%+~=&',", b) >= 0:
			t[c] = sign
		}
	}
	return t
}

// wordEnd is the length of the word at the start of s: what has no blank in it and none of the signs that stand
// between words. An address goes on to the next blank or quote. Plain tells that it is a word as a dictionary has it.
func wordEnd(s string) (n int, plain bool) {
	plain = true
	for n < len(s) && n <= maxURL {
		switch byteClass[s[n]] {
		case noWord:
			return n, plain
		case letter:
			n++
		case capital:
			plain = plain && n == 0
			n++
		case sign:
			if s[n] == ':' && plain && n > 1 && strings.HasPrefix(s[n:], "://") {
				return addressEnd(s), false
			}
			plain = false
			n++
		default:
			r, size := utf8.DecodeRuneInString(s[n:])
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				return n, plain
			}
			n += size
		}
	}
	return n, plain
}

func addressEnd(s string) int {
	s = s[:min(len(s), maxURL)]
	if n := strings.IndexAny(s, " \t\n\r\"'<>`)]}|"); n >= 0 {
		return n
	}
	return len(s)
}

// termKindOf tells what a word is.
func termKindOf(w string) TermKind {
	if len(w) < 2 || len(w) > maxTerm && !strings.Contains(w[:maxScheme], "://") {
		return PlainTerm
	}
	s := shapeOfWord(w)
	switch {
	case strings.Contains(w[:min(len(w), maxScheme)], "://"):
		return AddressTerm
	case s.hex && s.digits > 0 && s.letters > 0 && (len(w) >= 7 && len(w) <= 128) && (s.dashes == 0 || s.dashes == 4 && len(w) == 36):
		return HashTerm
	case isVersion(w):
		return HashTerm
	case s.digits > 0 && isFigure(w):
		return FigureTerm
	case s.spaces > 0 || s.commas > 0:
		return PlainTerm
	case s.slashes > 0 && s.letters > 1 && (s.dots > 0 || s.slashes > 1 || w[0] == '/' || strings.HasSuffix(w, "/")):
		return PathTerm
	case s.slashes == 0 && isFileName(w):
		return PathTerm
	case len(w) >= minIdent && s.letters > 0 && isIdentifier(w, s):
		return NameTerm
	}
	return PlainTerm
}

// wordShape counts what a word is made of.
type wordShape struct {
	letters, uppers, digits, dots, slashes, dashes, unders, commas, spaces, humps int
	hex                                                                           bool
}

func shapeOfWord(w string) wordShape {
	s := wordShape{hex: true}
	var before byte
	for i := range len(w) {
		c := w[i]
		switch {
		case c >= 'a' && c <= 'z':
			s.letters++
			s.hex = s.hex && c <= 'f'
		case c >= 'A' && c <= 'Z':
			s.letters++
			s.uppers++
			s.hex = s.hex && c <= 'F'
			if before >= 'a' && before <= 'z' {
				s.humps++
			}
		case c >= '0' && c <= '9':
			s.digits++
		case c == '.':
			s.dots++
			s.hex = false
		case c == '/' || c == '\\':
			s.slashes++
			s.hex = false
		case c == '-':
			s.dashes++
		case c == '_':
			s.unders++
			s.hex = false
		case c == ',':
			s.commas++
			s.hex = false
		case c == ' ':
			s.spaces++
			s.hex = false
		default:
			s.hex = false
		}
		before = c
	}
	return s
}

// isIdentifier reports whether a word is a name that only a program gives.
func isIdentifier(w string, s wordShape) bool {
	switch {
	case s.humps > 0, s.unders > 0 && s.letters > 1:
		return true
	case strings.HasPrefix(w, "--") && s.letters > 1, strings.HasPrefix(w, "$") && s.letters > 1, strings.HasPrefix(w, "@") && s.letters > 1:
		return true
	case s.dots > 0:
		return isDotted(w)
	case strings.Contains(w, "::"):
		return true
	case strings.IndexByte(w, '#') >= 0:
		return s.digits > 0
	case s.uppers > 1 && s.uppers == s.letters && s.letters >= 2 && s.dashes == 0:
		return true // an abbreviation
	}
	return s.digits > 0 && s.uppers > 0
}

// isDotted reports whether a word is names joined by dots, not the end of one sentence and the start of the next.
func isDotted(w string) bool {
	for part := range strings.SplitSeq(strings.TrimSuffix(w, "()"), ".") {
		if len(part) < 2 || IsNumber(part) {
			return false
		}
	}
	return true
}

// isFileName reports whether a word is a name with an extension.
func isFileName(w string) bool {
	i := strings.LastIndexByte(w, '.')
	if i < 1 || i+1 >= len(w) || len(w)-i > 6 || strings.ContainsAny(w, ":=,#@$") {
		return i == 0 && len(w) > 3 && Lower(w) == w && !IsNumber(w[1:])
	}
	ext := w[i+1:]
	letters := 0
	for j := range len(ext) {
		switch c := ext[j]; {
		case c >= 'a' && c <= 'z':
			letters++
		case c < '0' || c > '9':
			return false
		}
	}
	return letters > 0 && w[i-1] != '.' && !IsNumber(w[:i])
}

// isVersion reports whether a word is a version: v1.2, 1.2.3, 1.2.3-rc.1.
func isVersion(w string) bool {
	v := strings.TrimLeft(w, "v^~=")
	core, _, _ := strings.Cut(v, "-")
	core, _, _ = strings.Cut(core, "+")
	if core == "" || !IsNumber(core) || strings.Contains(core, ",") || strings.HasSuffix(core, ".") || strings.Contains(core, "..") {
		return false
	}
	dots := strings.Count(core, ".")
	return dots > 1 && dots < 5 || dots == 1 && w[0] == 'v'
}

// isFigure reports whether a word is a number with a unit behind it: 48ms, 3.5GB, 91%, 4x, $12.
func isFigure(w string) bool {
	w = strings.TrimLeft(w, "~+-<>=$€£")
	n := 0
	for n < len(w) && (w[n] >= '0' && w[n] <= '9' || w[n] == '.' || w[n] == ',') {
		n++
	}
	if n == 0 || n == len(w) || len(w)-n > 6 {
		return false
	}
	for _, r := range w[n:] {
		if !unicode.IsLetter(r) && r != '%' && r != '/' && r != '°' {
			return false
		}
	}
	return true
}

// notUnits are words that follow a number without being what it counts.
var notUnits = wordSet("and or of to in is the a an as at by for on with from was were are be but if so than that this " +
	"then it its per not no")

func wordSet(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// isUnit reports whether a word may be what a number before it counts.
func isUnit(w string) bool {
	if w == "%" {
		return true
	}
	if len(w) == 0 || len(w) > 20 || notUnits[Lower(w)] {
		return false
	}
	for i := range len(w) {
		if c := w[i] | 0x20; (c < 'a' || c > 'z') && w[i] != '/' {
			return false
		}
	}
	return true
}
