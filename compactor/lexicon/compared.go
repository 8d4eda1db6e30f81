package lexicon

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

var unmarked = strings.NewReplacer("*", "", "`", "", "\"", "", "\n> ", " ")

// Plain returns text in the form in which texts are compared: lower case, without quotes and emphasis, on one line.
func Plain(text string) string {
	return strings.Join(strings.Fields(unmarked.Replace(Lower(text))), " ")
}

// ContainsWhole reports whether a text contains another one that is no part of longer words or numbers in it.
func ContainsWhole(text, other string) bool {
	first, _ := utf8.DecodeRuneInString(other)
	last, _ := utf8.DecodeLastRuneInString(other)
	for at := 0; ; at++ {
		i := strings.Index(text[at:], other)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(other):])
		if !(joins(before) && joins(first)) && !(joins(last) && joins(after)) {
			return true
		}
	}
}

// joins reports whether a character is joined with one beside it to a word: a letter, its accent or a digit of a script with spaces.
func joins(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !IsWide(r)
}
