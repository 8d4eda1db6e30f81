package lexicon

import (
	"strings"
)

// WithTop appends the top of a text's first stack trace to its error lines, unless they tell it.
func WithTop(text string, lines []string) []string {
	if len(lines) == 0 {
		return lines
	}
	if top := stackTop(text); top != "" && !Holds(lines, top) {
		return append(lines, top)
	}
	return lines
}

// Holds reports whether one of the lines holds a text.
func Holds(lines []string, s string) bool {
	for _, l := range lines {
		if strings.Contains(l, s) {
			return true
		}
	}
	return false
}

// stackTop is the frame of a text's first stack trace in which it happened; "" where there is none. Python tells it
// last, the others first.
func stackTop(text string) string {
	s := tracer{}
	for line := range strings.Lines(text) {
		if t := strings.TrimSpace(line); t != "" && s.line(t, line[0] != ' ' && line[0] != '\t') {
			return s.top
		}
	}
	return s.top
}

// tracer follows the lines of a text up to the end of its first trace.
type tracer struct {
	top   string
	kind  byte // of the trace: p as Python's, g as Go's, a with at, 0 while there is none
	inner bool // the function that the next line places is of the language itself
}

// line takes a trimmed line; it reports whether the trace is at its end, and top final.
func (s *tracer) line(t string, flush bool) bool {
	switch s.kind {
	case 'p':
		if isPythonFrame(t) {
			s.top = t
			return false
		}
		return flush
	case 'g':
		return s.goLine(t, flush)
	case 'a':
		if !strings.HasPrefix(t, "at ") {
			return true
		}
		if !isInner(t) {
			s.top = t
		}
		return s.top == t
	}
	return s.begin(t)
}

// begin looks for the first line of a trace.
func (s *tracer) begin(t string) bool {
	switch {
	case isPythonFrame(t):
		s.kind, s.top = 'p', t
	case strings.HasPrefix(t, "goroutine ") && IsFrame(t):
		s.kind = 'g'
	case strings.HasPrefix(t, "at ") && IsFrame(t):
		s.kind, s.top = 'a', t
		return !isInner(t)
	case strings.HasPrefix(t, "#0 "), IsPlaced(t) && (strings.HasSuffix(t, "Error") || strings.HasSuffix(t, "Exception")):
		s.top = t
		return true
	}
	return false
}

// goLine takes a line of a goroutine: a function, and below it where it stands.
func (s *tracer) goLine(t string, flush bool) bool {
	if flush {
		s.inner = isInner(t)
		return s.top != "" || strings.HasPrefix(t, "goroutine ")
	}
	if !s.inner && strings.Contains(t, ".go:") {
		s.top = t
		return true
	}
	return false
}

func isPythonFrame(t string) bool { return strings.HasPrefix(t, `File "`) && IsFrame(t) }

// isInner reports whether a frame is of the language's own machinery, not of the program.
func isInner(t string) bool {
	for _, p := range []string{"panic(", "runtime.", "runtime/", "at node:", "at java.", "at jdk.", "at sun.", "at System."} {
		if strings.HasPrefix(t, p) {
			return true
		}
	}
	return strings.Contains(t, "(node:internal")
}
