package filter

import (
	"strings"

	"ccd/compactor/lexicon"
)

// sense is the meaning of a word or phrase for its sentence. The lists are general English, written for this package from
// everyday usage. None is taken from a transcript, a data set or another program.
type sense uint16

const (
	failure    sense = 1 << iota // names what went wrong
	traceHead                    // opens a stack trace
	connective                   // links a formal chain of reasoning
	conclusion                   // closes one
	statement                    // may begin a statement of SQL
	choice                       // states a decision
	constraint                   // states a requirement
	correction                   // says that something earlier was wrong
	emphasis                     // asks for attention
	outcome                      // states one
	filler                       // means nothing at the beginning of a sentence
	atOpening                    // counts only at the beginning of a sentence or clause
)

// phrase is a sequence of whole words in lower case, without apostrophes. The word # is any number above 0, and ... is up to ten
// words. end is what must follow the last word.
type phrase struct {
	words []string
	end   string
	sense sense
}

// sensesAt returns the combined senses of the phrases that begin at the lexer's word, and the first of them that corrects, as it
// is written.
func sensesAt(l Lexer) (all sense, corrects string) {
	found := phrases[plain(&l)]
	for i := range found {
		p := &found[i]
		if !l.Word.Opens && p.sense&atOpening != 0 {
			continue
		}
		if end := p.endAt(l); end > 0 {
			all |= p.sense
			if p.sense&correction != 0 && corrects == "" {
				corrects = l.Text[l.Word.Head:end]
			}
		}
	}
	return all &^ atOpening, corrects
}

// maxGap is the maximum number of words that ... in a phrase stands for.
const maxGap = 10

// endAt returns where a phrase that begins with the lexer's word ends, 0 if it does not.
func (p *phrase) endAt(l Lexer) int {
	gap := 0
	for i := 1; i < len(p.words); i++ {
		want, after := p.words[i], l.Text[l.Word.Tail:l.Word.To]
		if after != "" && (after != "," || want != "...") || !l.Next() { // punctuation ends a phrase
			return 0
		}
		core := l.Core()
		switch {
		case want == "...":
			if plain(&l) == p.words[i+1] {
				i++
			} else if gap, i = gap+1, i-1; gap > maxGap {
				return 0
			}
		case want == "#":
			if core == "" || core[0]-'1' >= 9 {
				return 0
			}
		case plain(&l) != want:
			return 0
		}
	}
	if !strings.HasPrefix(l.Text[l.Word.Tail:], p.end) {
		return 0
	}
	return l.Word.Tail
}

var apostrophes = strings.NewReplacer("'", "", "’", "")

// plain returns the lexer's word as phrases have it.
func plain(l *Lexer) string {
	word := l.Core()
	if l.Word.Has&lexicon.Upper != 0 {
		word = strings.ToLower(word)
	}
	if l.Word.Has&(lexicon.Quote|lexicon.High) != 0 {
		word = apostrophes.Replace(word)
	}
	return word
}

// phrases has all phrases by their first word.
var phrases = func() map[string][]phrase {
	all := map[string][]phrase{}
	for _, list := range []struct {
		sense sense
		text  string // separated by a comma and a space
	}{
		{failure, `permission denied, access denied, access is denied, segmentation fault, core dumped, out of memory, out of disk space,
			no space left on device, connection refused, connection reset, connection timed out, no such file or directory, no such device,
			command not found, stack overflow, broken pipe, bus error, segfault, operation not permitted, no route to host,
			network is unreachable, operation timed out, request timed out, undefined reference, undefined symbol, cannot find module,
			module not found, fatal error, assertion failed, assertion error, address already in use, read-only file system, null pointer,
			index out of range, index out of bounds, division by zero, illegal instruction, double free, deadlock detected,
			name or service not known, certificate verify failed, exit code #, exit status #, exited with code #, exited with status #,
			exited with #, return code #, enoent, eacces, eperm, econnrefused, econnreset, etimedout, eaddrinuse, enospc, epipe, enomem,
			sigsegv, sigkill, sigabrt, sigbus, oomkilled, syntax error, build failed, compilation failed`},
		{traceHead, `most recent call last, exception in thread, panicked at, stack trace:, stacktrace:, panic:, caused by:,
			unhandled exception, uncaught exception`},
		{statement, `select, insert into, update, delete from, create, alter table, drop table, drop index, drop view, truncate table, merge into`},
		{connective, `as a result, it follows that, which implies, this implies, consequently, ergo, we conclude, for this reason, given that,
			therefore, thus, hence`},
		{conclusion, `therefore, thus, hence`},
		{conclusion | atOpening, `to summarize, to summarise, in conclusion, in summary, to conclude, qed, it follows that, we conclude`},
		{choice, `decided, decide, decision, chose, chosen, choose, going with, went with, lets go with, lets use, we use, well use, ill use,
			we will use, i will use, settled on, opted, agreed, approved, confirmed, concluded, rejected, ruled out, root cause, turns out,
			because, the fix is, the fix was, fixed by, the cause is, the cause was, the reason is, the reason was, trade-off, tradeoff`},
		{constraint, `must, never, always, required, requirement, requirements, constraint, mandatory, forbidden, not allowed, make sure, ensure,
			at most, at least, no more than, exactly, cannot, only, under no circumstances, do not, dont, avoid, shall, without, keep, need to,
			needs to, has to, have to, should not, shouldnt, should only, prefer, unless, until`},
		{correction | atOpening, `actually, correction, to correct, in fact, wrong, no,, no., no!, no wait, no that, no this, no its, no dont, no i,
			no you, nope, not quite, not really, not exactly, stop, wait, hold on, hang on, hmm wait, sorry, apologies, oops, my bad`},
		{correction, `thats wrong, that is wrong, that was wrong, this is wrong, youre wrong, you are wrong, i was wrong, is incorrect,
			was incorrect, thats incorrect, not correct, but actually, should have been, shouldnt have, should not have, change of plan,
			changed my mind, on second thought, thats not, that is not, that isnt, not what i, not that, not right, isnt right, you forgot,
			you missed, you misunderstood, not ... but, instead, rather than, in place of, replace that with, scratch that, strike that,
			never mind, nevermind, ignore that, ignore my, ignore what, ignore the previous, ignore the last, ignore it, disregard,
			take that back, took that back, cancel that, forget that, forget it, forget what, forget about, undo, revert, roll back, rollback,
			no longer valid, dont, do not, lets not, stop using, no longer use, my mistake, i apologize, i apologise, my apologies, i meant,
			i mean, i misspoke, i was mistaken, let me correct, correcting myself, i got that wrong, i should have said, let me rephrase,
			to rephrase, in other words, to clarify, let me clarify, to be clear, put differently, what i want is`},
		{emphasis, `important, importantly, critical, critically, crucial, essential, must, never, always, warning, caution, careful, attention,
			mandatory, vital, beware, danger, dangerous, be sure, key point, above all, do not forget, dont forget`},
		{emphasis | atOpening, `note, nb`},
		{outcome, `passed, passes, passing, failed, fails, failing, fixed, broken, done, completed, blocked, pending, error, errors, success,
			succeeded, succeeds, successful, resolved, merged, deployed, verified, works, crashed, crashes, skipped, timeout, warn, fail, pass,
			still open, unresolved, reverted, removed, added, renamed, regression, leak, hangs`},
		{filler, `sure, great, okay, ok, thanks, thank you, perfect, certainly, absolutely, of course, let me, now let me, lets see, now ill,
			ill now, i will now, im going to, here is, here are, heres, hello, hi, excellent, sounds good, got it, understood, alright,
			good question, no problem, as you can see, feel free, hope this helps, youre welcome, happy to, glad to, good point,
			great question, nice, awesome`},
	} {
		for text := range strings.SplitSeq(strings.Join(strings.Fields(list.text), " "), ", ") {
			p := phrase{words: strings.Fields(text), sense: list.sense}
			last := &p.words[len(p.words)-1]
			if n := len(*last) - 1; n > 0 && strings.ContainsAny((*last)[n:], ":,.!") {
				*last, p.end = (*last)[:n], (*last)[n:]
			}
			all[p.words[0]] = append(all[p.words[0]], p)
		}
	}
	return all
}()
