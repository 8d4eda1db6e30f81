// Package lexicon tells what a text is made of: characters, words, sentences, list items, fences, terms, phrases, error
// lines and stack frames. It is the one place for these rules. All of it is linear in the text.
package lexicon

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Chars counts characters, the unit of every limit on text. Most text is ASCII, which goes eight bytes at a time.
func Chars(s string) int {
	const ascii = 0x8080808080808080
	n := len(s)
	for i := 0; i < len(s); {
		if i+8 <= len(s) && eight(s[i:i+8])&ascii == 0 {
			i += 8
			continue
		}
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		n -= size - 1
		i += size
	}
	return n
}

// eight is the first eight bytes of a text as a number.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// Head is the first n characters of a text.
func Head(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// IsNumber reports whether a text is nothing but digits, commas and dots.
func IsNumber(s string) bool {
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && s[i] != ',' && s[i] != '.' {
			return false
		}
	}
	return s != ""
}

// Tail is the last n characters of a text.
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

// Lower is ASCII lower case, with the typographic apostrophe made plain.
func Lower(s string) string {
	return strings.ReplaceAll(strings.ToLower(s), "’", "'")
}

// Searched is how much of one text is searched for words, in bytes.
const Searched = 64 << 10

// HoldsOne reports whether a text, within its first 64 KB, holds one of the words, which are in lower case.
func HoldsOne(text string, words []string) bool {
	if len(words) == 0 {
		return false
	}
	text = Lower(text[:min(len(text), Searched)])
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// IsWide reports whether a character is of the scripts of China, Japan and Korea: one says about as much as a short word.
func IsWide(r rune) bool {
	return r >= 0x1100 && (r <= 0x11ff || r >= 0x2e80 && r <= 0x9fff || r >= 0xa960 && r <= 0xa97f || r >= 0xac00 && r <= 0xd7ff ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xff00 && r <= 0xffef || r >= 0x20000 && r <= 0x3ffff)
}

// Width is how much a text says, in chars of an alphabet: a syllable of kana or hangul counts as two, an ideograph as three.
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
