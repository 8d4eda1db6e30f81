package search

import (
	"bytes"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"ccd/internal/grams"
)

// term is a word, or a phrase of words separated by white space.
type term struct {
	group int      // of those with the same number, one is enough
	or    bool     // there are others
	not   bool     // it must not occur
	words [][]byte // folded
}

func newTerm(text string) (t term) {
	for _, word := range strings.Fields(text) {
		t.words = append(t.words, fold([]byte(word)).text)
	}
	return t
}

// folded is a text with all cases of a character as one.
type folded struct {
	text  []byte
	moved [][2]int // from this offset on, the text itself is so many bytes longer; none in most texts
}

// fold folds a text. What is no character stays as it is.
func fold(text []byte) folded {
	f := folded{text: make([]byte, 0, len(text))}
	longer, before := 0, rune(0)
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		switch r = grams.Fold(r); {
		case r == utf8.RuneError:
			f.text = append(f.text, text[i:i+size]...)
		case r != grams.Dot || before != 'i': // else it is a part of the i
			f.text = utf8.AppendRune(f.text, r)
		}
		before, i = r, i+size
		if by := i - len(f.text); by != longer {
			longer = by
			f.moved = append(f.moved, [2]int{len(f.text), by})
		}
	}
	return f
}

// in returns where an offset of the folded text is in the text itself.
func (f folded) in(at int) int {
	by := 0
	for _, m := range f.moved {
		if m[0] > at {
			break
		}
		by = m[1]
	}
	return at + by
}

// best returns the first occurrence that is no part of longer words, else the first one; start is negative if there is none.
func (t *term) best(text []byte) (start, end int, part bool) {
	start = -1
	for s, e := range t.each(text) {
		if !inWord(text, s) && !inWord(text, e) {
			return s, e, false
		}
		if start < 0 {
			start, end = s, e
		}
	}
	return start, end, true
}

// inWord reports whether a position is within a word.
func inWord(text []byte, at int) bool {
	before, _ := utf8.DecodeLastRune(text[:at])
	after, _ := utf8.DecodeRune(text[at:])
	return ofWord(before) && ofWord(after)
}

func ofWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// each yields the occurrences of the term in folded text.
func (t *term) each(text []byte) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for at := 0; ; at++ {
			next := bytes.Index(text[at:], t.words[0])
			if next < 0 {
				return
			}
			at += next
			if end := t.end(text, at+len(t.words[0])); end >= 0 && !yield(at, end) {
				return
			}
		}
	}
}

// end returns where the term ends whose first word ends at a position, -1 if the others do not follow.
func (t *term) end(text []byte, at int) int {
	for _, word := range t.words[1:] {
		rest := bytes.TrimLeftFunc(text[at:], unicode.IsSpace)
		if len(rest) == len(text)-at || !bytes.HasPrefix(rest, word) {
			return -1
		}
		at = len(text) - len(rest) + len(word)
	}
	return at
}
