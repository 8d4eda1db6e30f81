package scorecard

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

var version = lazy(`^(?:[vV]?\d+\.\d+\.\d+(?:[-+.][0-9A-Za-z.]*[0-9A-Za-z])?|[vV]\d+(?:\.\d+)+)\b`)

// names yields the names in a statement: addresses, numbers, hashes and versions, identifiers. It looks at each byte
// only a few times.
func names(text string) iter.Seq2[Class, string] {
	return func(yield func(Class, string) bool) {
		ok := true
		say := func(class Class, w string) bool {
			ok = ok && yield(class, w)
			return ok
		}
		for ok && text != "" {
			before, link, rest := cutLink(text)
			outside(before, say)
			if link != "" && ok {
				say(URLs, link)
			}
			text = rest
		}
	}
}

// cutLink cuts a text around its first address, without the punctuation after it.
func cutLink(text string) (before, link, rest string) {
	for from := 0; ; {
		i := strings.Index(text[from:], "://")
		if i < 0 {
			return text, "", ""
		}
		i += from
		start := i
		for start > from && lower(text[start-1]) {
			start--
		}
		end := strings.IndexAny(text[i:], " \t\r\n<>\"'`|\\]})")
		if end < 0 {
			end = len(text) - i
		}
		link = strings.TrimRight(text[start:i+end], ".,;:!?*_")
		if slices.Contains(schemes, text[start:i]) && len(link) > i+len("://")-start {
			return text[:start], link, text[i+end:]
		}
		from = i + 1
	}
}

var schemes = []string{"http", "https", "ssh", "git", "file", "ws", "wss", "ftp"}

// outside yields the names in a text without addresses. A code span is one identifier, unchanged.
func outside(text string, say func(Class, string) bool) {
	for {
		before, rest, ok := strings.Cut(text, "`")
		scan(strings.Map(spaced, before), true, say)
		if !ok {
			return
		}
		text = rest
		end := strings.IndexAny(rest[:min(len(rest), maxSpan+1)], "`\n")
		if end < 2 || rest[end] != '`' {
			continue
		}
		if w := strings.TrimSuffix(normal(rest[:end]), "()"); len(w) > 1 && strings.Trim(w, "0123456789.,:%-+ ") != "" && !say(Identifiers, w) {
			return
		}
		scan(rest[:end], false, say)
		text = rest[end+1:]
	}
}

// spaced replaces a character of a dense script and a non-ASCII sign by a space, because a name may be directly beside
// one.
func spaced(r rune) rune {
	if r >= utf8.RuneSelf && (dense(r) || !unicode.IsLetter(r)) {
		return ' '
	}
	return r
}

// maxSpan is the longest code span that counts as a name, in bytes.
const maxSpan = 60

// scan yields the names among the words of a text: runs of letters, digits, `_` and inner full stops.
func scan(text string, named bool, say func(Class, string) bool) {
	for i := 0; i < len(text); {
		if !wordByte(text[i]) {
			i++
			continue
		}
		end := i + 1
		for end < len(text) && (wordByte(text[end]) || text[end] == '.' && end+1 < len(text) && wordByte(text[end+1])) {
			end++
		}
		w := text[i:end]
		n := hash(text, i, say)
		if n == 0 && digit(w[0]) {
			n = number(text, i, say)
		}
		if end = max(end, i+n); named {
			identifiers(w, say)
		}
		i = end
	}
}

// number yields the number at i with the unit joined to it, and returns its length: 12.5, 40%, 300ms, 10:15,
// 2026-04-01. It skips single digits, which say too little, and parts of a path.
func number(text string, i int, say func(Class, string) bool) int {
	j := i
	for j < len(text) && (digit(text[j]) || strings.IndexByte(".,:-", text[j]) >= 0 && j+1 < len(text) && digit(text[j+1])) {
		j++
	}
	end := j
	for end < len(text) && end-j < maxUnit && wordByte(text[end]) && text[end] < utf8.RuneSelf {
		end++
	}
	if rest := text[end:]; end == j && (strings.HasPrefix(rest, "%") || strings.HasPrefix(rest, " %")) {
		end += 1 + strings.IndexByte(rest, '%')
	}
	if end-i > 1 && end-j < maxUnit && (i == 0 || text[i-1] != '/') && (end == len(text) || text[end] != '/') {
		say(Numbers, text[i:end])
	}
	return end - i
}

// maxUnit is the longest unit, in bytes.
const maxUnit = 12

// hash yields the hash, UUID or version at i, and returns its length, or 0 if there is none.
func hash(text string, i int, say func(Class, string) bool) int {
	if c := text[i]; digit(c) || (c == 'v' || c == 'V') && i+1 < len(text) && digit(text[i+1]) {
		if w := version().FindString(text[i:min(len(text), i+maxSpan)]); w != "" {
			say(Hashes, w)
			return len(w)
		}
	}
	j, digits, letters := i, 0, 0
	for ; j < len(text) && j-i <= 64; j++ {
		switch c := text[j]; {
		case digit(c):
			digits++
		case c >= 'a' && c <= 'f':
			letters++
		case c == '-' && j+1 < len(text) && wordByte(text[j+1]):
		default:
			return hashEnd(text, i, j, digits, letters, say)
		}
	}
	return hashEnd(text, i, j, digits, letters, say)
}

// hashEnd decides whether text[i:j], hexadecimal digits and hyphens, is a hash or UUID.
func hashEnd(text string, i, j, digits, letters int, say func(Class, string) bool) int {
	w := text[i:j]
	uuid := len(w) == 36 && w[8] == '-' && w[13] == '-' && w[18] == '-' && w[23] == '-'
	if !uuid {
		w, _, _ = strings.Cut(w, "-")
	}
	if digits == 0 || letters == 0 || len(w) < 7 || len(w) > 64 || j < len(text) && wordByte(text[j]) ||
		!uuid && (strings.Trim(w, "0123456789") == "" || strings.Trim(w, "abcdef") == "") {
		return 0
	}
	say(Hashes, w)
	return len(w)
}

// identifiers yields a word that is a dotted name, or else the identifiers among its parts.
func identifiers(w string, say func(Class, string) bool) {
	parts := strings.Split(w, ".")
	dotted := len(parts) > 1
	for _, p := range parts {
		dotted = dotted && len(p) > 1 && !digit(p[0]) && ascii(p)
	}
	if dotted {
		say(Identifiers, w)
		return
	}
	for _, p := range parts {
		if ascii(p) && isIdentifier(p) && !say(Identifiers, p) {
			return
		}
	}
}

// isIdentifier reports whether a word is snake_case, camelCase or PascalCase.
func isIdentifier(w string) bool {
	w = strings.TrimLeft(w, "_")
	if len(w) < 3 || digit(w[0]) {
		return false
	}
	if i := strings.IndexByte(w, '_'); i > 0 && i+1 < len(w) {
		return true
	}
	hump := strings.IndexFunc(w[1:], func(r rune) bool { return r >= 'A' && r <= 'Z' })
	return hump >= 0 && (lower(w[0]) || lower(w[1]) || digit(w[1]))
}

func ascii(w string) bool {
	for i := range len(w) {
		if w[i] >= 0x80 {
			return false
		}
	}
	return true
}
