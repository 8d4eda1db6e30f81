package filter

import (
	"strings"

	"ccd/compactor/lexicon"
)

// termsOf returns the first distinct terms of a text, in small letters.
func termsOf(text string) (all []string) {
	seen := map[string]bool{}
	Terms(text, func(term string) bool {
		if term = lexicon.Lower(term); !seen[term] {
			seen[term] = true
			all = append(all, term)
		}
		return len(all) < termsOfOne
	})
	return all
}

// Terms calls yield with the words of a text that are meaningful on their own, in order, until it returns false: names in code,
// paths, addresses, hashes, versions, and numbers with the noun that they count. Linear in the text.
func Terms(text string, yield func(term string) bool) {
	number, end := -1, 0 // beginning and end of the preceding number
	for lx := Lex(text); lx.Next(); {
		w := &lx.Word
		begin := number
		number = -1
		if w.Has&^(lexicon.Small|lexicon.High|lexicon.Quote) == 0 {
			counts := begin >= 0 && w.From == w.Head && w.Head == end+1 && text[end] == ' ' && isUnit(lx.Core())
			if counts && w.Has == lexicon.Small && !yield(text[begin:w.Tail]) {
				return
			}
			continue
		}
		name, kind := lx.Name()
		if w.Has&lexicon.Digit != 0 && w.Has&lexicon.Letters == 0 && text[w.Tail-1]-'0' < 10 && kind != VersionWord {
			if w.Tail == w.To {
				number, end = w.Head, w.Tail
			}
			continue
		}
		if kind == PlainWord || kind == CapitalWord || len(name) < 2 {
			continue
		}
		if !yield(name) {
			return
		}
	}
}

// isUnit reports whether a word in small letters is what a number before it counts.
func isUnit(word string) bool {
	return !stops[word] && (len(word) < 3 || counted[word] || strings.HasSuffix(word, "s"))
}

// Name returns the core of the last word without call arguments, listBoats(harbour -> listBoats, or the target if it is a
// Markdown link, and its kind.
func (l *Lexer) Name() (string, Kind) {
	s, has := l.Core(), l.Word.Has
	if has&(lexicon.Paired|lexicon.Equals) != 0 {
		s = calledName(s, has)
		has = 0
		for i := range len(s) {
			has |= lexicon.ClassOf(s[i])
		}
	}
	return s, KindOf(s, has)
}

func calledName(s string, has lexicon.Class) string {
	if i := strings.Index(s, "]("); i >= 0 {
		return s[i+2:]
	}
	if has&lexicon.Slash != 0 {
		return s
	}
	if i := strings.IndexAny(s, "([{<="); i > 1 {
		return s[:i]
	}
	return s
}
