package scorecard

import (
	"iter"
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	ansi       = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)
	number     = regexp.MustCompile(`(?i)\b\d+(?:[.,]\d+)*[ -]?(?:%|(?:ns|µs|us|ms|s|sec|secs|seconds?|min|mins|minutes?|h|hrs?|hours?|days?|weeks?|months?|years?|[kmgt]i?b|bytes?|chars?|characters?|lines?|tokens?|files?|tests?|commits?|errors?|failures?|warnings?|times|items?|rows?|records?|requests?|users?|cents?|px|x|hz|khz|mhz|ghz|passed|failed|skipped)\b)`)
	link       = regexp.MustCompile("\\b(?:https?|ssh|git|file|wss?|ftp)://[^\\s<>\"'`|\\\\\\])}]+")
	hash       = regexp.MustCompile(`\b(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{7,64})\b`)
	version    = regexp.MustCompile(`\b[vV]?\d+\.\d+\.\d+(?:[-+.][0-9A-Za-z.]*[0-9A-Za-z])?\b|\b[vV]\d+(?:\.\d+)+\b`)
	identifier = regexp.MustCompile(`\b(?:[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+|_*[a-z]+[a-z0-9]*(?:[A-Z][A-Za-z0-9]*)+|[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+|[A-Za-z_][A-Za-z0-9_]+(?:\.[A-Za-z_][A-Za-z0-9_]+)+)\b`)
	codeSpan   = regexp.MustCompile("`([^`\\n]{2,60})`")
	errorWord  = regexp.MustCompile(`(?i)\b(?:[a-z]*error|errors|[a-z]*exception|assert[a-z]*|panic|fatal|traceback|fail(?:ed|ure|ures|s)?|cannot|can't|could not|not found|no such|denied|undefined|unexpected|invalid|unknown|unresolved|refused|timed? ?out|segfault|segmentation fault|killed|aborted)\b|^\s*(?:E  |✗|✕|×)|[a-z]Error\b|[a-z]Exception\b`)
	decision   = regexp.MustCompile(`(?i)\b(?:decid(?:e|ed|ing)|decision|choos(?:e|ing)|chose|chosen|opt(?:ed|ing)? for|go(?:ing)? with|went with|instead of|rather than|reject(?:ed|ing)?|rul(?:e|ed|ing) out|conclu(?:de|ded|sion)|root cause|the (?:real |actual |underlying )?(?:issue|problem|bug|cause|reason|fix) (?:is|was)|turns out|won't work|doesn't work|trade-?off|settled on|recommend(?:ed)?|better to)\b`)
	constraint = regexp.MustCompile(`(?i)\b(?:must(?:n't)?|never|always|do not|don't|dont|avoid|instead|make sure|ensure|only|should(?:n't)?|needs? to|has to|have to|cannot|can't|at most|at least|not allowed|wrong|actually|revert|undo)\b`)
	hit        = regexp.MustCompile(`(?m)^[^\s:]*[./][^\s:]*(?::\d+)?|https?://[^\s"<>)\]]+`)
	total      = regexp.MustCompile(`(?i)\b\d+ (?:tests? )?(?:passed|passing|failed|failing|tests?|errors?|warnings?|problems?)\b|^(?:ok|PASS|FAIL|BUILD|test result:|Tests:)\b`)
	hasDigit   = regexp.MustCompile(`[0-9]`)
	hasLetter  = regexp.MustCompile(`[a-f]`)
	listMark   = regexp.MustCompile(`^(?:[-*+•]|\d+[.)]|#+|>)\s+`)
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

// words yields the facts of a text that are words: numbers, identifiers, addresses, hashes and versions.
func words(text string) iter.Seq2[Class, string] {
	return func(yield func(Class, string) bool) {
		for _, w := range link.FindAllString(text, -1) {
			if !yield(URLs, strings.TrimRight(w, ".,;:!?*_")) {
				return
			}
		}
		text = link.ReplaceAllString(text, " ")
		for _, w := range number.FindAllString(text, -1) {
			if !yield(Numbers, normal(w)) {
				return
			}
		}
		for _, w := range version.FindAllString(text, -1) {
			if !yield(Hashes, w) {
				return
			}
		}
		for _, w := range hash.FindAllString(text, -1) {
			if hasDigit.MatchString(w) && hasLetter.MatchString(w) && !yield(Hashes, w) {
				return
			}
		}
		named(text, func(w string) bool { return yield(Identifiers, w) })
	}
}

func named(text string, yield func(string) bool) {
	for _, m := range codeSpan.FindAllStringSubmatch(text, -1) {
		if w := strings.TrimSuffix(normal(m[1]), "()"); len(w) > 1 && !yield(w) {
			return
		}
	}
	text = codeSpan.ReplaceAllString(text, " ")
	for _, w := range identifier.FindAllString(text, -1) {
		if !yield(w) {
			return
		}
	}
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

// errorLines yields the distinct lines of a failed result that report an error: normalised, at most lineChars.
func errorLines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		seen := map[string]bool{}
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
func totalLine(text string) (last string) {
	for line := range strings.Lines(tail(text, 4*longResult)) {
		if total.MatchString(head(line, 4*lineChars)) {
			last = head(normal(line), cmdChars)
		}
	}
	return last
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
