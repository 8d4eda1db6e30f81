package compactor

import (
	"strings"
	"unicode/utf8"

	"ccd/compactor/prose"
	"ccd/internal/mark"
)

// tail is the last n characters of a text.
func tail(s string, n int) string {
	for i := len(s); i > 0; n-- {
		if n == 0 {
			return s[i:]
		}
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s
}

// code is a piece of the transcript as inline code of a line of ours.
func code(s string, most int) string { return "`" + mark.Inline(s, most) + "`" }

// mostDistinct bounds the distinct error lines of one output that are told apart.
const mostDistinct = 400

// errorsOf gives the distinct error and warning lines of an output, at most n of them, in order: those that name a
// place or a cause before those in which a runner only says that something failed. Hidden counts the others. A message
// that one of them has told is not told again by the next.
func errorsOf(text string, n int, strict bool) (lines []string, hidden int) {
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || seen[line] || !prose.IsError(line, strict) {
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

// counted are the nouns of a summary line: `38 passed`, `3 files changed`.
var counted = map[string]bool{
	"passed": true, "failed": true, "test": true, "tests": true, "errors": true, "error": true, "warnings": true,
	"warning": true, "failures": true, "failure": true, "examples": true, "suites": true, "files": true, "file": true,
	"insertions": true, "insertion": true, "deletions": true, "problems": true, "matches": true, "skipped": true,
	"packages": true, "passing": true, "failing": true, "pending": true, "assertions": true, "total": true, "modules": true,
}

// summaryStarts begin a summary line.
var summaryStarts = []string{
	"ok ", "ok\t", "FAIL", "PASS", "Tests:", "Test Suites:", "BUILD", "Finished", "Successfully", "Done", "Ran ", "test result:",
	"All checks passed", "Build succeeded",
}

func isSummary(line string) bool {
	for _, s := range summaryStarts {
		if strings.HasPrefix(line, s) {
			return true
		}
	}
	number := false
	for field := range strings.FieldsFuncSeq(line, parts) {
		if number && counted[strings.ToLower(strings.Trim(field, "(+-).!"))] {
			return true
		}
		number = prose.IsNumber(field)
	}
	return false
}

// parts reports whether a sign stands between the fields of a line that sums up.
func parts(r rune) bool {
	switch r {
	case ' ', '\t', ',', ';', ':', '=', '(', ')', '[', ']':
		return true
	}
	return false
}

// summaryLines are the lines at the end of an output among which those that sum it up are looked for.
const summaryLines = 40

// summaryOf is the newest line of an output that sums it up, among its last 40; "" where there is none.
func summaryOf(text string) string {
	lines := lastLines(text, summaryLines)
	for i := len(lines) - 1; i >= 0; i-- {
		if l := strings.TrimSpace(lines[i]); len(l) < 400 && isSummary(l) {
			return strings.Trim(l, "= ")
		}
	}
	return ""
}

// lastLines gives the last n lines that are not blank, in order.
func lastLines(text string, n int) []string {
	var lines []string
	for text != "" && len(lines) < n {
		i := strings.LastIndexByte(strings.TrimRight(text, "\n"), '\n')
		if l := strings.TrimRight(text[i+1:], "\r\n\t "); l != "" {
			lines = append(lines, l)
		}
		text = text[:i+1]
	}
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return lines
}

// countLines counts lines that are not blank.
func countLines(text string) int {
	n := 0
	for l := range strings.Lines(text) {
		if strings.TrimSpace(l) != "" {
			n++
		}
	}
	return n
}
