package lexicon

import (
	"iter"
	"strings"
)

// NumberedErrors yields the error lines of an output with their numbers from 1, without line ends. strict is as in IsError.
func NumberedErrors(output string, strict bool) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		n := 0
		for line := range strings.Lines(output) {
			n++
			line = strings.TrimRight(line, "\r\n")
			if strings.TrimSpace(line) != "" && IsError(line, strict) && !yield(n, line) {
				return
			}
		}
	}
}
