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

// gram is a run of folded letters, 16 bits of each. Digits are no letters: most of them are in IDs and times, which would fill a filter.
type gram uint64

// bit returns the bit of the gram in a filter of so many bits.
func (g gram) bit(bits uint64) uint64 { return uint64(g) * 0x9e3779b97f4a7c15 >> 32 * bits >> 32 }

// Word is what a filter is asked for.
type Word []gram

// NewWord returns the grams of folded characters: none for those that a filter cannot tell.
func NewWord(folded []rune) (w Word) {
	var last gram
	n := 0
	for _, r := range folded {
		if n++; !unicode.IsLetter(r) {
			n = 0
		}
		if last = last<<16 | gram(r&0xffff); n >= size {
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
	letters := lettersOf()
	f.add(text, &letters)
	if !bytes.Contains(text, []byte(`\u`)) {
		return f
	}
	for line := range bytes.Lines(text) {
		for n := 0; n < 2 && bytes.Contains(line, []byte(`\u`)); n++ {
			line = transcript.Unescaped(line)
			f.add(line, &letters)
		}
	}
	return f
}

// lettersOf returns what each ASCII character is folded to, 0 for one that is no letter.
func lettersOf() (table [utf8.RuneSelf]byte) {
	for r := 'a'; r <= 'z'; r++ {
		table[r], table[r-'a'+'A'] = byte(r), byte(r)
	}
	return table
}

func (f Filter) add(text []byte, letters *[utf8.RuneSelf]byte) {
	bits := uint64(len(f)) * 8
	var last gram
	n, dotted := 0, false // letters since the last other character; the last one was an i, and may have a dot
	for i := 0; i < len(text); {
		var r rune
		if c := text[i]; c < utf8.RuneSelf {
			r = rune(letters[c])
			i++
		} else {
			var length int
			r, length = utf8.DecodeRune(text[i:])
			if i += length; r == Dot && dotted {
				dotted = false
				continue
			}
			if r = Fold(r); !unicode.IsLetter(r) {
				r = 0
			}
		}
		if dotted = r == 'i'; r == 0 {
			n = 0
			continue
		}
		if last = last<<16 | gram(r&0xffff); n+1 < size {
			n++
			continue
		}
		b := last.bit(bits)
		f[b/8] |= 1 << (b % 8)
	}
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
