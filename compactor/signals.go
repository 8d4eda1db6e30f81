package compactor

import (
	"strings"
	"unicode/utf8"
)

// The word lists below are general English, written for this package from everyday usage; none is taken from a
// transcript, a data set or another program. A phrase counts where it stands as whole words, in any case.

// correctionWords open or carry a correction of what was said or done before.
var correctionWords = phrases("not that", "don't", "do not", "dont", "wrong", "incorrect", "instead", "rather than",
	"actually", "wait", "sorry", "i meant", "i mean", "revert", "undo", "roll back", "rollback", "stop", "not what",
	"should have", "shouldn't have", "you forgot", "you missed", "correction", "never mind", "forget")

// constraintWords state what must hold.
var constraintWords = phrases("must", "must not", "never", "always", "only", "don't", "do not", "dont", "without", "avoid",
	"make sure", "ensure", "keep", "at most", "at least", "no more than", "exactly", "required", "require", "need to",
	"needs to", "should be", "should not", "shouldn't", "should only", "has to", "have to", "cannot", "can't", "before you", "until", "unless",
	"prefer", "under no", "not allowed", "limit")

// decisionWords tell that something was chosen, found or ruled out.
var decisionWords = phrases("decided", "decide", "decision", "i'll use", "we'll use", "going with", "go with", "chose",
	"choose", "chosen", "instead of", "rather than", "because", "root cause", "the cause", "the reason", "the problem is",
	"the problem was", "the issue is", "the issue was", "the bug is", "the bug was", "turns out", "rejected", "reject",
	"ruled out", "won't work", "doesn't work", "does not work", "didn't work", "trade-off", "tradeoff", "conclusion",
	"found that", "therefore", "so the fix", "the fix is", "the fix was", "fixed by", "works because", "better to",
	"opted", "settled on", "confirmed")

// leaningWords tell that something is preferred, needed, or to be kept off.
var leaningWords = phrases("must", "should", "need to", "needs to", "needed", "require", "requires", "required", "don't",
	"do not", "avoid", "never", "always", "only", "instead", "prefer", "preferred", "recommend", "recommended", "fix", "fixed",
	"fixes", "use", "uses", "using", "missing", "means", "important", "critical", "note", "so that", "since", "correct", "wrong",
	"rather", "keep", "safe", "cannot", "can't", "won't", "decides")

// owns reports whether a reply opens by owning that the human was right: what the human said then was a correction.
func owns(reply string) bool {
	s := lower(reply[:min(len(reply), 80)])
	for _, start := range []string{"you're right", "you are right", "you're absolutely right", "you are absolutely right", "i apologize", "i apologise", "my mistake", "good catch", "sorry,", "sorry about"} {
		if strings.HasPrefix(s, start) {
			return true
		}
	}
	return false
}

// phrases maps the first word of each phrase to its whole forms.
func phrases(list ...string) map[string][]string {
	m := map[string][]string{}
	for _, p := range list {
		first, _, _ := strings.Cut(p, " ")
		m[first] = append(m[first], p)
	}
	return m
}

// maxSignal bounds how much of one text is searched for phrases, in bytes.
const maxSignal = 64 << 10

// hasAny reports whether the text holds one of the phrases.
func hasAny(text string, words map[string][]string) bool {
	text = lower(text[:min(len(text), maxSignal)])
	for i := 0; i < len(text); {
		for i < len(text) && !isWord(text[i]) {
			i++
		}
		j := i
		for j < len(text) && (isWord(text[j]) || text[j] == '\'' || text[j] == '-') {
			j++
		}
		for _, p := range words[strings.TrimRight(text[i:j], "'-")] {
			if strings.HasPrefix(text[i:], p) && (i+len(p) == len(text) || !isWord(text[i+len(p)])) {
				return true
			}
		}
		i = max(j, i+1)
	}
	return false
}

func isWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '_' || b >= utf8.RuneSelf
}

// lower is ASCII lower case, with the typographic apostrophe made plain.
func lower(s string) string {
	return strings.ReplaceAll(strings.ToLower(s), "’", "'")
}

// errorWords are what tools write where something is wrong; they are looked for as they stand.
var errorWords = []string{"rror", "FAIL", "ailed", "panic", "xception", "raceback", "atal", "ssert"}

// errorEnd is how much of each end of an output is searched for them, in bytes: tools tell at an end what went wrong.
const errorEnd = 8 << 10

// hasErrorWord reports whether a text may hold error lines: cheap, for every result.
func hasErrorWord(text string) bool {
	ends := [2]string{text}
	if len(text) > 2*errorEnd {
		ends = [2]string{text[:errorEnd], text[len(text)-errorEnd:]}
	}
	for _, end := range ends {
		for _, w := range errorWords {
			if strings.Contains(end, w) {
				return true
			}
		}
	}
	return false
}
