package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ccd/cmd/ccd/internal/score"
	"ccd/compactor"
	"ccd/compactor/limits"
	"ccd/internal/scorecard"
	"ccd/internal/transcript"
)

// unproven are the strategies that do not change the score of rich when switched off. Switching off any other one must
// lower it. What "corrections" repeats counts where it was asked, what "decisions" prefers is short enough to be shown
// anyway, "score" chooses between results whose facts are all in their lines; "merge", "entities" and "code-split"
// change only lists.
var unproven = []string{"microcompact", "corrections", "decisions", "score", "merge", "entities", "code-split"}

// scoredBytes is a transcript in memory.
func scoredBytes(data []byte, o compactor.Options) *score.Transcript {
	return &score.Transcript{Session: transcript.Session{Key: transcript.Key{Agent: "claude-code", ID: "invented"}}, Options: o, Data: data}
}

func cardOf(t *testing.T, s *score.Transcript, size int) *scorecard.Card {
	t.Helper()
	c, err := s.Card(size)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// mutated returns options without some strategies and with room for only a part of the long session, so that wasted
// room lowers the score.
func mutated(strategy string, off ...string) compactor.Options {
	o := compactor.Defaults()
	o.MaxTokens, o.Off = 32000, off
	switch strategy {
	case "answers":
		o.MaxTokens = 6000
	case "answer":
		o.MaxTokens = 10000 // leaves no room for what is longer than the rest
	case "output", "image":
		o.MaxTokens = 160000 // everything fits, and what is not shortened takes more room
	case "score", "microcompact", "entities":
		o.MaxTokens = 72000
	case "large":
		o.MaxTokens, o.LargeTokens = 160000, 6000
	}
	return o
}

// worse says where a card of the same session is below another by more than chance: in the mean of a text, in a class
// of traces or in what is saved, or because it lost facts or is longer than its session.
func worse(c, than *scorecard.Card) (all []string) {
	below := func(what string, got, want, by float64) {
		if got < want-by {
			all = append(all, fmt.Sprintf("%s: %.3f, want %.3f", what, got, want))
		}
	}
	sum, target := scorecard.Sum([]*scorecard.Card{c}), scorecard.Sum([]*scorecard.Card{than})
	for _, name := range []string{scorecard.Companion, scorecard.CCD, scorecard.Half, scorecard.Injection, scorecard.Both} {
		below(name, sum.Texts[name].Worst, target.Texts[name].Worst, 0.001)
	}
	for _, class := range scorecard.Traces() {
		below(string(class), traces(c, class).Share(), traces(than, class).Share(), 0.01)
	}
	below("saved", c.Saved, than.Saved, 0.1)
	if n := int64(c.Companion.Tokens) - c.Original; n > 600 {
		all = append(all, fmt.Sprintf("longer than its session by %d tokens", n))
	}
	if n := c.Lost(); n > 0 {
		all = append(all, fmt.Sprintf("lost: %d", n))
	}
	return all
}

// traces counts what the default companion and the sized ones show of a class of traces.
func traces(c *scorecard.Card, class scorecard.Class) (n scorecard.Count) {
	for _, name := range []string{scorecard.Companion, scorecard.CCD, scorecard.Half} {
		n.Add(c.Count(name, class))
	}
	return n
}

// floors are the means of the first measurement over all sessions, rounded down.
var floors = map[string]float64{scorecard.Companion: 0.91, scorecard.CCD: 0.76, scorecard.Half: 0.59, scorecard.Injection: 0.62}

// Without any one strategy or part of State, the score of a session that needs it is lower.
func TestEveryStrategyCounts(t *testing.T) {
	for _, strategy := range limits.Strategies() {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			data := rich(strategy)
			whole := cardOf(t, scoredBytes(data, mutated(strategy)), 12000)
			if red := worse(cardOf(t, scoredBytes(data, mutated(strategy)), 12000), whole); len(red) > 0 {
				t.Errorf("nothing is off, and the card is worse: %q", red)
			}
			red := worse(cardOf(t, scoredBytes(data, mutated(strategy, strategy)), 12000), whole)
			t.Logf("%d chars, saved %.1f, companion %.3f: off %q", whole.Chars, whole.Saved, whole.Companion.Mean, red)
			switch known := slices.Contains(unproven, strategy); {
			case len(red) == 0 && !known:
				t.Errorf("%s is off, and the card is no worse", strategy)
			case len(red) > 0 && known:
				t.Logf("%s need not be excused any longer", strategy)
			}
		})
	}
}

// A pointer with a wrong hash restores nothing.
func TestScoreChecksWhatItRestores(t *testing.T) {
	data := rich("")
	s := scoredBytes(data, mutated(""))
	s.Options.MaxTokens = 8000
	fold := compactor.New(s.Options, s.Session)
	for r := range s.Agents.NewDecoder(s.Session.Agent, s.Session.Class).Records(transcript.Segment{Data: data, Rest: true}) {
		fold.Add(r)
	}
	made, err := fold.Compaction(func(at transcript.Span) ([]byte, error) { return data[at.Off:at.End()], nil })
	if err != nil {
		t.Fatal(err)
	}
	shapes := map[transcript.Shape]int{}
	for _, p := range made.Pointers {
		shapes[p.Shape]++
		if _, err := s.Original(p); err != nil {
			t.Errorf("%s: %v", p.Hash.ID(), err)
		}
		p.Hash[0] ^= 1
		if parts, err := s.Original(p); err == nil {
			t.Errorf("%s gives %d parts that it does not name", p.Hash.ID(), len(parts))
		}
	}
	if shapes[transcript.Lines] == 0 || shapes[transcript.Single] == 0 {
		t.Errorf("pointers by shape: %v, want ranges and items", shapes)
	}
}

// A stretch that the agent summarized is graded separately, next to the agent's summary.
func TestScoreAtTheAgentsOwnSummary(t *testing.T) {
	c := cardOf(t, scoredBytes(rich("summary"), compactor.Defaults()), 12000)
	if len(c.Stretches) != 1 {
		t.Fatalf("%d stretches, want one", len(c.Stretches))
	}
	s := c.Stretches[0]
	if s.Summary == 0 || s.Size != len([]rune(ownSummary())) {
		t.Errorf("stretch of summary #%d with %d chars, want %d", s.Summary, s.Size, len([]rune(ownSummary())))
	}
	for name, g := range s.Texts {
		most, ok := map[string]int{scorecard.CCD: s.Size, scorecard.Half: s.Size / 2, scorecard.Agent: s.Size}[name]
		if ok && g.Chars > most {
			t.Errorf("%s has %d chars, may have %d", name, g.Chars, most)
		}
	}
	shows := func(name string) float64 {
		g, ok := s.Texts[name]
		if !ok || g.Chars == 0 {
			t.Errorf("%s is not graded", name)
		}
		return g.Mean
	}
	if shows(scorecard.Agent) >= shows(scorecard.CCD) || shows(scorecard.Both) < max(shows(scorecard.Agent), shows(scorecard.Injection)) || shows(scorecard.Half) == 0 {
		t.Errorf("%+v: want the agent below ccd, and both no lower than either", s.Texts)
	}
}

// Equal input gives an equal card, except for the time.
func TestScoreIsDeterministic(t *testing.T) {
	a, b := cardOf(t, scoredBytes(rich("summary"), mutated("")), 12000), cardOf(t, scoredBytes(rich("summary"), mutated("")), 12000)
	a.Took, b.Took = 0, 0
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%+v\n%+v", a, b)
	}
}

// TestRealSessionsScore prints the table of the real sessions and checks their floors.
func TestRealSessionsScore(t *testing.T) {
	var cards []*scorecard.Card
	for agent, dir := range map[string]string{"claude-code": "claude", "codex": "codex"} {
		files, err := filepath.Glob(filepath.Join(corpus, dir, "*.jsonl"))
		if err != nil || len(files) == 0 {
			t.Skipf("no real transcripts at %s: this test needs them", filepath.Join(corpus, dir))
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			s := scoredBytes(data, compactor.Defaults())
			s.Session = transcript.Session{Key: transcript.Key{Agent: agent, ID: filepath.Base(f)}}
			if c := cardOf(t, s, 12000); c.Chars > smallest {
				cards = append(cards, c)
			}
		}
	}
	slices.SortFunc(cards, func(a, b *scorecard.Card) int { return strings.Compare(a.Session, b.Session) })
	var out strings.Builder
	a := &app{std: std{out: &out, err: io.Discard}, verbose: true}
	if err := a.printScores(cards, smallest, nil); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + out.String())
	sum := scorecard.Sum(cards)
	for name, floor := range floors {
		if mean := sum.Texts[name].Mean; mean < floor {
			t.Errorf("%s: %.3f, want %.3f", name, mean, floor)
		}
	}
	if sum.Saved < 70 {
		t.Errorf("median saved of tool-heavy sessions: %.1f, want 70", sum.Saved)
	}
	for _, c := range cards {
		for _, class := range []scorecard.Class{scorecard.Asked, scorecard.Edited, scorecard.OpenErrors} {
			if n := c.Count(scorecard.Companion, class); n.Visible < n.Facts {
				t.Errorf("%s: %d of %d %s", c.Session, n.Visible, n.Facts, class)
			}
		}
		if c.Lost() > 0 {
			t.Errorf("%s lost %d facts", c.Session, c.Lost())
		}
	}
}
