package lexicon

import (
	"iter"
	"strings"
)

// mostDistinct bounds the distinct error lines of one output that are told apart.
const mostDistinct = 400

// ErrorLines gives the distinct error and warning lines of an output, at most n of them, in order: those that name a
// place or a cause before those in which a runner only says that something failed. Hidden counts the others. A message
// that one of them has told is not told again by the next.
func ErrorLines(text string, n int, strict bool) (lines []string, hidden int) {
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || seen[line] || !IsError(line, strict) {
			continue
		}
		seen[line] = true
		if len(lines) > mostDistinct {
			hidden++
			continue
		}
		if line = untold(line, lines[:min(len(lines), 2*minMessage)]); line != "" {
			lines = append(lines, line)
		}
	}
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
	spare := max(0, n-(len(lines)-wrappers)) // wrappers that there is room for
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

// wrapperParts are in lines in which a runner says that what it ran has failed, not why.
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

// minMessage is the length from which a message that comes again is taken for the same one, in bytes.
const minMessage = 16

// untold is what a line tells that those before it do not: test runners repeat a message behind the name of its test.
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

// NumberedErrors yields the lines of an output that tell of something wrong, with their numbers from 1 on, as they stand
// but without their line ends. Strict is as IsError has it.
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
