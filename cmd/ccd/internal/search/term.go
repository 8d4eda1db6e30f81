package search

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// dot is what the small form of İ carries behind its i where it is spelled out. It belongs to the i before it, so that
// İ, i with it and i are one character.
const dot = '\u0307'

var dotted = []byte(string(dot))

// fold gives all cases of a character one form.
func fold(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	if r == 'İ' {
		return 'i' // with its dot
	}
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if least < utf8.RuneSelf {
		return fold(least) // the long s is an s, the sign of the kelvin a k
	}
	return least
}

// run is characters that stand next to each other, in any case.
type run struct {
	folded  []rune
	anchor  int      // place in folded of the character that is looked for
	needles [][]byte // its forms
	loose   bool     // a shell's quotes may stand in it
}

func newRun(text []rune) run {
	var u run
	for i, r := range text {
		if r == dot && i > 0 && fold(text[i-1]) == 'i' {
			continue
		}
		u.folded = append(u.folded, fold(r))
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

// common are ASCII characters, the most frequent in transcripts first: prose, code, JSON, numbers and hexadecimal IDs.
const common = `etaoinsr"l,cd:up-mfh./b0g12y_3v54\w79k86x;=)(jzq` + "`" + `{}[]<>'*$+#@!?|&%~^`

// rarity is the larger the seldomer a character is.
func rarity(r rune) int {
	if r >= utf8.RuneSelf {
		return len(common) + 1
	}
	if i := strings.IndexRune(common, r); i >= 0 {
		return i
	}
	return len(common)
}

// places gives, in order, where one of the forms of an anchor stands.
type places struct {
	data    []byte
	needles [][]byte
	next    [4]int // of each form, len(data) where there is none any more
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

// from returns the first place at or behind at, len(data) where there is none.
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

// find returns where the run first stands at or behind from; start is negative where it does not.
func (u *run) find(data []byte, from int) (start, end int) {
	p := u.places(data[from:])
	for at := p.from(0); at < len(p.data); at = p.from(at + 1) {
		if s, e, ok := u.around(p.data, at); ok {
			return from + s, from + e
		}
	}
	return -1, -1
}

// in reports whether the run stands in data.
func (u *run) in(data []byte) bool {
	start, _ := u.find(data, 0)
	return start >= 0
}

// around tells whether the run stands where its anchor stands at at.
func (u *run) around(data []byte, at int) (start, end int, ok bool) {
	if u.folded[u.anchor] == dot && ofI(data, at) {
		return 0, 0, false
	}
	if u.loose {
		start, end = looseBack(data, at, u.folded[:u.anchor]), looseForth(data, at, u.folded[u.anchor:])
		return start, end, start >= 0 && end >= 0
	}
	if start = back(data, at, u.folded[:u.anchor]); start < 0 {
		return 0, 0, false
	}
	end = forth(data, at, u.folded[u.anchor:])
	return start, end, end >= 0
}

// forth returns the place behind text, which begins at at; negative where it does not.
func forth(data []byte, at int, text []rune) int {
	for _, want := range text {
		if at >= len(data) {
			return -1
		}
		r, size := rune(data[at]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(data[at:])
		}
		if r != want && fold(r) != want {
			return -1
		}
		if at += size; want == 'i' && bytes.HasPrefix(data[at:], dotted) {
			at += len(dotted)
		}
	}
	return at
}

// ofI reports whether what stands before at is an i: a dot at at belongs to it.
func ofI(data []byte, at int) bool {
	r, _ := utf8.DecodeLastRune(data[:at])
	return fold(r) == 'i'
}

// back returns where text begins that ends before at; negative where it does not.
func back(data []byte, at int, text []rune) int {
	for i := len(text) - 1; i >= 0; i-- {
		if at == 0 {
			return -1
		}
		r, size := rune(data[at-1]), 1
		if r >= utf8.RuneSelf {
			if r, size = utf8.DecodeLastRune(data[:at]); r == dot && ofI(data, at-size) {
				at -= size
				r, size = utf8.DecodeLastRune(data[:at])
			}
		}
		if r != text[i] && fold(r) != text[i] {
			return -1
		}
		at -= size
	}
	return at
}

// term is what must stand in a text: a word, or several with white space between them.
type term struct {
	runs []run
	lead int // the one that is looked for
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

// find returns where the term first stands at or behind from; start is negative where it does not.
func (t *term) find(text []byte, from int) (start, end int) {
	lead := &t.runs[t.lead]
	p := lead.places(text[from:])
	for at := p.from(0); at < len(p.data); at = p.from(at + 1) {
		if s, e, ok := lead.around(p.data, at); ok {
			if s, e, ok = t.rest(p.data, s, e); ok {
				return from + s, from + e
			}
		}
	}
	return -1, -1
}

// rest tells whether the other runs stand around the lead, and widens the place.
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
