package scorecard

import (
	"iter"
	"slices"
	"strings"
)

// words yields the facts of a text that are words: addresses, numbers with units, hashes and versions, identifiers. It
// looks at each byte a few times at the most.
func words(text string) iter.Seq2[Class, string] {
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

// cutLink cuts a text around its first address; its punctuation is no part of it.
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

// outside looks at a text without addresses: code spans are identifiers as they stand.
func outside(text string, say func(Class, string) bool) {
	for {
		before, rest, ok := strings.Cut(text, "`")
		scan(before, true, say)
		if !ok {
			return
		}
		text = rest
		end := strings.IndexAny(rest[:min(len(rest), maxSpan+1)], "`\n")
		if end < 2 || rest[end] != '`' {
			continue
		}
		if w := strings.TrimSuffix(normal(rest[:end]), "()"); len(w) > 1 && !say(Identifiers, w) {
			return
		}
		scan(rest[:end], false, say)
		text = rest[end+1:]
	}
}

// maxSpan is the longest code span that names something, in bytes.
const maxSpan = 60

// scan looks at each word of a text: a run of letters, digits, `_` and inner full stops.
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
		if digit(w[0]) && !number(text, i, say) {
			return
		}
		if end = max(end, i+hash(text, i, say)); named {
			identifiers(w, say)
		}
		i = end
	}
}

// number takes the number with a unit that stands at i.
func number(text string, i int, say func(Class, string) bool) bool {
	j := i
	for j < len(text) && (digit(text[j]) || (text[j] == '.' || text[j] == ',') && j+1 < len(text) && digit(text[j+1])) {
		j++
	}
	unit := j
	if unit < len(text) && (text[unit] == ' ' || text[unit] == '-') {
		unit++
	}
	end := unit
	for end < len(text) && wordByte(text[end]) {
		end++
	}
	switch {
	case unit < len(text) && text[unit] == '%':
		return say(Numbers, text[i:unit+1])
	case end > unit && end-unit < 12 && units[strings.ToLower(text[unit:end])]:
		return say(Numbers, text[i:end])
	}
	return true
}

var units = set("ns µs us ms s sec secs second seconds min mins minute minutes h hr hrs hour hours day days week weeks month " +
	"months year years b kb mb gb tb kib mib gib tib byte bytes char chars character characters line lines token tokens file " +
	"files test tests commit commits error errors failure failures warning warnings times item items row rows record records " +
	"request requests user users px x hz khz mhz ghz passed failed skipped m cm mm km g kg v w kw")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// hash takes the hash, UUID or version that stands at i, and returns its length, 0 where there is none.
func hash(text string, i int, say func(Class, string) bool) int {
	if c := text[i]; digit(c) || (c == 'v' || c == 'V') && i+1 < len(text) && digit(text[i+1]) {
		if w := version.FindString(text[i:min(len(text), i+maxSpan)]); w != "" {
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

// hashEnd decides of text[i:j], which is hexadecimal but for hyphens.
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

// identifiers takes a word that is a dotted name, or the identifiers among its parts.
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

func lower(c byte) bool { return c >= 'a' && c <= 'z' }

func ascii(w string) bool {
	for i := range len(w) {
		if w[i] >= 0x80 {
			return false
		}
	}
	return true
}
