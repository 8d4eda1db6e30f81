package lexicon

import "strings"

// AllLines counts the lines of a text, including blank ones.
func AllLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
