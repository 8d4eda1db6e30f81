//go:build rig

package clients

import (
	"slices"
	"testing"
)

// TestClaudeCodeForksWhatWasCompacted is case (n) for a fork of a session that ccd compacted: after the fork's own compaction, the
// task, the rule and the work from before it are still there, and the session that it was made from is known.
func TestClaudeCodeForksWhatWasCompacted(t *testing.T) {
	t.Parallel()
	a, p := claudeAgent.found(t), newPlace(t)
	p.ccd("agents", "install", "claude")
	_, id := p.begin(a, "Look at the ledger, from part 4. Never round cents.", a.working(16, 24)...)
	p.must(a.path, a.ask(a.resumed(id), "/compact")...)
	p.compacted("the original", p.goOn(a, id, "Go on.", a.working(40, 4)...))

	forking := a
	forking.begin = append(slices.Clone(a.begin), "--resume", id, "--fork-session")
	_, fork := p.begin(forking, "Now in a fork: sort the invoices.", a.working(50, 16)...)
	p.must(a.path, a.ask(a.resumed(fork), "/compact")...)
	r := p.compacted("the fork", p.goOn(a, fork, "Go on.", a.working(70, 4)...))
	for _, words := range []string{"Look at the ledger, from part 4.", "Never round cents.", "sort the invoices", "Step 17"} {
		if !r.holds(words) {
			t.Errorf("the fork's context lacks %q", words)
		}
	}
	var ls []struct {
		Session string
		From    string `json:"forked_from"`
	}
	p.ccd("run", "--once")
	p.decode(&ls, "ls", "--json")
	for _, s := range ls {
		if s.Session == fork && s.From != id {
			t.Errorf("the fork is said to be of %q, not of %s", s.From, id)
		}
	}
	p.proved("case n: %s: a fork of a compacted session, compacted again, has the task, the rule and the steps from before the fork (%d bytes of conversation)", a.title, r.talk)
}
