package lexicon

import (
	"slices"
	"strings"
)

// errorStarts are the beginnings of error lines.
var errorStarts = []string{
	"error", "err:", "fatal", "panic", "traceback", "exception", "fail", "--- fail", "e   ", "assert", "warning", "warn:",
	"undefined", "syntaxerror", "typeerror", "✗", "✕", "×", "caused by", "npm err",
}

// errorParts mark an error line wherever they occur in it.
var errorParts = []string{
	"error:", "error[", " error ", " errors ", "exception:", "panic:", "failed", "failure", "fatal:", "cannot ", "can't ",
	"not found", "no such file", "permission denied", "undefined", "unexpected", "assertion", "timed out", "timeout",
	"refused", "invalid", "unable to", "segmentation", "warning:", "does not exist", "command not found",
}

// errorNots exclude lines with a count of zero errors.
var errorNots = []string{"0 error", "no error", "0 failed", "0 failure", "errors: 0", "0 warning", "failed: 0", "failures: 0"}

// nothing has the values of a line such as `Error: (none)`.
var nothing = map[string]bool{"(none)": true, "none": true, "null": true, "nil": true, "undefined": true, "0": true, "false": true, "no": true, "[]": true, "(empty)": true}

// IsError reports whether a line reports an error. With strict, the error must be at the beginning, perhaps after a place such
// as `a.go:12:3:`. strict is for the output of successful commands, which often contains source text.
func IsError(line string, strict bool) bool {
	if isBanner(line) {
		return false
	}
	low := strings.ToLower(strings.TrimSpace(line[:min(len(line), 600)]))
	for _, n := range errorNots {
		if i := strings.Index(low, n); i == 0 || (i > 0 && (low[i-1] < '0' || low[i-1] > '9')) {
			return false
		}
	}
	if _, value, ok := strings.Cut(low, ":"); ok && nothing[strings.Trim(value, "\"', ")] {
		return false
	}
	bare := strings.TrimLeft(afterPlace(low), "[]()*-> ")
	for _, s := range errorStarts {
		if strings.HasPrefix(bare, s) {
			return true
		}
	}
	if strings.HasPrefix(line, "E  ") {
		return true
	}
	if i := strings.Index(bare, "error: "); i >= 0 && i < 60 && !strings.ContainsAny(bare[:i], "\"'`({") {
		return true
	}
	if strict {
		return false
	}
	return slices.ContainsFunc(errorParts, func(p string) bool { return strings.Contains(low, p) })
}

// isBanner reports whether a line is a heading between two rules, such as `==== FAILURES ====`, which is not an error itself.
func isBanner(line string) bool {
	line = strings.TrimSpace(line)
	if len(line) < 6 || !strings.ContainsRune("=-_*#~+", rune(line[0])) {
		return false
	}
	rule := line[:1] + line[:1] + line[:1]
	return strings.HasPrefix(line, rule) && strings.HasSuffix(line, rule)
}

// afterPlace returns a line without a leading `path:line:col:`.
func afterPlace(line string) string {
	first, rest, ok := strings.Cut(line, ": ")
	if ok && strings.Contains(first, ":") && !strings.Contains(first, " ") {
		return rest
	}
	return line
}
