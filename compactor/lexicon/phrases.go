package lexicon

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Phrase is an entry of a book: words that count where they stand whole, in any case. T is what it means.
type Phrase[T any] struct {
	before, text string // small letters without apostrophes, words parted by one space; before stands in front of text
	Means        T
}

// Book finds phrases by the hash of one word of each: the first one, or the first one behind a | in the phrase.
type Book[T any] struct {
	sieve
	first map[uint32][]Phrase[T]
}

// sieve is a quick no for most words.
type sieve [128]uint64

func (s *sieve) add(hash uint32) {
	m := hash * 0x9e3779b1
	s[m>>25] |= 1 << (m >> 19 & 63)
}

// May reports whether a word with this hash may belong to a phrase.
func (s *sieve) May(hash uint32) bool {
	m := hash * 0x9e3779b1
	return s[m>>25]>>(m>>19&63)&1 != 0
}

// Add takes phrases of one meaning: small letters, words parted by one space. A # stands for a number above 0, a ~ for
// some words of the same sentence.
func (b *Book[T]) Add(means T, list ...string) {
	if b.first == nil {
		b.first = map[uint32][]Phrase[T]{}
	}
	for _, p := range list {
		before, text, ok := strings.Cut(strings.ReplaceAll(p, "'", ""), "|")
		if !ok {
			before, text = "", before
		}
		word, _, _ := strings.Cut(text, " ")
		h := WordHash(word)
		b.first[h] = append(b.first[h], Phrase[T]{strings.TrimSuffix(before, " "), text, means})
		b.add(h)
	}
}

// Of gives the phrases that a word with this hash may belong to. Ask May first: it says no to most words, and faster.
func (b *Book[T]) Of(hash uint32) []Phrase[T] { return b.first[hash] }

// At reports whether the phrase stands around the lexer's word, and whether a sentence, a clause or a line begins with it.
func (p *Phrase[T]) At(l *Lexer) (is, opens bool) {
	from := l.Word.Head
	if !StartsWithPhrase(l.Text[from:], p.text) {
		return false, false
	}
	if p.before == "" {
		return true, l.Word.Opens
	}
	if from = endsWithPhrase(l.Text[:from], p.before); from < 0 {
		return false, false
	}
	return true, opensAfter(l.Text[:from])
}

// opensAfter reports whether a sentence, a clause or a line begins behind a text.
func opensAfter(before string) bool {
	i := len(before) - 1
	for i >= 0 && before[i] == ' ' {
		i--
	}
	return i < 0 || Opens(before[i])
}

// endsWithPhrase gives where a phrase begins with which a text ends, white space behind it; -1 where it does not.
func endsWithPhrase(text, p string) int {
	i := len(text)
	for i > 0 && ClassOf(text[i-1]) == Gap {
		i--
	}
	for j := len(p); j > 0; {
		switch {
		case i == 0:
			return -1
		case text[i-1] == '\'':
			i--
		case text[i-1] == 0x99 && i > 2 && text[i-2] == 0x80 && text[i-3] == 0xe2: // ’
			i -= 3
		case p[j-1] == ' ' && ClassOf(text[i-1]) == Gap, Fold(text[i-1]) == p[j-1]:
			i, j = i-1, j-1
		default:
			return -1
		}
	}
	if i > 0 && ClassOf(text[i-1])&(Letters|Digit|Under|Quote) != 0 {
		return -1
	}
	return i
}

// StartsWithPhrase reports whether a text begins with a phrase in any case, apostrophes left out, and ends a word there.
// A # in the phrase stands for a number above 0, a ~ for a few words of the same sentence.
func StartsWithPhrase(text, p string) bool {
	i, j := 0, 0
	for j < len(p) {
		switch {
		case i == len(text):
			return false
		case text[i] == '\'':
			i++
		case text[i] == 0xe2 && i+2 < len(text) && text[i+1] == 0x80 && text[i+2] == 0x99: // ’
			i += 3
		case p[j] == ' ':
			n := SkipGap(text[i:])
			if n == 0 {
				return false
			}
			i, j = i+n, j+1
		case p[j] == '~':
			n := strings.Index(sameSentence(text[i:]), p[j+1:])
			if n < 0 {
				return false
			}
			i, j = i+n, j+1
		case p[j] == '#':
			return text[i]-'1' < 9
		case Fold(text[i]) != p[j]:
			return false
		default:
			i, j = i+1, j+1
		}
	}
	return i == len(text) || !goesOn(text[i:])
}

// goesOn reports whether a word goes on with the first character of a text.
func goesOn(s string) bool {
	k := ClassOf(s[0])
	if k != High {
		return k&(Letters|Digit|Under) != 0
	}
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r)
}

// sameSentence is what of the next 60 bytes is in the same sentence.
func sameSentence(text string) string {
	text = text[:min(len(text), 60)]
	if i := strings.IndexAny(text, ".!?;:\n"); i >= 0 {
		return text[:i]
	}
	return text
}

// SkipGap is how many bytes of white space a text begins with, a dozen at most.
func SkipGap(s string) int {
	n := 0
	for n < len(s) && n < 12 && ClassOf(s[n]) == Gap {
		n++
	}
	return n
}
