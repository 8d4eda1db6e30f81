//go:build rig && linux

package clients

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// ours begins the text with which ccd answers a compaction.
const ours = "---\nccd: 1\nlive: "

// compacted checks a client's requests after a compaction that ccd answered: no summary was asked for, and the newest request
// has ccd's text once, of which every ID restores.
func (p *place) compacted(when string, all []*request) *request {
	p.t.Helper()
	if n := len(of(all, "compaction")); n != 0 {
		p.t.Errorf("%s: the client asked %d times for a summary", when, n)
	}
	r, texts := last(all), 0
	for _, q := range r.parts {
		texts += strings.Count(q.text, ours)
		for _, m := range markerID.FindAllStringSubmatch(q.text, -1) {
			if q.who == "user" && p.run(p.ccdPath(), "agent", "restore", m[1]).code != 0 {
				p.t.Errorf("%s: %s does not restore", when, m[1])
			}
		}
	}
	if texts != 1 {
		p.t.Errorf("%s: the request has ccd's text %d times", when, texts)
	}
	return r
}

// TestClaudeCodeAsksForItsContext is case (n): ccd answers the compactions of Claude Code through its mod: by hand with a focus,
// in another process after it, by itself twice in one run; and without ccd the client's own runs.
func TestClaudeCodeAsksForItsContext(t *testing.T) {
	t.Parallel()
	a, p := claudeAgent.found(t), newPlace(t)
	before := p.contents()
	p.ccd("agents", "install", "claude")
	p.must(a.path, "plugin", "validate", filepath.Join(p.home, ".claude", "skills", "ccd"))
	p.ccd("agents", "uninstall", "claude")
	for path := range p.changed(before) {
		if strings.Contains(path, "skills") {
			t.Errorf("uninstall leaves %s", path)
		}
	}
	p.ccd("agents", "install", "claude")

	first, id := p.begin(a, "Look at the ledger, from part 4. Never round cents.", a.working(16, 16)...)
	p.compactedByHand(a, id, last(first).talk)

	// By itself, twice in one run, in mid-turn.
	turns := a.working(40, 24)
	turns[8], turns[20] = turns[8].reporting(97_000), turns[20].reporting(97_000)
	all := p.asks(a, a.ask([]string{"--autocompact", "100000", "--resume", id}, "Go on."), turns...)
	r := p.compacted("automatic compaction", all)
	if !r.holds("Continue from there without asking.") || !r.said("Step 63") || r.said("Step 17:") {
		t.Error("after the automatic compactions the work under way or the newest steps are missing, or old ones are there")
	}
	if n := strings.Count(p.read(p.transcript(a, id)), `"subtype":"compact_boundary"`); n != 3 {
		t.Errorf("%d compactions, want 3", n)
	}
	if r = p.compacted("resume after it", p.goOn(a, id, "Go on.")); r.said("Step 17:") {
		t.Error("after a resume the old history is back")
	}

	// What ccd makes of it.
	p.ccd("run", "--once")
	if text := p.ccd("show", id); strings.Contains(text, "live: {covers") || !strings.Contains(text, "Never round cents") {
		t.Error("the companion quotes ccd's own text, or has lost what the human asked")
	}

	p.ccd("diff", id)
	copied := p.resume(id)
	if all = p.goOn(a, copied.Session, "Go on."); !last(all).holds("Never round cents") || last(all).holds("live: {covers") {
		t.Error("a copy has lost what the human asked, or has ccd's text")
	}

	// Without ccd the client compacts by itself.
	testkit.Must(t, os.Rename(p.ccdPath(), p.ccdPath()+".away"))
	if n := len(of(p.goOn(a, id, "/compact"), "compaction")); n != 1 {
		t.Errorf("without ccd the client asked %d times for a summary, want once", n)
	}
	p.proved("case n: %s: ccd answered a compaction by hand and two automatic ones, no summary was asked for; resumed, the request has ccd's text (%d bytes of conversation) and not the old history; without ccd the client's own compaction runs",
		a.title, r.talk)
}

// said reports whether a reply in a request begins with a text.
func (r *request) said(text string) bool {
	return slices.ContainsFunc(r.parts, func(p part) bool { return p.who == "assistant" && strings.HasPrefix(p.text, text) })
}

func (p *place) compactedByHand(a agent, id string, before int) {
	p.t.Helper()
	p.must(a.path, a.ask(a.resumed(id), "/compact keep the sums of TestBooked17")...)
	if all := p.model.requests(p.t); len(all) > 0 {
		p.t.Errorf("/compact sent %d requests", len(all))
	}
	r := p.compacted("after /compact", p.goOn(a, id, "Go on."))
	if !r.holds("> keep the sums of TestBooked17") || !r.holds("sum is 629 cents") || r.talk > before*2/3 {
		p.t.Errorf("after /compact: %d of %d bytes, focus %v, what it is about %v", r.talk, before, r.holds("> keep the sums of TestBooked17"), r.holds("sum is 629 cents"))
	}
	if n := len(p.told(a, id, r)); n > 1 {
		p.t.Errorf("the hooks told %d times", n)
	}
}

// TestClaudeCodeFoldsTheText is case (n) in a terminal: after /compact the screen shows one line for ccd's text, a short session
// says why nothing was compacted, and the picture that cannot stay is named.
func TestClaudeCodeFoldsTheText(t *testing.T) {
	t.Parallel()
	a, p := claudeAgent.found(t), newPlace(t)
	p.ccd("agents", "install", "claude")
	s := newScreen(p, a.path, "--dangerously-skip-permissions")
	s.shows("bypass permissions")
	p.model.plays(says("Spring is read."))
	s.keys("Look at the ledger of spring.", "Enter")
	s.shows("Spring is read.")
	s.keys("/compact", "Enter")
	s.shows("Not compacted", "there is little to leave out yet")
	turns := append(a.working(0, 14), uses("I look at the picture.", a.pictures.call(p.picture())))
	p.model.plays(append(turns, says("Autumn is read."))...)
	s.keys("Look at the ledger of autumn.", "Enter")
	s.shows("Autumn is read.")
	p.model.requests(t)
	s.keys("/compact", "Enter")
	text := s.shows("Compacted by ccd")
	if strings.Contains(text, "live: {covers") || strings.Contains(text, "## Handover") {
		t.Errorf("the screen shows the text:\n%s", text)
	}
	p.model.plays(says("Winter comes."))
	s.keys("And now?", "Enter")
	s.shows("Winter comes.")
	if r := p.compacted("in a terminal", p.model.requests(t)); !r.holds("image of #") {
		t.Error("the picture is not named")
	}

	// If ccd does not compact, the screen says why.
	for _, c := range []struct {
		does func() error
		says string
	}{
		{func() error { return os.Rename(p.ccdPath(), p.ccdPath()+".away") }, "ccd did not compact: "},
		{func() error { return os.WriteFile(p.ccdPath(), []byte("#!/bin/sh\nexit 3\n"), 0o700) }, "ccd did not compact: exit status 3"},
	} {
		testkit.Must(t, c.does())
		p.model.plays(append(a.working(20, 12), says("Winter is read."))...)
		s.keys("Look at the ledger of winter.", "Enter")
		s.shows("Winter is read.")
		s.keys("/compact", "Enter")
		s.shows(c.says)
	}
	p.proved("case n: %s: in a terminal the text is one line, and where nothing was compacted, or not by ccd, the screen says why", a.title)
}

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
