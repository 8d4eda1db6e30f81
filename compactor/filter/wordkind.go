package filter

import (
	"regexp"
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
	case len(s) > LongestName && has&lexicon.Colon == 0, has&^lexicon.High == 0, has&^(lexicon.Small|lexicon.High) == 0 && len(s) > longestAcronym:
		return PlainWord
	}
	for i := range forms {
		if f := &forms[i]; f.has == 0 || has&f.has != 0 {
			if f.form.MatchString(s) {
				return f.kind
			}
		}
	}
	return PlainWord
}

const longestAcronym = 6 // letters of one in small letters

// form is a form of words; has are classes of which a word of it has one, 0 for any.
type form struct {
	has  lexicon.Class
	kind Kind
	form *regexp.Regexp
}

// forms are tried in this order. In them, L is a letter of any script.
var forms = func() (all []form) {
	for _, f := range []struct {
		has  lexicon.Class
		kind Kind
		form string
	}{
		{0, PlainWord, `^(?:vs|mr|dr|st|th|nd|rd)$`},
		{0, AcronymWord, `^(?:[b-df-hj-np-tv-xz]{2,6}|[A-Z]{2,})$`},
		{lexicon.Upper, CapitalWord, `^[A-Z][a-z[:^ascii:]]*$`},
		{lexicon.Upper, NameWord, `^(?:L*[a-z][A-Z]L*|[A-Z]L*[A-Z]L*)$`}, // openGate, HTTPServer
		{0, PlainWord, `^L+$`},
		{lexicon.Digit, VersionWord, `^(?:\d+(?:\.\d+){2,3}|v\d+)$`},
		{lexicon.Digit, NumberWord, `^[^A-Za-z_/@]*$`},
		{lexicon.Slash, NameWord, `://`},
		{lexicon.Slash, PlainWord, "^[!-@\\[-`{-~]*$"}, // no letter
		{lexicon.Slash, NameWord, `^(?:\.{0,2}|~)/|/.*/|[._@-]`},
		{lexicon.Slash, PlainWord, `/`}, // and/or
		{lexicon.At, NameWord, `^[^@]+@[^.]+\.`},
		{lexicon.At, PlainWord, `@`},
		{lexicon.Under, NameWord, `L`},
		{lexicon.Under, PlainWord, `_`},
		{lexicon.Digit, NumberWord, `^\d(?:L|\d){0,5}$`},    // 12ms
		{lexicon.Digit, NameWord, `^(?:L|\d)+$`},            // sha256, 3f786850e3
		{lexicon.Colon, PlainWord, `^[^.]*[^.:]:\d[\d,]*$`}, // at:12
		{lexicon.Colon, NameWord, `\..*:\d[\d,.]*$`},        // a.go:12
		{lexicon.Digit, NumberWord, `^\d[^.-]*\.[^.-]*$`},   // 1.5x
		{lexicon.Digit, VersionWord, `^v?\d.*\.`},
		{0, PlainWord, `\..*[,;!?]|[,;!?].*\.|^\..{0,2}$|^(?:[^.]\.)+[^.]?$`}, // e.g
		{0, NameWord, `^(?:[^.]*(?:L|[\d_]))?\.`},                             // config.yaml
		{0, PlainWord, `\.`},
		{0, NameWord, `L.*[=(<$\\]|[=(<$\\].*L|^-.{2,}[A-Za-z\d]$|::`}, // std::vector, --dry-run
		{lexicon.Digit, NumberWord, `^\d`},
	} {
		all = append(all, form{f.has, f.kind, regexp.MustCompile(strings.ReplaceAll(f.form, "L", `[A-Za-z[:^ascii:]]`))})
	}
	return all
}()

// afterColon reports whether a name ends in the number of a line, perhaps with a column: a.go:12:3.
func afterColon(s string) bool {
	i := strings.LastIndexByte(s, ':')
	return i > 0 && i+1 < len(s) && s[i+1]-'0' < 10 && lexicon.IsNumber(s[i+1:])
}
