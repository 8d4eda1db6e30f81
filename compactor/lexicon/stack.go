package lexicon

import (
	"cmp"
	"strings"
)

// WithTop appends the top of a text's first stack trace to its error lines, unless they contain it.
func WithTop(text string, lines []string) []string {
	if len(lines) == 0 {
		return lines
	}
	if top := stackTop(text); top != "" && !Holds(lines, top) {
		return append(lines, top)
	}
	return lines
}

// Holds reports whether one of the lines contains a text.
func Holds(lines []string, s string) bool {
	for _, l := range lines {
		if strings.Contains(l, s) {
			return true
		}
	}
	return false
}

// stackTop returns the frame in which the error of a text's first stack trace occurred, "" if there is none. Python prints it
// last, other languages first.
func stackTop(text string) (top string) {
	kind := byte(0) // of the trace: p as Python's, g as Go's, a with at
	inner := false  // the function that the next line places is of the language itself
	for line := range strings.Lines(text) {
		t, flush := strings.TrimSpace(line), line[0] != ' ' && line[0] != '\t'
		python, goroutine, at := strings.HasPrefix(t, `File "`) && IsFrame(t), strings.HasPrefix(t, "goroutine ") && IsFrame(t), strings.HasPrefix(t, "at ")
		switch {
		case t == "":
		case python && (kind == 0 || kind == 'p'):
			kind, top = 'p', t
		case kind == 'p' && flush, kind == 'a' && !at, kind == 'g' && goroutine:
			return top
		case kind == 'p':
		case goroutine:
			kind = 'g'
		case kind == 'g' && flush:
			inner = isInner(t)
		case kind == 'g':
			if !inner && strings.Contains(t, ".go:") {
				return t
			}
		case at && (kind == 'a' || IsFrame(t)):
			if kind = 'a'; !isInner(t) {
				return t
			}
			top = cmp.Or(top, t)
		case strings.HasPrefix(t, "#0 "), IsPlaced(t) && (strings.HasSuffix(t, "Error") || strings.HasSuffix(t, "Exception")):
			return t
		}
	}
	return top
}

// isInner reports whether a frame is of the language's own machinery, not of the program.
func isInner(t string) bool {
	for _, p := range []string{"panic(", "runtime.", "runtime/", "at node:", "at java.", "at jdk.", "at sun.", "at System."} {
		if strings.HasPrefix(t, p) {
			return true
		}
	}
	return strings.Contains(t, "(node:internal")
}
