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
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, l := range slices.Backward(lines[max(0, len(lines)-summaryLines):]) {
		if l = strings.TrimSpace(l); len(l) < 400 && IsSummaryLine(l) {
			return strings.Trim(l, "= ")
		}
	}
	return ""
}

// IsFrame reports whether a trimmed line is a stack frame.
func IsFrame(t string) bool {
	switch {
	case strings.HasPrefix(t, "at "):
		t = strings.TrimSuffix(t, ")")
		i := strings.LastIndexByte(t, ':')
		return strings.HasSuffix(t, "(Native Method") || i > 0 && lexicon.IsNumber(t[i+1:])
	case strings.HasPrefix(t, `File "`):
		return strings.Contains(t, `", line `)
	case strings.HasPrefix(t, "goroutine "):
		return strings.HasSuffix(t, "]:")
	}
	return false
}
