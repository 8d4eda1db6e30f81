package compactor

import (
	"strings"

	"ccd/compactor/lexicon"
)

// The word lists below are general English, written for this package from everyday usage; none is taken from a
// transcript, a data set or another program.

// correctionWords open or carry a correction of what was said or done before.
var correctionWords = lexicon.NewPhrases("not that", "don't", "do not", "dont", "wrong", "incorrect", "instead", "rather than",
	"actually", "wait", "sorry", "i meant", "i mean", "revert", "undo", "roll back", "rollback", "stop", "not what",
	"should have", "shouldn't have", "you forgot", "you missed", "correction", "never mind", "forget")

// constraintWords state what must hold.
var constraintWords = lexicon.NewPhrases("must", "must not", "never", "always", "only", "don't", "do not", "dont", "without", "avoid",
	"make sure", "ensure", "keep", "at most", "at least", "no more than", "exactly", "required", "require", "need to",
	"needs to", "should be", "should not", "shouldn't", "should only", "has to", "have to", "cannot", "can't", "before you", "until", "unless",
	"prefer", "under no", "not allowed", "limit")

// decisionWords tell that something was chosen, found or ruled out.
var decisionWords = lexicon.NewPhrases("decided", "decide", "decision", "i'll use", "we'll use", "going with", "go with", "chose",
	"choose", "chosen", "instead of", "rather than", "because", "root cause", "the cause", "the reason", "the problem is",
	"the problem was", "the issue is", "the issue was", "the bug is", "the bug was", "turns out", "rejected", "reject",
	"ruled out", "won't work", "doesn't work", "does not work", "didn't work", "trade-off", "tradeoff", "conclusion",
	"found that", "therefore", "so the fix", "the fix is", "the fix was", "fixed by", "works because", "better to",
	"opted", "settled on", "confirmed")

// leaningWords tell that something is preferred, needed, or to be kept off.
var leaningWords = lexicon.NewPhrases("must", "should", "need to", "needs to", "needed", "require", "requires", "required", "don't",
	"do not", "avoid", "never", "always", "only", "instead", "prefer", "preferred", "recommend", "recommended", "fix", "fixed",
	"fixes", "use", "uses", "using", "missing", "means", "important", "critical", "note", "so that", "since", "correct", "wrong",
	"rather", "keep", "safe", "cannot", "can't", "won't", "decides")

// owns reports whether a reply opens by owning that the human was right: what the human said then was a correction.
func owns(reply string) bool {
	s := lexicon.Lower(reply[:min(len(reply), 80)])
	for _, start := range []string{"you're right", "you are right", "you're absolutely right", "you are absolutely right", "i apologize", "i apologise", "my mistake", "good catch", "sorry,", "sorry about"} {
		if strings.HasPrefix(s, start) {
			return true
		}
	}
	return false
}
