package filter

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"ccd/compactor/lexicon"
)

// sense is the meaning of a word or phrase for its sentence. The lists are general English, written for this package from
// everyday usage. None is taken from a transcript, a data set or another program.
type sense uint32

const (
	failure     sense = 1 << iota // names what went wrong
	traceHead                     // opens a stack trace
	connective                    // links a formal chain of reasoning
	conclusion                    // closes one
	legalese                      // of a contract
	statement                     // may begin a statement of SQL
	choice                        // states a decision
	constraint                    // states a requirement
	emphasis                      // asks for attention
	outcomeWord                   // states an outcome
	filler                        // means nothing at the beginning of a sentence
	unitWord                      // counts or measures
	atOpening                     // counts only at the beginning of a sentence or clause
)

// signal is how a text corrects an earlier one, as written in markers; "" if it does not.
type signal string

const (
	explicitCorrection signal = "explicit correction"
	negation           signal = "negation"
	instead            signal = "instead"
	retraction         signal = "retraction"
	dont               signal = "don't"
	notBut             signal = "not-but"
	waitSignal         signal = "wait"
	sorrySignal        signal = "sorry"
	selfCorrection     signal = "self-correction"
	rephrase           signal = "rephrase"
)

// isPlain reports whether a word consists of letters and may be part of a phrase.
func isPlain(w *lexicon.Word) bool {
	return w.Has&^(lexicon.Letters|lexicon.High|lexicon.Quote|lexicon.Hyphen) == 0 && w.Tail-w.Head < secretRun
}

// phrase is a sequence of whole words, matched in any case. Its text is in lower case, without apostrophes and with one space
// between words.
type phrase struct {
	text   string
	sense  sense
	signal signal
}

// sensesAt returns the combined senses of the phrases that begin at the lexer's word.
func sensesAt(l *lexicon.Lexer) (all sense, sig signal) {
	found := phrases[l.Word.Hash]
	for i := range found {
		p := &found[i]
		if (l.Word.Opens || p.sense&atOpening == 0) && startsWithPhrase(l.Text[l.Word.Head:], p.text) {
			all |= p.sense
			if sig == "" {
				sig = p.signal
			}
		}
	}
	return all &^ atOpening, sig
}

// apostrophe returns the length in bytes of a plain or typographic apostrophe at the beginning of a text.
func apostrophe(s string) int {
	switch {
	case s[0] == '\'':
		return 1
	case strings.HasPrefix(s, "’"):
		return len("’")
	}
	return 0
}

// mostGap is the maximum length of white space within a phrase, in bytes.
const mostGap = 12

// startsWithPhrase reports whether a text begins with a phrase of whole words, ignoring case and apostrophes. A # in the phrase
// matches a number above 0, a ~ a few words of the same sentence.
func startsWithPhrase(text, p string) bool {
	i, j := 0, 0
	for j < len(p) {
		if i == len(text) {
			return false
		}
		if n := apostrophe(text[i:]); n > 0 {
			i += n
			continue
		}
		switch p[j] {
		case ' ':
			gap := 0
			for gap < mostGap && i < len(text) && lexicon.ClassOf(text[i]) == lexicon.Gap {
				i, gap = i+1, gap+1
			}
			if gap == 0 {
				return false
			}
		case '~':
			rest := text[i:min(len(text), i+60)]
			if end := strings.IndexAny(rest, ".!?;:\n"); end >= 0 {
				rest = rest[:end]
			}
			n := strings.Index(rest, p[j+1:])
			if n < 0 {
				return false
			}
			i += n
		case '#':
			return text[i]-'1' < 9
		default:
			if lexicon.Fold(text[i]) != p[j] {
				return false
			}
			i++
		}
		j++
	}
	if i == len(text) {
		return true
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	return !unicode.IsLetter(r) && lexicon.ClassOf(text[i])&(lexicon.Letters|lexicon.Digit|lexicon.Under) == 0
}

// phrases has all phrases by the hash of their first word.
var phrases = newPhrases()

func newPhrases() map[uint32][]phrase {
	all := map[uint32][]phrase{}
	add := func(s sense, sig signal, list ...string) {
		for _, p := range list {
			first, _, _ := strings.Cut(p, " ")
			h := lexicon.WordHash(first)
			all[h] = append(all[h], phrase{p, s, sig})
		}
	}
	add(failure, "", "permission denied", "access denied", "access is denied", "segmentation fault", "core dumped",
		"out of memory", "out of disk space", "no space left on device", "connection refused", "connection reset",
		"connection timed out", "no such file or directory", "no such device", "command not found", "stack overflow",
		"broken pipe", "bus error", "segfault", "operation not permitted", "no route to host", "network is unreachable",
		"operation timed out", "request timed out", "undefined reference", "undefined symbol", "cannot find module", "module not found",
		"fatal error", "assertion failed", "assertion error", "address already in use", "read-only file system",
		"null pointer", "index out of range", "index out of bounds", "division by zero", "illegal instruction",
		"double free", "deadlock detected", "name or service not known", "certificate verify failed", "exit code #",
		"exit status #", "exited with code #", "exited with status #", "exited with #", "return code #",
		"enoent", "eacces", "eperm", "econnrefused", "econnreset", "etimedout", "eaddrinuse", "enospc", "epipe", "enomem",
		"sigsegv", "sigkill", "sigabrt", "sigbus", "oomkilled", "syntax error", "build failed", "compilation failed")
	add(traceHead, "", "traceback (most recent call last", "exception in thread", "panicked at", "stack trace:",
		"stacktrace:", "panic:", "caused by:", "unhandled exception", "uncaught exception")
	add(statement, "", "select", "insert into", "update", "delete from", "create", "alter table", "drop table",
		"drop index", "drop view", "truncate table", "merge into")
	add(connective, "", "as a result", "it follows that", "which implies", "this implies", "consequently", "ergo",
		"we conclude", "for this reason", "given that")
	add(connective|conclusion, "", "therefore", "thus", "hence")
	add(conclusion|atOpening, "", "to summarize", "to summarise", "in conclusion", "in summary", "to conclude",
		"qed", "it follows that", "we conclude")
	add(legalese, "", "hereby", "herein", "hereunder", "thereof", "pursuant to", "notwithstanding", "indemnify",
		"warranties", "warranty", "liability", "licensee", "licensor", "governing law", "force majeure", "shall")
	add(choice, "", "decided", "decide", "decision", "chose", "chosen", "choose", "going with", "went with",
		"lets go with", "lets use", "we use", "well use", "ill use", "we will use", "i will use", "settled on", "opted",
		"agreed", "approved", "confirmed", "concluded", "rejected", "ruled out", "root cause", "turns out", "because",
		"the fix is", "the fix was", "fixed by", "the cause is", "the cause was", "the reason is", "the reason was",
		"trade-off", "tradeoff")
	add(constraint, "", "must", "never", "always", "required", "requirement", "requirements", "constraint", "mandatory",
		"forbidden", "not allowed", "make sure", "ensure", "at most", "at least", "no more than", "exactly", "cannot",
		"only", "under no circumstances", "do not", "dont", "avoid", "shall", "without", "keep", "need to", "needs to", "has to",
		"have to", "should not", "shouldnt", "should only", "prefer", "unless", "until")
	add(atOpening, explicitCorrection, "actually", "correction", "to correct", "in fact", "wrong")
	add(0, explicitCorrection, "thats wrong", "that is wrong", "that was wrong", "this is wrong", "youre wrong",
		"you are wrong", "i was wrong", "is incorrect", "was incorrect", "thats incorrect", "not correct", "but actually",
		"should have been", "shouldnt have", "should not have", "change of plan", "changed my mind", "on second thought")
	add(atOpening, negation, "no,", "no.", "no!", "no wait", "no that", "no this", "no its", "no dont", "no i", "no you", "nope")
	add(0, negation, "thats not", "that is not", "that isnt", "not what i", "not that", "not right", "isnt right",
		"you forgot", "you missed", "you misunderstood")
	add(atOpening, negation, "not quite", "not really", "not exactly")
	add(0, notBut, "not ~ but")
	add(0, instead, "instead", "rather than", "in place of", "replace that with")
	add(0, retraction, "scratch that", "strike that", "never mind", "nevermind", "ignore that", "ignore my", "ignore what",
		"ignore the previous", "ignore the last", "ignore it",
		"disregard", "take that back", "took that back", "cancel that", "forget that", "forget it", "forget what",
		"forget about", "undo", "revert", "roll back", "rollback", "no longer valid")
	add(0, dont, "dont", "do not", "lets not", "stop using", "no longer use")
	add(atOpening, dont, "stop")
	add(atOpening, waitSignal, "wait", "hold on", "hang on", "hmm wait")
	add(atOpening, sorrySignal, "sorry", "apologies", "oops", "my bad")
	add(0, sorrySignal, "my mistake", "i apologize", "i apologise", "my apologies")
	add(0, selfCorrection, "i meant", "i mean", "i misspoke", "i was mistaken", "let me correct", "correcting myself",
		"i got that wrong", "i should have said")
	add(0, rephrase, "let me rephrase", "to rephrase", "in other words", "to clarify", "let me clarify", "to be clear",
		"put differently", "what i want is")
	add(emphasis, "", "important", "importantly", "critical", "critically", "crucial", "essential", "must", "never",
		"always", "warning", "caution", "careful", "attention", "mandatory", "vital", "beware", "danger", "dangerous",
		"be sure", "key point", "above all", "do not forget", "dont forget")
	add(emphasis|atOpening, "", "note", "nb")
	add(outcomeWord, "", "passed", "passes", "passing", "failed", "fails", "failing", "fixed", "broken", "done",
		"completed", "blocked", "pending", "error", "errors", "success", "succeeded", "succeeds", "successful", "resolved",
		"merged", "deployed", "verified", "works", "crashed", "crashes", "skipped", "timeout", "warn", "fail", "pass",
		"still open", "unresolved", "reverted", "removed", "added", "renamed", "regression", "leak", "hangs")
	add(unitWord, "", "ms", "s", "sec", "secs", "second", "seconds", "minute", "minutes", "min", "mins", "hour", "hours",
		"h", "day", "days", "week", "weeks", "month", "months", "year", "years", "kb", "mb", "gb", "tb", "kib", "mib", "gib",
		"byte", "bytes", "bit", "bits", "chars", "characters", "tokens", "lines", "line", "files", "tests", "percent", "times",
		"x", "px", "km", "m", "cm", "mm", "kg", "g", "hz", "khz", "mhz", "ghz", "rows", "records", "requests", "retries",
		"warnings", "users", "items", "commits", "calls", "usd", "eur", "dollars", "euros", "pages", "steps", "workers", "cores",
		"threads", "columns", "messages", "entries", "samples", "degrees", "watts", "volts", "meters", "metres", "miles")
	add(filler, "", "sure", "great", "okay", "ok", "thanks", "thank you", "perfect", "certainly", "absolutely",
		"of course", "let me", "now let me", "lets see", "now ill", "ill now", "i will now", "im going to", "here is", "here are",
		"heres", "hello", "hi", "excellent", "sounds good", "got it", "understood", "alright", "good question", "no problem",
		"as you can see", "feel free", "hope this helps", "youre welcome", "happy to", "glad to", "good point",
		"great question", "nice", "awesome")
	return all
}
