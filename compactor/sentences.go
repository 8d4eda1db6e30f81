package compactor

import (
	"strings"

	"ccd/compactor/lexicon"
)

// saysNo reports whether a sentence opens with a plain no.
func saysNo(s string) bool {
	low := lexicon.Lower(s[:min(len(s), 8)])
	return strings.HasPrefix(low, "no ") || strings.HasPrefix(low, "no,") || strings.HasPrefix(low, "no.") ||
		strings.HasPrefix(low, "nope") || low == "no"
}

// isCorrection and isConstraint look at one sentence of a human.
func isCorrection(s string) bool { return saysNo(s) || correctionWords.In(s) }
func isConstraint(s string) bool { return constraintWords.In(s) }

// anySentence reports whether one sentence of the text, within the first 64 KB, is as is says.
func anySentence(text string, is func(string) bool) bool {
	for s := range lexicon.Sentences(text[:min(len(text), lexicon.Searched)]) {
		if is(s) {
			return true
		}
	}
	return false
}
