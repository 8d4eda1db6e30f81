// Package lexicon tells what a text is made of: characters, words, sentences, list items, fences, terms, phrases, error
// lines and stack frames. It is the one place for these rules. All of it is linear in the text.
package lexicon

import (
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
