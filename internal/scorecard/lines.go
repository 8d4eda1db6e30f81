package scorecard

import (
	"strings"

	"ccd/compactor/lexicon"
)

// The lines of a tool's output that show its result. They match forms of output, not of a language. If none matches,
// the last line counts for a failure, and no line for a success.
var (
	errorWord = lazy(`(?i)\b(?:[a-z]*error|errors|[a-z]*exception|assert[a-z]*|panic|fatal|traceback|fail(?:ed|ure|ures|s)?|cannot|can't|could not|not found|no such|denied|undefined|unexpected|invalid|unknown|unresolved|refused|timed? ?out|segfault|segmentation fault|killed|aborted)\b|^\s*(?:E  |✗|✕|×)`)
	total     = lazy(`(?i)\b\d+ (?:tests? )?(?:passed|passing|failed|failing|tests?|errors?|warnings?|problems?)\b|^(?:BUILD|test result:|Tests:)`)
	verdict   = lazy(`^(?:ok|PASS|FAIL|OK)\b`)
)

// maxOutput is how much of each end of an output is searched, in bytes.
const maxOutput = 256 << 10

// outputLines returns the lines of an output with some text; of a very long output, those of both ends.
func outputLines(text string) (all []string) {
	if len(text) > 2*maxOutput {
		text = text[:maxOutput] + "\n" + text[len(text)-maxOutput:]
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(lexicon.Head(line, 4*lineChars)); len(line) > 3 {
			all = append(all, line)
		}
	}
	return all
}

// problem returns the first line of a failed output that reports an error, or else its last line.
func problem(text string) string {
	lines := outputLines(text)
	for _, l := range lines {
		if errorWord().MatchString(l) {
			return lexicon.Head(normal(l), lineChars)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return lexicon.Head(normal(lines[len(lines)-1]), lineChars)
}

// outcome returns the line of an output that shows the result, if that is clear: the only line if it is short, the last
// line of a commit, a push or with a count, or the only verdict.
func outcome(text string) string {
	lines := outputLines(text)
	if len(lines) == 1 && !long(lines[0], headChars) {
		return lexicon.Head(normal(lines[0]), cmdChars)
	}
	verdicts, found := 0, ""
	for _, l := range lines {
		switch {
		case total().MatchString(l) || committed().MatchString(l) || refs().MatchString(l) && strings.Contains(l, ".."):
			verdicts, found = 1, l
		case verdict().MatchString(l) && (found == "" || verdict().MatchString(found)):
			verdicts, found = verdicts+1, l
		}
	}
	if verdicts != 1 {
		return ""
	}
	return lexicon.Head(normal(found), cmdChars)
}
