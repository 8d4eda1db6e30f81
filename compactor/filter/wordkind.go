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
	VersionWord      // 1.2, v3.0.1-rc2, a network address
	NameWord         // camelCase, PascalCase, snake_case, a dotted name, a call; a path, an address, the hash of a commit
)

// LongestName is the maximum length of a word that names something, in bytes. Only web addresses may be longer.
const LongestName = 300

// KindOf returns the kind of a word by its form. has is the class of its bytes.
func KindOf(s string, has lexicon.Class) Kind {
	switch {
	case len(s) > LongestName && has&lexicon.Colon == 0:
		return PlainWord
	case has&^(lexicon.Small|lexicon.High) == 0:
		if has == lexicon.Small && isVowelless(s) {
			return AcronymWord
		}
		return PlainWord
	case has&^(lexicon.Letters|lexicon.High) == 0:
		return caseKind(s)
	case has&lexicon.Digit != 0 && has&(lexicon.Letters|lexicon.Under|lexicon.Slash|lexicon.At) == 0:
		return numberKind(s)
	case has&lexicon.Slash != 0:
		return slashKind(s)
	case has&lexicon.At != 0:
		if i := strings.IndexByte(s, '@'); i > 0 && strings.IndexByte(s[i:], '.') > 1 {
			return NameWord
		}
		return PlainWord
	case has&lexicon.Under != 0:
		if hasLetter(s) {
			return NameWord
		}
		return PlainWord
	case has&lexicon.Digit != 0 && has&^(lexicon.Letters|lexicon.Digit|lexicon.High) == 0:
		return mixedKind(s)
	}
	return dottedKind(s, has)
}

var isVowel = lexicon.ByteSet("aeiouy")

// isVowelless reports whether a lower-case word is an abbreviation: two to six consonants.
func isVowelless(s string) bool {
	if len(s) < 2 || len(s) > 6 {
		return false
	}
	for i := range len(s) {
		if isVowel[s[i]] {
			return false
		}
	}
	return s != "vs" && s != "mr" && s != "dr" && s != "st" && s != "th" && s != "nd" && s != "rd"
}

// caseKind returns the kind of a word of letters by the positions of its capitals.
func caseKind(s string) Kind {
	ups, inner := 0, false
	for i := range len(s) {
		if s[i]-'A' < 26 {
			ups++
			inner = inner || i > 0 && s[i-1]-'a' < 26
		}
	}
	switch {
	case inner:
		return NameWord
	case ups == len(s) && ups > 1:
		return AcronymWord
	case s[0]-'A' < 26 && ups == 1:
		return CapitalWord
	case ups > 1 && s[0]-'A' < 26: // HTTPServer
		return NameWord
	}
	return PlainWord
}

func numberKind(s string) Kind {
	parts, digits, only := 1, 0, true
	for i := range len(s) {
		switch c := s[i]; {
		case c-'0' < 10:
			digits++
		case c == '.' && i > 0 && i+1 < len(s):
			parts++
		default:
			only = false
		}
	}
	switch {
	case digits == 0:
		return PlainWord
	case only && (parts == 3 || parts == 4):
		return VersionWord
	}
	return NumberWord
}

func slashKind(s string) Kind {
	if strings.Contains(s, "://") {
		return NameWord
	}
	slashes := strings.Count(s, "/")
	rooted := strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") || strings.HasPrefix(s, "~/")
	if strings.Trim(s, "/.-") == "" || !hasLetter(s) {
		return PlainWord
	}
	if !rooted && slashes < 2 && !strings.ContainsAny(s, "._-@") {
		return PlainWord // and/or
	}
	return NameWord
}

// hasLetter reports whether a text has a letter, of any script.
func hasLetter(s string) bool {
	for i := range len(s) {
		if lexicon.ClassOf(s[i])&(lexicon.Letters|lexicon.High) != 0 {
			return true
		}
	}
	return false
}

// afterColon reports whether a name ends in the number of a line, perhaps with a column: a.go:12:3.
func afterColon(s string) bool {
	i := strings.LastIndexByte(s, ':')
	return i > 0 && i+1 < len(s) && s[i+1]-'0' < 10 && lexicon.IsNumber(s[i+1:])
}

// mixedKind returns the kind of a word of letters and digits.
func mixedKind(s string) Kind {
	switch {
	case s[0]-'0' < 10 && len(s) < shortestHash:
		return NumberWord // 12ms
	case s[0] == 'v' && strings.Trim(s[1:], "0123456789") == "":
		return VersionWord
	}
	return NameWord // sha256, Http2, 3f786850e3
}

// shortestHash is the minimum length of a hash: a number with its unit is shorter.
const shortestHash = 7

// dottedKind returns the kind of a word that contains dots, colons, hyphens or other marks.
func dottedKind(s string, has lexicon.Class) Kind {
	i := strings.IndexByte(s, '.')
	switch placed := afterColon(s); {
	case i < 0 && has&lexicon.Colon != 0 && placed:
		return PlainWord // at:12
	case i < 0 || i+1 == len(s):
		return hyphenKind(s, has)
	case placed:
		return NameWord
	case s[0]-'0' < 10 && strings.Count(s, ".") == 1 && !strings.Contains(s, "-"):
		return NumberWord // 1.5x
	case s[0]-'0' < 10 || s[0] == 'v' && i > 1 && s[1]-'0' < 10:
		return VersionWord
	case i > 0 && lexicon.ClassOf(s[i-1])&(lexicon.Letters|lexicon.Digit|lexicon.Under|lexicon.High) == 0, strings.ContainsAny(s, ",;!?"), i == 0 && len(s) < 4, isAbbreviated(s):
		return PlainWord
	}
	return NameWord
}

// isAbbreviated reports whether a word is letters with dots between them: e.g, U.S.
func isAbbreviated(s string) bool {
	for i := range len(s) {
		if (s[i] == '.') != (i%2 == 1) {
			return false
		}
	}
	return true
}

// hyphenKind returns the kind of a word without an inner dot: flags and other marks.
func hyphenKind(s string, has lexicon.Class) Kind {
	switch {
	case has&(lexicon.Equals|lexicon.Paired|lexicon.Other) != 0 && has&lexicon.Letters != 0 && strings.ContainsAny(s, "=(<$\\"):
		return NameWord
	case len(s) > 3 && s[0] == '-' && lexicon.ClassOf(s[len(s)-1])&(lexicon.Letters|lexicon.Digit) != 0:
		return NameWord // a flag
	case has&lexicon.Colon != 0 && strings.Contains(s, "::"):
		return NameWord
	case has&lexicon.Digit != 0 && s[0]-'0' < 10:
		return NumberWord
	}
	return PlainWord
}
