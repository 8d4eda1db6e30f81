package fold

import (
	"strings"

	"ccd/compactor/lexicon"
)

// owns reports whether a reply begins by admitting that the human was right, so that the human's message was a correction.
func owns(reply string) bool {
	s := lexicon.Lower(reply[:min(len(reply), 80)])
	for _, start := range []string{"you're right", "you are right", "you're absolutely right", "you are absolutely right", "i apologize", "i apologise", "my mistake", "good catch", "sorry,", "sorry about"} {
		if strings.HasPrefix(s, start) {
			return true
		}
	}
	return false
}
