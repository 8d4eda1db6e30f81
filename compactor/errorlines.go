package compactor

import (
	"iter"
	"strings"

	"ccd/compactor/prose"
)

// ErrorLines yields the lines of an output that tell of something wrong, with their numbers from 1 on, as they stand but
// without their line ends: what open errors in State are made from. Strict is for text that may be source: only lines
// that begin so count.
func ErrorLines(output string, strict bool) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		n := 0
		for line := range strings.Lines(output) {
			n++
			line = strings.TrimRight(line, "\r\n")
			if strings.TrimSpace(line) != "" && prose.IsError(line, strict) && !yield(n, line) {
				return
			}
		}
	}
}
