package filter

import (
	"slices"
	"strings"

	"ccd/compactor/lexicon"
)

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

// IsSummaryLine reports whether a line sums up an output, by its beginning or by a count in it.
func IsSummaryLine(line string) bool {
	for _, s := range summaryStarts {
		if strings.HasPrefix(line, s) {
			return true
		}
	}
	number := false
	for field := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(" \t,;:=()[]", r) }) {
		if number && counted[strings.ToLower(strings.Trim(field, "(+-).!"))] {
			return true
		}
		number = lexicon.IsNumber(field)
	}
	return false
}

// summaryLines is how many lines at the end of an output are searched for a summary line.
const summaryLines = 40

// SummaryLine returns the last summary line among the last 40 lines of an output, "" if there is none.
func SummaryLine(text string) string {
	lines := LastLines(text, summaryLines)
	for i := len(lines) - 1; i >= 0; i-- {
		if l := strings.TrimSpace(lines[i]); len(l) < 400 && IsSummaryLine(l) {
			return strings.Trim(l, "= ")
		}
	}
	return ""
}

// LastLines returns the last n lines that are not blank, in order.
func LastLines(text string, n int) []string {
	var lines []string
	for text != "" && len(lines) < n {
		i := strings.LastIndexByte(strings.TrimRight(text, "\n"), '\n')
		if l := strings.TrimRight(text[i+1:], "\r\n\t "); l != "" {
			lines = append(lines, l)
		}
		text = text[:i+1]
	}
	slices.Reverse(lines)
	return lines
}

// IsFrame reports whether a trimmed line is a stack frame.
func IsFrame(t string) bool {
	switch {
	case strings.HasPrefix(t, "at "):
		return strings.HasSuffix(t, "(Native Method)") || afterColon(strings.TrimSuffix(t, ")"))
	case strings.HasPrefix(t, `File "`):
		return strings.Contains(t, `", line `)
	case strings.HasPrefix(t, "goroutine "):
		return strings.HasSuffix(t, "]:")
	}
	return false
}
