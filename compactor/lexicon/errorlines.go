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

// FirstError returns the first line of an output that reports an error, "" if none does. Warnings are none, and in a listing of the source
// with the error only the lines that begin with E are.
func FirstError(output string) string {
	listed := strings.Contains("\n"+output, "\nE  ")
	for _, line := range NumberedErrors(output, true) {
		if !strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "warn") && (!listed || strings.HasPrefix(line, "E  ")) {
			return line
		}
	}
	return ""
}

// units are those of a duration, as tools print them.
var units = []string{"ms", "seconds", "secs", "sec", "s", "min"}

// HasDuration reports whether a line has a number of seconds, milliseconds or minutes, such as `0.12s` or `45 seconds`.
func HasDuration(line string) bool {
	for i := 1; i < len(line); i++ {
		if line[i-1]-'0' > 9 {
			continue
		}
		rest := strings.TrimPrefix(line[i:], " ")
		for _, unit := range units {
			if after, ok := strings.CutPrefix(rest, unit); ok && (after == "" || ClassOf(after[0])&(Letters|Digit) == 0) {
				return true
			}
		}
	}
	return false
}
