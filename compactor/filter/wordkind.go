package filter

import (
	"strings"

	"ccd/compactor/lexicon"
)

// Kind is what a word names.
type Kind uint8

// The kinds of words.
const (
	PlainWord   Kind = iota
	CapitalWord      // begins with a capital letter
	AcronymWord      // capitals only, or consonants only
	NumberWord       // digits, perhaps with a unit glued to them
	NameWord         // a value (lexicon.IsValue) with letters: an identifier, a path, an address, a flag, the hash of a commit
)

// LongestName is the maximum length of a word that names something, in bytes. Only web addresses may be longer.
const LongestName = 300

const (
	longestAcronym = 6 // letters of one in small letters
	longestUnit    = 6 // bytes of a number with its unit
)

// KindOf returns the kind of a word by its form. has is the class of its bytes.
func KindOf(s string, has lexicon.Class) Kind {
	switch {
	case s == "" || len(s) > LongestName && has&lexicon.Colon == 0:
		return PlainWord
	case has&lexicon.Digit != 0 && (has&lexicon.Letters == 0 || lexicon.ClassOf(s[0]) == lexicon.Digit && len(s) <= longestUnit):
		return NumberWord
	case isAcronym(s, has):
		return AcronymWord
	case lexicon.IsValue(s):
		return NameWord
	case lexicon.ClassOf(s[0]) != lexicon.Upper || has&^(lexicon.Letters|lexicon.High) != 0:
		return PlainWord
	case strings.ToLower(s[1:]) == s[1:]:
		return CapitalWord
	}
	return NameWord // HTTPServer
}

// isAcronym reports whether a word has capitals only, or consonants only.
func isAcronym(s string, has lexicon.Class) bool {
	return len(s) > 1 && (has == lexicon.Upper || has == lexicon.Small && len(s) <= longestAcronym && !strings.ContainsAny(s, "aeiouy"))
}

// Name returns the core of the last word without call arguments, listBoats(harbour -> listBoats, or the target if it is a
// Markdown link, and its kind.
func (l *Lexer) Name() (string, Kind) {
	s, has := l.Core(), l.Word.Has
	if has&(lexicon.Paired|lexicon.Equals) == 0 {
		return s, KindOf(s, has)
	}
	if i := strings.Index(s, "]("); i >= 0 {
		s = s[i+2:]
	} else if i := strings.IndexAny(s, "([{<="); i > 1 && has&lexicon.Slash == 0 {
		s = s[:i]
	}
	has = 0
	for i := range len(s) {
		has |= lexicon.ClassOf(s[i])
	}
	return s, KindOf(s, has)
}

// termsOf returns the first distinct names in a text, in small letters.
func termsOf(text string) (all []string) {
	seen := map[string]bool{}
	for lx := Lex(text); len(all) < termsOfOne && lx.Next(); {
		term, kind := lx.Name()
		if term = lexicon.Lower(term); kind >= AcronymWord && !lexicon.IsNumber(term) && !seen[term] {
			seen[term] = true
			all = append(all, term)
		}
	}
	return all
}
