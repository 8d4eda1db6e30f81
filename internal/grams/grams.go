// Package grams tells of a text which words it certainly lacks, by a filter of a small fraction of its size: it has a bit for each run
// of four letters, whatever their case. Many runs share a bit, so a filter tells no word, and may have one that the text lacks.
package grams

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"ccd/internal/transcript"
)

// Dot is the combining dot that follows the i in the lower-case form of İ. It is folded into that i, so that İ, i with the
// dot and i are the same character.
const Dot = '\u0307'

// Fold maps all cases of a character to one.
func Fold(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	if r == 'İ' {
		return 'i' // İ with its dot
	}
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if least < utf8.RuneSelf {
		return Fold(least) // maps the long s to s and the Kelvin sign to k
	}
	return least
}

// size is how many letters a gram has.
const size = 4

// gram is a run of letters, a byte of each (see letter). One with a zero is none.
type gram uint32

// next returns the run that ends with the next byte.
func (g gram) next(letter byte) gram { return g<<8 | gram(letter) }

// whole returns 1 if each byte is a letter, else 0.
func (g gram) whole() byte { return byte((uint64((g-0x01010101)&^g&0x80808080) - 1) >> 63) }

// bit returns the bit of the gram in a filter of so many bits.
func (g gram) bit(bits uint64) uint64 { return uint64(g*0x9e3779b1) * bits >> 32 }

// letter returns a byte for a folded letter, and 0 for other characters. Digits are none: most of them are in IDs and times, which would
// fill a filter.
func letter(r rune) byte {
	switch {
	case !unicode.IsLetter(r):
		return 0
	case r < utf8.RuneSelf:
		return byte(r)
	}
	return 0x80 | byte(uint32(r)*0x9e3779b1>>25)
}

// Word is what a filter is asked for.
type Word []gram

// longest is how many characters of a word count. With two escapes each has up to 14 bytes, so these are never in more than two
// blocks of a kilobyte or more.
const longest = 64

// NewWord returns the grams of the first folded characters: none for those that a filter cannot tell.
func NewWord(folded []rune) (w Word) {
	var last gram
	for _, r := range folded[:min(len(folded), longest)] {
		if last = last.next(letter(r)); last.whole() == 1 {
			w = append(w, last)
		}
	}
	return w
}

// Filter has the bits of a text.
type Filter []byte

// New returns a filter of so many bytes, at least one. JSON may be in a string of JSON, so a letter counts as what it is behind two
// escapes, too.
func New(text []byte, length int) Filter {
	f := make(Filter, max(1, length))
	var letters [utf8.RuneSelf]byte // what each ASCII character is folded to, 0 for one that is no letter
	for r := 'a'; r <= 'z'; r++ {
		letters[r], letters[r-'a'+'A'] = byte(r), byte(r)
	}
	f.add(text, &letters)
	for line := range bytes.Lines(text) {
		for n := 0; n < 2 && escapesLetter(line); n++ {
			line = transcript.Unescaped(line)
			f.add(line, &letters)
		}
	}
	return f
}

// escapesLetter reports whether \u may stand for a letter in a line, or for what makes an escape or a letter of others. Without these
// escapes the line has all the grams of its text.
func escapesLetter(line []byte) bool {
	for {
		_, escape, found := bytes.Cut(line, []byte(`\u`))
		if !found {
			return false
		}
		if len(escape) < 4 || escape[0] != '0' || escape[1] != '0' || escape[2] > '3' {
			return true
		}
		line = escape
	}
}

func (f Filter) add(text []byte, letters *[utf8.RuneSelf]byte) {
	bits := uint64(len(f)) * 8
	var last gram
	dotted := false // the last character is an i, and may have a dot
	for i := 0; i < len(text); {
		begin := i
		for ; i < len(text) && text[i] < utf8.RuneSelf; i++ {
			last = last.next(letters[text[i]])
			f.set(last, bits)
		}
		if i == len(text) {
			return
		}
		if i > begin {
			dotted = text[i-1]|0x20 == 'i'
		}
		r, length := utf8.DecodeRune(text[i:])
		i += length
		if r == Dot && dotted {
			dotted = false
			continue
		}
		r = Fold(r)
		dotted = r == 'i'
		last = last.next(letter(r))
		f.set(last, bits)
	}
}

// set sets the bit of a gram if it is whole, without a branch: no processor could guess which way.
func (f Filter) set(g gram, bits uint64) {
	b := g.bit(bits)
	f[b>>3] |= g.whole() << (b & 7)
}

// lacks returns how many grams of a word are in none of the filters.
func (w Word) lacks(all ...Filter) (n int) {
	for _, g := range w {
		has := false
		for _, f := range all {
			b := g.bit(uint64(len(f)) * 8)
			has = has || f[b/8]>>(b%8)&1 == 1
		}
		if !has {
			n++
		}
	}
	return n
}

// May reports whether a text with this filter may have the word.
func (f Filter) May(w Word) bool { return w.lacks(f) == 0 }

// MayCross reports whether the word may begin in the text of f, and end in that of next, which follows it.
func (f Filter) MayCross(next Filter, w Word) bool {
	return w.lacks(f, next) <= size // those with the letters on both sides, and with a letter that is cut
}
