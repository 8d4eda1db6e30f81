// Package lexicon splits a text into characters, words, sentences, list items, fences, terms, phrases, error lines and stack
// frames. All rules for these are here. All functions take linear time.
package lexicon

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Chars counts characters, the unit of every limit on text.
func Chars(s string) int { return utf8.RuneCountInString(s) }

// Head returns the first n characters of a text.
func Head(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// IsNumber reports whether a text consists of digits, commas and dots.
func IsNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789,.") == "" }

// Tail returns the last n characters of a text.
func Tail(s string, n int) string {
	for i := len(s); i > 0; n-- {
		if n == 0 {
			return s[i:]
		}
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s
}

// Lower returns a text in lower case, with typographic apostrophes replaced by plain ones.
func Lower(s string) string {
	return strings.ReplaceAll(strings.ToLower(s), "’", "'")
}

// Searched is how much of a text is searched for words, in bytes.
const Searched = 64 << 10

// HoldsOne reports whether the first 64 KB of a text have one of the words, which must be in lower case, as a whole word: "keep" is
// not in "keeps". In a script without spaces, a word may be anywhere.
func HoldsOne(text string, words []string) bool {
	if len(words) == 0 {
		return false
	}
	text = Lower(text[:min(len(text), Searched)])
	return slices.ContainsFunc(words, func(w string) bool { return ContainsWhole(text, w) })
}

// IsWide reports whether a character is Chinese, Japanese or Korean. One means about as much as a short word.
func IsWide(r rune) bool {
	return r >= 0x1100 && (r <= 0x11ff || r >= 0x2e80 && r <= 0x9fff || r >= 0xa960 && r <= 0xa97f || r >= 0xac00 && r <= 0xd7ff ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xff00 && r <= 0xffef || r >= 0x20000 && r <= 0x3ffff)
}

// Width returns the length of a text in chars of an alphabet: a kana or hangul syllable counts as two, an ideograph as three.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n++
		switch {
		case !IsWide(r):
		case r >= 0x3040 && r <= 0x30ff, r >= 0x1100 && r <= 0x11ff, r >= 0xa960 && r <= 0xd7ff:
			n++
		default:
			n += 2
		}
	}
	return n
}

// EndsWide reports whether a text ends with a character of a script that has no blanks between sentences, or its full stop.
func EndsWide(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return IsWide(r) || strings.ContainsRune("。！？、」』）", r)
}
