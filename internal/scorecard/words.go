package scorecard

import (
	"iter"
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	ansi       = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)
	version    = regexp.MustCompile(`^(?:[vV]?\d+\.\d+\.\d+(?:[-+.][0-9A-Za-z.]*[0-9A-Za-z])?|[vV]\d+(?:\.\d+)+)\b`)
	errorWord  = regexp.MustCompile(`(?i)\b(?:[a-z]*error|errors|[a-z]*exception|assert[a-z]*|panic|fatal|traceback|fail(?:ed|ure|ures|s)?|cannot|can't|could not|not found|no such|denied|undefined|unexpected|invalid|unknown|unresolved|refused|timed? ?out|segfault|segmentation fault|killed|aborted)\b|^\s*(?:E  |✗|✕|×)|[a-z]Error\b|[a-z]Exception\b`)
	decision   = regexp.MustCompile(`(?i)\b(?:decid(?:e|ed|ing)|decision|choos(?:e|ing)|chose|chosen|opt(?:ed|ing)? for|go(?:ing)? with|went with|instead of|rather than|reject(?:ed|ing)?|rul(?:e|ed|ing) out|conclu(?:de|ded|sion)|root cause|the (?:real |actual |underlying )?(?:issue|problem|bug|cause|reason|fix) (?:is|was)|turns out|won't work|doesn't work|trade-?off|settled on|recommend(?:ed)?|better to)\b`)
	constraint = regexp.MustCompile(`(?i)\b(?:must(?:n't)?|never|always|do not|don't|dont|avoid|instead|make sure|ensure|only|should(?:n't)?|needs? to|has to|have to|cannot|can't|at most|at least|not allowed|wrong|actually|revert|undo)\b`)
	hit        = regexp.MustCompile(`(?m)^[^\s:]*[./][^\s:]*(?::\d+)?|https?://[^\s"<>)\]]+`)
	total      = regexp.MustCompile(`(?i)\b\d+ (?:tests? )?(?:passed|passing|failed|failing|tests?|errors?|warnings?|problems?)\b|^(?:ok|PASS|FAIL|BUILD|test result:|Tests:)\b`)
	listMark   = regexp.MustCompile(`^(?:[-*+•]|\d+[.)]|#+|>)\s+`)
	quoted     = regexp.MustCompile(`^[ \t]*>[ \t]`)
	removal    = regexp.MustCompile(`(?:^|&&|;)\s*(?:git )?rm((?:\s+[^\s;&|<>*?$'"` + "`" + `(){}]+)+)\s*(?:$|&&|;)`)
)

// normal is text as it is compared: without colours, emphasis and backticks, each run of white space one space.
func normal(text string) string {
	if strings.IndexByte(text, '\x1b') >= 0 {
		text = ansi.ReplaceAllString(text, "")
	}
	return strings.Join(strings.Fields(plainMarks.Replace(text)), " ")
}

var plainMarks = strings.NewReplacer("**", "", "`", "")

func long(text string, most int) bool {
	return len(text) > most && utf8.RuneCountInString(text) > most
}

// head is the first n characters.
func head(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// tail is the last n characters.
func tail(text string, n int) string {
	i := len(text)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:i])
		i -= size
	}
	return text[i:]
}

// saying yields the sentences of a text, outside of fences, that match what: normalised, at most lineChars.
func saying(text string, what *regexp.Regexp) iter.Seq[string] {
	return func(yield func(string) bool) {
		fenced := false
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
				fenced = !fenced
			}
			if fenced || strings.HasPrefix(line, "#") || !what.MatchString(line) {
				continue
			}
			for _, s := range sentences(normal(listMark.ReplaceAllString(line, ""))) {
				if strings.Count(s, " ") >= leastWords && what.MatchString(s) && !yield(head(s, lineChars)) {
					return
				}
			}
		}
	}
}

// fences yields the beginnings of the fenced blocks of a text: normalised, at most lineChars.
func fences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text = "\n" + text; ; {
			_, rest, ok := strings.Cut(text, "\n```")
			_, rest, opened := strings.Cut(rest, "\n")
			block, after, closed := strings.Cut(rest, "\n```")
			if !ok || !opened || !closed {
				return
			}
			if c := head(normal(head(block, 4*lineChars)), lineChars); strings.Contains(c, " ") && !yield(c) {
				return
			}
			text = after
		}
	}
}

// leastWords is how many spaces a sentence has at the least: what has fewer is a heading.
const leastWords = 5

// sentences cuts a line behind each full stop, question or exclamation mark that a space follows.
func sentences(line string) (all []string) {
	start := 0
	for i := 1; i < len(line); i++ {
		if line[i] == ' ' && strings.IndexByte(".!?", line[i-1]) >= 0 && i-start > 4 {
			all = append(all, line[start:i])
			start = i + 1
		}
	}
	return append(all, line[start:])
}

// maxErrorText is how much of each end of a result is searched for errors, in bytes.
const maxErrorText = 256 << 10

// errorLines yields the distinct lines of a failed result that report an error: normalised, at most lineChars.
func errorLines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		seen := map[string]bool{}
		if len(text) > 2*maxErrorText {
			text = text[:maxErrorText] + "\n" + text[len(text)-maxErrorText:]
		}
		for line := range strings.Lines(text) {
			line = head(line, 4*lineChars)
			if !errorWord.MatchString(line) {
				continue
			}
			if l := head(normal(line), lineChars); len(l) > 3 && !seen[l] {
				seen[l] = true
				if !yield(l) {
					return
				}
			}
		}
	}
}

// firstHit is the first place or address that a search result names, "" where it names none.
func firstHit(text string) string { return hit.FindString(head(text, 4*longResult)) }

// totalLine is the last line of an output that sums it up: normalised, at most cmdChars.
func totalLine(text string) string {
	text = tail(text, 4*longResult)
	for text != "" {
		i := strings.LastIndexByte(text, '\n')
		if line := text[i+1:]; total.MatchString(head(line, 4*lineChars)) {
			return head(normal(line), cmdChars)
		}
		text = text[:max(i, 0)]
	}
	return ""
}

// removed returns the paths that a shell command removes for certain: plain words behind a plain rm, in the directory
// that it starts in.
func removed(command string) (paths []string) {
	if strings.Contains(command, "cd ") || !strings.Contains(command, "rm ") {
		return nil
	}
	for _, m := range removal.FindAllStringSubmatch(command, -1) {
		for _, w := range strings.Fields(m[1]) {
			if !strings.HasPrefix(w, "-") {
				paths = append(paths, w)
			}
		}
	}
	return paths
}
