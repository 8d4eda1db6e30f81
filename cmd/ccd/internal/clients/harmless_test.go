//go:build rig && linux

package clients

import (
	"os"
	"strings"
	"testing"
	"time"

	"ccd/internal/testkit"
)

// TestAgentsAreNotDisturbed is case (c): with companions and resumed copies next to the transcripts, but without hooks, the agent sends the
// same on --continue and --resume as without ccd.
func TestAgentsAreNotDisturbed(t *testing.T) {
	for _, c := range []struct {
		agent
		newest []string
	}{{claudeAgent, []string{"--continue"}}, {codexAgent, []string{"resume", "--last"}}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, p := c.found(t), newPlace(t)
			notDisturbed(p, a, c.newest)
		})
	}
}

// notDisturbed makes two sessions, continues each in a home without ccd and in the same home with it, and compares.
func notDisturbed(p *place, a agent, newest []string) {
	t := p.t
	_, first := p.begin(a, "Look at the ledger.", a.working(0, 4)...)
	_, second := p.begin(a, "Look at the ledger once more, from part 2.", a.working(8, 6)...)
	original := p.saved()
	ways := [][]string{newest, a.resumed(first), a.resumed(second)}
	goesOn := func() (all [][]*request) {
		restore := p.saved()
		for _, how := range ways {
			restore()
			all = append(all, p.asks(a, a.ask(how, "Go on."), a.working(30, 1)...))
		}
		restore()
		return all
	}
	before := goesOn()
	original()
	theirs := p.contents()
	p.ccd("run", "--once")
	p.ccd("compact", first)
	p.ccd("compact", second)
	copied := p.resume(first)
	p.resume(second)
	for path := range p.changed(theirs) {
		if theirs[path] != "" {
			t.Errorf("ccd changed %s", path)
		}
	}
	after := goesOn()
	sum := 0
	for i, how := range ways {
		p.same(strings.Join(how, " "), before[i], after[i])
		for _, r := range after[i] {
			sum += len(r.raw)
		}
	}
	// The controls: the copy is another conversation, and if it is the newest file, the agent continues it.
	if own := p.goOn(a, copied.Session, "Go on.", a.working(30, 1)...); p.normal(own[0]) == p.normal(before[1][0]) {
		t.Error("the comparison cannot fail: the copy sends what its original sends")
	}
	if a.name == "claude-code" {
		newer(t, p.transcript(a, copied.Session), p.transcript(a, second))
		if taken := p.asks(a, a.ask(newest, "Go on.")); p.normal(taken[0]) == p.normal(before[0][0]) {
			t.Error("the comparison cannot fail: a copy with a newer time changes nothing")
		}
	}
	if !last(before[1]).holds("Step 0") || last(before[1]).holds("part 2") {
		t.Error("the sessions cannot be told apart")
	}
	p.proved("case c/d: %s: %d ways to go on sent the same %d bytes with 2 companions and 2 resumed copies as without",
		a.title, len(ways), sum)
}

// newer gives a file a later time than another.
func newer(t *testing.T, path, than string) {
	t.Helper()
	info, err := os.Stat(than)
	if err == nil {
		late := info.ModTime().Add(time.Second)
		err = os.Chtimes(path, late, late)
	}
	testkit.Must(t, err)
}
