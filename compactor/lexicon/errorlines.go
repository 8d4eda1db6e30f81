package lexicon

import (
	"iter"
	"slices"
	"strings"
)

// mostDistinct is how many distinct error lines of one output are compared.
const mostDistinct = 400

// Errors are the distinct error and warning lines of an output, in order. A message in one line is not repeated in the next.
type Errors struct {
	lines  []string
	hidden int // further ones
}

// ErrorsOf returns the error lines of an output.
func ErrorsOf(text string, strict bool) (e Errors) {
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || seen[line] || !IsError(line, strict) {
			continue
		}
		seen[line] = true
		if len(e.lines) > mostDistinct {
			e.hidden++
			continue
		}
		if line = untold(line, e.lines[:min(len(e.lines), 2*minMessage)]); line != "" {
			e.lines = append(e.lines, line)
		}
	}
	return e
}

// Best returns at most n of the lines, in order. It prefers lines that name a place or cause to those in which a runner only
// reports a failure. hidden counts the others.
func (e Errors) Best(n int) (lines []string, hidden int) {
	lines, hidden = slices.Clip(e.lines), e.hidden
	if len(lines) <= n {
		return lines, hidden
	}
	hidden += len(lines) - n
	if n == 0 {
		return nil, hidden
	}
	kept := make([]string, 0, n)
	wrappers := 0
	for _, l := range lines {
		if isWrapper(l) {
			wrappers++
		}
	}
	spare := max(0, n-(len(lines)-wrappers)) // number of wrapper lines that fit
	last := lines[len(lines)-1]
	for _, l := range lines {
		if isWrapper(l) {
			if spare == 0 {
				continue
			}
			spare--
		}
		if len(kept) < n {
			kept = append(kept, l)
		}
	}
	if !isWrapper(last) {
		kept[len(kept)-1] = last
	}
	return kept, hidden
}

// wrapperParts occur in lines in which a runner reports that a command failed, but not why.
var wrapperParts = []string{
	"task failed", "command failed", "exit status", "exit code", "make: ***", "make[", "npm err", "elifecycle", "error: process completed",
	"test failed.", "build failed", "tests failed",
}

func isWrapper(line string) bool {
	low := strings.ToLower(line[:min(len(line), 200)])
	for _, p := range wrapperParts {
		if strings.Contains(low, p) {
			return true
		}
	}
	return false
}

// minMessage is the length from which a repeated message counts as the same one, in bytes.
const minMessage = 16

// untold returns the part of a line that the lines before do not have, because test runners repeat a message after the name of
// its test.
func untold(line string, before []string) string {
	for _, b := range before {
		msg := strings.TrimSpace(strings.TrimPrefix(b, "E "))
		if len(msg) < minMessage {
			continue
		}
		if i := strings.Index(line, msg); i >= 0 {
			line = strings.TrimRight(line[:i], " -:>") + line[i+len(msg):]
		}
		if strings.Contains(b, strings.TrimSpace(line)) {
			return ""
		}
	}
	return strings.TrimSpace(line)
}

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
