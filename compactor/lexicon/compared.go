package lexicon

import (
	"strings"
	"unicode"
)

// Plain returns text in the form in which texts are compared: lower case, without quotes and emphasis, on one line.
func Plain(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("*", "", "`", "", "\"", "", "\n> ", " ").Replace(Lower(text))), " ")
}

// WordSet returns the distinct words of a sentence that are long enough to matter; each ideograph is one.
func WordSet(sentence string) map[string]bool {
	set := map[string]bool{}
	for _, f := range strings.FieldsFunc(Lower(sentence), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if first := []rune(f)[0]; !IsWide(first) {
			if len(f) > 3 || unicode.IsDigit(first) {
				set[f] = true
			}
			continue
		}
		for _, r := range f {
			set[string(r)] = true
		}
	}
	return set
}
