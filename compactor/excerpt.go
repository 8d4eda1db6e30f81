package compactor

import (
	"strings"
	"unicode/utf8"

	"ccd/internal/mark"
)

// runes counts characters, the unit of every limit on text. Most text is ASCII, which goes eight bytes at a time.
func runes(s string) int {
	const ascii = 0x8080808080808080
	n := len(s)
	for i := 0; i < len(s); {
		if i+8 <= len(s) && eight(s[i:i+8])&ascii == 0 {
			i += 8
			continue
		}
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		n -= size - 1
		i += size
	}
	return n
}

// eight is the first eight bytes of a text as a number.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// head is the first n characters of a text.
func head(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

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

// lineHead is the first n characters of a text, up to a line end where one is near.
func lineHead(s string, n int) string {
	h := head(s, n)
	if i := strings.LastIndexByte(h, '\n'); len(h) < len(s) && i > len(h)*2/3 {
		return h[:i]
	}
	return h
}

// lineTail is the last n characters of a text, from the beginning of a line where one is near.
func lineTail(s string, n int) string {
	t := tail(s, n)
	if i := strings.IndexByte(t, '\n'); len(t) < len(s) && i >= 0 && i < len(t)/3 {
		return t[i+1:]
	}
	return t
}

// code is a piece of the transcript as inline code of a line of ours.
func code(s string, most int) string { return "`" + mark.Inline(s, most) + "`" }

// errorStarts begin a line that reports something wrong.
var errorStarts = []string{
	"error", "err:", "fatal", "panic", "traceback", "exception", "fail", "--- fail", "e   ", "assert", "warning", "warn:",
	"undefined", "syntaxerror", "typeerror", "✗", "✕", "×", "caused by", "npm err",
}

// errorParts make a line one that reports something wrong wherever they stand.
var errorParts = []string{
	"error:", "error[", " error ", " errors ", "exception:", "panic:", "failed", "failure", "fatal:", "cannot ", "can't ",
	"not found", "no such file", "permission denied", "undefined", "unexpected", "assertion", "timed out", "timeout",
	"refused", "invalid", "unable to", "segmentation", "warning:", "does not exist", "command not found",
}

// errorNots take a line out again: counts of nothing.
var errorNots = []string{"0 error", "no error", "0 failed", "0 failure", "errors: 0", "0 warning", "failed: 0", "failures: 0"}

// isError reports whether a line tells of something wrong. A strict look takes only lines that begin so, after a place
// such as `a.go:12:3:`; it is meant for the output of commands that succeeded, where source text is likely.
func isError(line string, strict bool) bool {
	if isBanner(line) {
		return false
	}
	low := strings.ToLower(strings.TrimSpace(line[:min(len(line), 600)]))
	for _, n := range errorNots {
		if i := strings.Index(low, n); i == 0 || (i > 0 && (low[i-1] < '0' || low[i-1] > '9')) {
			return false
		}
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
	for _, p := range errorParts {
		if strings.Contains(low, p) {
			return true
		}
	}
	return false
}

// isBanner reports whether a line is a heading between two rules, such as `==== FAILURES ====`: it names what follows and
// says nothing itself.
func isBanner(line string) bool {
	line = strings.TrimSpace(line)
	if len(line) < 6 || !strings.ContainsRune("=-_*#~+", rune(line[0])) {
		return false
	}
	rule := line[:1] + line[:1] + line[:1]
	return strings.HasPrefix(line, rule) && strings.HasSuffix(line, rule)
}

// afterPlace is a line without a leading `path:line:col:`.
func afterPlace(line string) string {
	first, rest, ok := strings.Cut(line, ": ")
	if ok && strings.Contains(first, ":") && !strings.Contains(first, " ") {
		return rest
	}
	return line
}

// mostDistinct bounds the distinct error lines of one output that are told apart.
const mostDistinct = 400

// errorsOf gives the distinct error and warning lines of an output, at most n of them, in order: those that name a
// place or a cause before those in which a runner only says that something failed. Hidden counts the others. A message
// that one of them has told is not told again by the next.
func errorsOf(text string, n int, strict bool) (lines []string, hidden int) {
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || seen[line] || !isError(line, strict) {
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
		number = isNumber(field)
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

func isNumber(s string) bool {
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && s[i] != ',' && s[i] != '.' {
			return false
		}
	}
	return s != ""
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
