package search

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ccd/internal/grams"
)

var dotted = []byte(string(grams.Dot))

// term is a word, or a phrase of words separated by white space.
type term struct {
	group   int      // of those with the same number, one is enough
	or      bool     // there are others
	not     bool     // it must not occur
	folded  []rune   // its characters, found in any case; a blank is any white space
	anchor  int      // index in folded of the character that is searched first
	needles [][]byte // the forms of the anchor
}

func newTerm(text string) (t term) {
	before := blank
	for _, r := range strings.Join(strings.Fields(text), string(blank)) {
		if r != grams.Dot || grams.Fold(before) != 'i' {
			t.folded = append(t.folded, grams.Fold(r))
		}
		before = r
	}
	for i, r := range t.folded {
		if rarity(r) > rarity(t.folded[t.anchor]) {
			t.anchor = i
		}
	}
	r := t.folded[t.anchor]
	t.needles = [][]byte{utf8.AppendRune(nil, r)}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		t.needles = append(t.needles, utf8.AppendRune(nil, f))
	}
	if r == 'i' {
		t.needles = append(t.needles, []byte("İ"))
	}
	return t
}

// blank stands between the words of a phrase.
const blank = ' '

// common lists ASCII characters, the most frequent in transcripts first: prose, code, JSON, numbers and hexadecimal IDs.
const common = `etaoinsr"l,cd:up-mfh./b0g12y_3v54\w79k86x;=)(jzq` + "`" + `{}[]<>'*$+#@!?|&%~^`

// rarity returns a larger number for a rarer character.
func rarity(r rune) int {
	if i := strings.IndexRune(common, r); i >= 0 || r == blank {
		return i
	}
	return len(common) + min(utf8.RuneLen(r), 2)
}

// anchors yields the positions of the anchor's forms, in order.
func (t *term) anchors(text []byte) iter.Seq[int] {
	return func(yield func(at int) bool) {
		var next [4]int // position of each form, len(text) if there are no more
		find := func(form, from int) {
			if next[form] = len(text); from < len(text) {
				if i := bytes.Index(text[from:], t.needles[form]); i >= 0 {
					next[form] = from + i
				}
			}
		}
		for form := range t.needles {
			find(form, 0)
		}
		for forms := next[:len(t.needles)]; ; {
			at := slices.Min(forms)
			if at == len(text) || !yield(at) {
				return
			}
			find(slices.Index(forms, at), at+1)
		}
	}
}

// forth returns the end of text if it begins at at, else a negative number.
func forth(data []byte, at int, text []rune) int {
	for _, want := range text {
		if want == blank {
			rest := bytes.TrimLeftFunc(data[at:], unicode.IsSpace)
			if len(rest) == len(data)-at {
				return -1
			}
			at = len(data) - len(rest)
			continue
		}
		if at >= len(data) {
			return -1
		}
		r, size := rune(data[at]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(data[at:])
		}
		if r != want && grams.Fold(r) != want {
			return -1
		}
		if at += size; want == 'i' && bytes.HasPrefix(data[at:], dotted) {
			at += len(dotted)
		}
	}
	return at
}

// ofI reports whether an i precedes at, so that a dot at at belongs to it.
func ofI(data []byte, at int) bool {
	r, _ := utf8.DecodeLastRune(data[:at])
	return grams.Fold(r) == 'i'
}

// back returns the beginning of text if it ends at at, else a negative number.
func back(data []byte, at int, text []rune) int {
	for _, want := range slices.Backward(text) {
		if want == blank {
			rest := bytes.TrimRightFunc(data[:at], unicode.IsSpace)
			if len(rest) == at {
				return -1
			}
			at = len(rest)
			continue
		}
		if at == 0 {
			return -1
		}
		r, size := rune(data[at-1]), 1
		if r >= utf8.RuneSelf {
			if r, size = utf8.DecodeLastRune(data[:at]); r == grams.Dot && ofI(data, at-size) {
				at -= size
				r, size = utf8.DecodeLastRune(data[:at])
			}
		}
		if r != want && grams.Fold(r) != want {
			return -1
		}
		at -= size
	}
	return at
}

// find returns the first occurrence of the term at or after from; start is negative if there is none.
func (t *term) find(text []byte, from int) (start, end int) {
	for s, e := range t.each(text[from:]) {
		return from + s, from + e
	}
	return -1, -1
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

// each yields the occurrences of the term.
func (t *term) each(text []byte) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for at := range t.anchors(text) {
			start := back(text, at, t.folded[:t.anchor])
			if start < 0 || t.folded[t.anchor] == grams.Dot && ofI(text, at) {
				continue
			}
			if end := forth(text, at, t.folded[t.anchor:]); end >= 0 && !yield(start, end) {
				return
			}
		}
	}
}
