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

// run is a sequence of characters to find, in any case.
type run struct {
	folded  []rune
	anchor  int      // index in folded of the character that is searched first
	needles [][]byte // the forms of the anchor
}

func newRun(text []rune) run {
	var u run
	for i, r := range text {
		if r == grams.Dot && i > 0 && grams.Fold(text[i-1]) == 'i' {
			continue
		}
		u.folded = append(u.folded, grams.Fold(r))
	}
	for i, r := range u.folded {
		if rarity(r) > rarity(u.folded[u.anchor]) {
			u.anchor = i
		}
	}
	r := u.folded[u.anchor]
	u.needles = [][]byte{utf8.AppendRune(nil, r)}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		u.needles = append(u.needles, utf8.AppendRune(nil, f))
	}
	if r == 'i' {
		u.needles = append(u.needles, []byte("İ"))
	}
	return u
}

// common lists ASCII characters, the most frequent in transcripts first: prose, code, JSON, numbers and hexadecimal IDs.
const common = `etaoinsr"l,cd:up-mfh./b0g12y_3v54\w79k86x;=)(jzq` + "`" + `{}[]<>'*$+#@!?|&%~^`

// rarity returns a larger number for a rarer character.
func rarity(r rune) int {
	if r >= utf8.RuneSelf {
		return len(common) + 1
	}
	if i := strings.IndexRune(common, r); i >= 0 {
		return i
	}
	return len(common)
}

// places iterates over the positions of an anchor's forms, in order.
type places struct {
	data    []byte
	needles [][]byte
	next    [4]int // next position of each form, len(data) if there are no more
}

func (u *run) places(data []byte) places {
	p := places{data: data, needles: u.needles}
	for i := range p.needles {
		p.find(i, 0)
	}
	return p
}

func (p *places) find(form, from int) {
	i := -1
	if from < len(p.data) {
		if n := p.needles[form]; len(n) == 1 {
			i = bytes.IndexByte(p.data[from:], n[0])
		} else {
			i = bytes.Index(p.data[from:], n)
		}
	}
	if p.next[form] = from + i; i < 0 {
		p.next[form] = len(p.data)
	}
}

// from returns the first position at or after at, len(data) if there is none.
func (p *places) from(at int) int {
	least := len(p.data)
	for i := range p.needles {
		if p.next[i] < at {
			p.find(i, at)
		}
		least = min(least, p.next[i])
	}
	return least
}

// around reports whether the run occurs with its anchor at at.
func (u *run) around(data []byte, at int) (start, end int, ok bool) {
	if u.folded[u.anchor] == grams.Dot && ofI(data, at) {
		return 0, 0, false
	}
	if start = back(data, at, u.folded[:u.anchor]); start < 0 {
		return 0, 0, false
	}
	end = forth(data, at, u.folded[u.anchor:])
	return start, end, end >= 0
}

// forth returns the end of text if it begins at at, else a negative number.
func forth(data []byte, at int, text []rune) int {
	for _, want := range text {
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
	for i := len(text) - 1; i >= 0; i-- {
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
		if r != text[i] && grams.Fold(r) != text[i] {
			return -1
		}
		at -= size
	}
	return at
}

// term is a word, or a phrase of words separated by white space.
type term struct {
	group int  // of those with the same number, one is enough
	or    bool // there are others
	not   bool // it must not occur
	runs  []run
	lead  int // index of the run that is searched first
}

func newTerm(text string) term {
	var t term
	for i, word := range strings.Fields(text) {
		t.runs = append(t.runs, newRun([]rune(word)))
		if t.runs[i].rarity() > t.runs[t.lead].rarity() {
			t.lead = i
		}
	}
	return t
}

func (u *run) rarity() int { return rarity(u.folded[u.anchor]) }

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
		lead := &t.runs[t.lead]
		p := lead.places(text)
		for at := p.from(0); at < len(text); at = p.from(at + 1) {
			s, e, ok := lead.around(text, at)
			if ok {
				s, e, ok = t.rest(text, s, e)
			}
			if ok && !yield(s, e) {
				return
			}
		}
	}
}

// rest reports whether the other runs surround the lead, and returns the range of all of them.
func (t *term) rest(text []byte, start, end int) (int, int, bool) {
	for _, u := range slices.Backward(t.runs[:t.lead]) {
		gap := bytes.TrimRightFunc(text[:start], unicode.IsSpace)
		if len(gap) == start {
			return 0, 0, false
		}
		if start = back(text, len(gap), u.folded); start < 0 {
			return 0, 0, false
		}
	}
	for _, u := range t.runs[t.lead+1:] {
		gap := bytes.TrimLeftFunc(text[end:], unicode.IsSpace)
		if len(gap) == len(text)-end {
			return 0, 0, false
		}
		if end = forth(text, len(text)-len(gap), u.folded); end < 0 {
			return 0, 0, false
		}
	}
	return start, end, true
}
