package prose

// turns is what the phrases tell that the shape of a text depends on; manner, what the score of a sentence does too;
// fillers begin sentences that say nothing.
var (
	turns   = newBook(addFailures, addReasoning, addTurns, addCorrections)
	manner  = newBook(addFailures, addTurns, addCorrections, addManner)
	fillers = newBook(addFillers)
)

func newBook(parts ...func(*phraseBook)) *phraseBook {
	b := new(phraseBook)
	for _, add := range parts {
		add(b)
	}
	return b
}

func addFailures(b *phraseBook) {
	b.add(failure, noSignal, "permission denied", "access denied", "access is denied", "segmentation fault", "core dumped",
		"out of |memory", "out of |disk space", "no |space left on device", "connection refused", "connection reset",
		"connection timed out", "no |such file or directory", "no |such device", "command not found", "stack overflow",
		"broken pipe", "bus error", "segfault", "operation not permitted", "no route to host", "network is unreachable",
		"operation timed out", "request timed out", "undefined reference", "undefined symbol", "cannot find module", "module not found",
		"fatal error", "assertion failed", "assertion error", "address already in use", "read-only file system",
		"null pointer", "index out of range", "index out of bounds", "division by zero", "illegal instruction",
		"double free", "deadlock detected", "name or |service not known", "certificate verify failed", "exit code #",
		"exit status #", "exited with code #", "exited with status #", "exited with #", "return code #",
		"enoent", "eacces", "eperm", "econnrefused", "econnreset", "etimedout", "eaddrinuse", "enospc", "epipe", "enomem",
		"sigsegv", "sigkill", "sigabrt", "sigbus", "oomkilled", "syntax error", "build failed", "compilation failed")
	b.add(traceHead, noSignal, "traceback (most recent call last", "exception in thread", "panicked at", "stack trace:",
		"stacktrace:", "panic:", "caused |by:", "unhandled exception", "uncaught exception")
	b.add(statement, noSignal, "select", "insert into", "update", "delete from", "create", "alter table", "drop table",
		"drop index", "drop view", "truncate table", "merge into")
}

func addReasoning(b *phraseBook) {
	b.add(connective, noSignal, "as a |result", "it |follows that", "which |implies", "this |implies", "consequently", "ergo",
		"we |conclude", "for this |reason", "given that")
	b.add(connective|conclusion, noSignal, "therefore", "thus", "hence")
	b.add(conclusion|atOpening, noSignal, "to |summarize", "to |summarise", "in |conclusion", "in |summary", "to |conclude",
		"qed", "it |follows that", "we |conclude")
	b.add(legalese, noSignal, "hereby", "herein", "hereunder", "thereof", "pursuant to", "notwithstanding", "indemnify",
		"warranties", "warranty", "liability", "licensee", "licensor", "governing law", "force majeure", "shall")
}

func addTurns(b *phraseBook) {
	b.add(choice, noSignal, "decided", "decide", "decision", "chose", "chosen", "choose", "going with", "went with",
		"lets |go with", "lets |use", "we |use", "well |use", "ill |use", "we will |use", "i will |use", "settled on", "opted",
		"agreed", "approved", "confirmed", "concluded", "rejected", "ruled out", "root cause", "turns out", "because",
		"the |fix is", "the |fix was", "fixed by", "the |cause is", "the |cause was", "the |reason is", "the |reason was",
		"trade-off", "tradeoff")
	b.add(constraint, noSignal, "must", "never", "always", "required", "requirement", "requirements", "constraint", "mandatory",
		"forbidden", "not |allowed", "make |sure", "ensure", "at |most", "at |least", "no |more than", "exactly", "cannot",
		"only", "under no |circumstances", "do not", "dont", "avoid", "shall", "without", "keep", "need to", "needs to", "has to",
		"have to", "should not", "shouldnt", "should |only", "prefer", "unless", "until")
}

func addCorrections(b *phraseBook) {
	b.add(atOpening, explicitCorrection, "actually", "correction", "to |correct", "in |fact", "wrong")
	b.add(0, explicitCorrection, "thats |wrong", "that is |wrong", "that was |wrong", "this is |wrong", "youre |wrong",
		"you are |wrong", "i was |wrong", "is |incorrect", "was |incorrect", "thats |incorrect", "not |correct", "but |actually",
		"should have been", "shouldnt have", "should not have", "change of plan", "changed my mind", "on second |thought")
	b.add(atOpening, negation, "no,", "no.", "no!", "no wait", "no that", "no this", "no its", "no dont", "no i", "no you", "nope")
	b.add(0, negation, "thats not", "that is |not", "that |isnt", "not what i", "not that", "not |right", "isnt right",
		"you |forgot", "you |missed", "you |misunderstood")
	b.add(atOpening, negation, "not quite", "not really", "not exactly")
	b.add(0, notBut, "not ~ but")
	b.add(0, instead, "instead", "rather than", "in |place of", "replace that with")
	b.add(0, retraction, "scratch that", "strike that", "never mind", "nevermind", "ignore that", "ignore my", "ignore what",
		"ignore the previous", "ignore the last", "ignore it",
		"disregard", "take that back", "took that back", "cancel that", "forget that", "forget it", "forget what",
		"forget about", "undo", "revert", "roll back", "rollback", "no longer |valid")
	b.add(0, dont, "dont", "do not", "lets not", "stop using", "no longer |use")
	b.add(atOpening, dont, "stop")
	b.add(atOpening, waitSignal, "wait", "hold on", "hang on", "hmm wait")
	b.add(atOpening, sorrySignal, "sorry", "apologies", "oops", "my |bad")
	b.add(0, sorrySignal, "my |mistake", "i |apologize", "i |apologise", "my |apologies")
	b.add(0, selfCorrection, "i |meant", "i |mean", "i |misspoke", "i was |mistaken", "let me |correct", "correcting myself",
		"i got that |wrong", "i should have |said")
	b.add(0, rephrase, "let me |rephrase", "to |rephrase", "in |other words", "to |clarify", "let me |clarify", "to be |clear",
		"put |differently", "what i |want is")
}

func addManner(b *phraseBook) {
	b.add(emphasis, noSignal, "important", "importantly", "critical", "critically", "crucial", "essential", "must", "never",
		"always", "warning", "caution", "careful", "attention", "mandatory", "vital", "beware", "danger", "dangerous",
		"be |sure", "key point", "above |all", "do not |forget", "dont |forget")
	b.add(emphasis|atOpening, noSignal, "note", "nb")
	b.add(outcomeWord, noSignal, "passed", "passes", "passing", "failed", "fails", "failing", "fixed", "broken", "done",
		"completed", "blocked", "pending", "error", "errors", "success", "succeeded", "succeeds", "successful", "resolved",
		"merged", "deployed", "verified", "works", "crashed", "crashes", "skipped", "timeout", "warn", "fail", "pass",
		"still open", "unresolved", "reverted", "removed", "added", "renamed", "regression", "leak", "hangs")
	b.add(unitWord, noSignal, "ms", "s", "sec", "secs", "second", "seconds", "minute", "minutes", "min", "mins", "hour", "hours",
		"h", "day", "days", "week", "weeks", "month", "months", "year", "years", "kb", "mb", "gb", "tb", "kib", "mib", "gib",
		"byte", "bytes", "bit", "bits", "chars", "characters", "tokens", "lines", "line", "files", "tests", "percent", "times",
		"x", "px", "km", "m", "cm", "mm", "kg", "g", "hz", "khz", "mhz", "ghz", "rows", "records", "requests", "retries",
		"warnings", "users", "items", "commits", "calls", "usd", "eur", "dollars", "euros", "pages", "steps", "workers", "cores",
		"threads", "columns", "messages", "entries", "samples", "degrees", "watts", "volts", "meters", "metres", "miles")
}

func addFillers(b *phraseBook) {
	b.add(filler, noSignal, "sure", "great", "okay", "ok", "thanks", "thank you", "perfect", "certainly", "absolutely",
		"of course", "let me", "now let me", "lets see", "now ill", "ill now", "i will now", "im going to", "here is", "here are",
		"heres", "hello", "hi", "excellent", "sounds good", "got it", "understood", "alright", "good question", "no problem",
		"as you can see", "feel free", "hope this helps", "youre welcome", "happy to", "glad to", "good point",
		"great question", "nice", "awesome")
}
