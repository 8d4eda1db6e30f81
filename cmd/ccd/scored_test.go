package main

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ccd/archive"
	"ccd/compactor"
	"ccd/internal/scorecard"
	"ccd/internal/transcript"
)

// unproven are the strategies whose switch does not change what rich's card reaches. Switching any other one off must turn
// the card red. What "corrections" repeats counts where it was asked, what "decisions" prefers is short enough to stand
// anyway, "score" chooses between results whose facts all stand in their lines; "merge" and "entities" change lists alone.
var unproven = []string{"microcompact", "corrections", "decisions", "score", "merge", "entities"}

// scoredBytes is a transcript in memory.
func scoredBytes(data []byte, o compactor.Options) *scored {
	s := &scored{
		session: transcript.Session{Key: transcript.Key{Agent: "claude-code", ID: "invented"}}, options: o, size: int64(len(data)),
		span: func(s transcript.Span) ([]byte, error) {
			if s.Off < 0 || s.End() > int64(len(data)) {
				return nil, fmt.Errorf("span %v: %w", s, io.ErrUnexpectedEOF)
			}
			return slices.Clone(data[s.Off:s.End()]), nil
		},
	}
	s.raw = s.checked
	return s
}

func cardOf(t *testing.T, s *scored, size int) *scorecard.Card {
	t.Helper()
	c, err := s.card(size)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// mutated are options with some strategies switched off, and room for a part of the long session only, so that what
// takes room for nothing shows; for those that decide what else comes back where there is room, more of it.
func mutated(strategy string, off ...string) compactor.Options {
	o := compactor.Defaults()
	o.MaxTokens, o.Off = 32000, off
	switch strategy {
	case "answers":
		o.MaxTokens = 6000
	case "answer":
		o.MaxTokens = 10000 // what is longer than the others has no room
	case "output", "image":
		o.MaxTokens = 160000 // all fits, and what is not shortened takes more room
	case "score", "microcompact", "entities":
		o.MaxTokens = 72000
	case "large":
		o.MaxTokens, o.LargeTokens = 160000, 6000
	}
	return o
}

// nearly takes off what chance may move.
func nearly(t scorecard.Target) scorecard.Target {
	t.Saved -= 0.1
	for name := range t.Means {
		t.Means[name] -= 0.001
	}
	for class := range t.Traces {
		t.Traces[class] -= 0.01
	}
	return t
}

// Whatever strategy, or part of State, is switched off: the card of a session that needs it gets worse.
func TestEveryStrategyCounts(t *testing.T) {
	for _, strategy := range compactor.Strategies() {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			data := rich(strategy)
			whole := cardOf(t, scoredBytes(data, mutated(strategy)), 12000)
			target := nearly(whole.Reached())
			if red := cardOf(t, scoredBytes(data, mutated(strategy)), 12000).Red(target); len(red) > 0 {
				t.Errorf("nothing is off, and the card is red: %q", red)
			}
			red := cardOf(t, scoredBytes(data, mutated(strategy, strategy)), 12000).Red(target)
			t.Logf("%d chars, saved %.1f, companion %.3f: off %q", whole.Chars, whole.Saved, whole.Companion.Mean, red)
			switch known := slices.Contains(unproven, strategy); {
			case len(red) == 0 && !known:
				t.Errorf("%s is off, and the card is green", strategy)
			case len(red) > 0 && known:
				t.Logf("%s need not be excused any longer", strategy)
			}
		})
	}
}

// What stands behind IDs counts only as long as it comes back, byte for byte.
func TestTheArchiveCounts(t *testing.T) {
	data := rich("output")
	card := func(raw func(s *scored, p transcript.Pointer) iter.Seq2[archive.Piece, error]) *scorecard.Card {
		s := scoredBytes(data, mutated(""))
		s.raw = func(p transcript.Pointer) iter.Seq2[archive.Piece, error] { return raw(s, p) }
		return cardOf(t, s, 6000)
	}
	for name, c := range map[string]struct {
		raw  func(s *scored, p transcript.Pointer) iter.Seq2[archive.Piece, error]
		lost bool
	}{
		"as it is": {(*scored).checked, false},
		"gone": {func(_ *scored, _ transcript.Pointer) iter.Seq2[archive.Piece, error] {
			return func(yield func(archive.Piece, error) bool) { yield(archive.Piece{}, errors.New("gone")) }
		}, true},
		"changed": {func(s *scored, p transcript.Pointer) iter.Seq2[archive.Piece, error] {
			return func(yield func(archive.Piece, error) bool) {
				for piece, err := range s.pieces(p) {
					piece.Data = append(slices.Clone(piece.Data), ' ')
					for i := range piece.Data { // one byte of each line
						if i == 0 || piece.Data[i-1] == '\n' {
							piece.Data[i]++
						}
					}
					if !yield(piece, err) {
						return
					}
				}
			}
		}, true},
	} {
		got := card(c.raw)
		if lost := got.Lost() > 0; lost != c.lost {
			t.Errorf("%s: %d lost", name, got.Lost())
		}
		if red := strings.Join(got.Red(got.Due()), "; "); strings.Contains(red, "lost") != c.lost {
			t.Errorf("%s: %q", name, red)
		}
	}
}

// A pointer whose bytes are not what it names gives nothing back.
func TestScoreChecksWhatItRestores(t *testing.T) {
	data := rich("")
	s := scoredBytes(data, mutated(""))
	fold := s.sized(6000)
	for r, err := range s.records(0, s.size) {
		if err != nil {
			t.Fatal(err)
		}
		fold.Add(r)
	}
	made, err := s.compaction(fold, 0)
	if err != nil {
		t.Fatal(err)
	}
	shapes := map[transcript.Shape]int{}
	for _, p := range made.Pointers {
		shapes[p.Shape]++
		for _, err := range s.checked(p) {
			if err != nil {
				t.Errorf("%s: %v", p.Hash.ID(), err)
			}
		}
		p.Hash[0] ^= 1
		for piece, err := range s.checked(p) {
			if err == nil {
				t.Errorf("%s gives %d bytes that it does not name", p.Hash.ID(), len(piece.Data))
			}
		}
	}
	if shapes[transcript.Lines] == 0 || shapes[transcript.Single] == 0 {
		t.Errorf("pointers by shape: %v, want ranges and items", shapes)
	}
}

// A stretch that the agent summarized is graded by itself, beside what the agent wrote.
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

// Equal input gives an equal card, but for the time it took.
func TestScoreIsDeterministic(t *testing.T) {
	a, b := cardOf(t, scoredBytes(rich("summary"), mutated("")), 12000), cardOf(t, scoredBytes(rich("summary"), mutated("")), 12000)
	a.Took, b.Took = 0, 0
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%+v\n%+v", a, b)
	}
}

// TestRealSessionsScore prints the table over the real sessions, and holds them to what is due.
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
			s.session = transcript.Session{Key: transcript.Key{Agent: agent, ID: filepath.Base(f)}}
			if c := cardOf(t, s, 12000); c.Chars > smallest {
				cards = append(cards, c)
			}
		}
	}
	slices.SortFunc(cards, func(a, b *scorecard.Card) int { return strings.Compare(a.Session, b.Session) })
	var out strings.Builder
	a := &app{std: std{out: &out, err: io.Discard}}
	if err := a.printScores(cards, smallest, nil); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + out.String())
	for _, red := range scorecard.Sum(cards).Red() {
		t.Errorf("all: %s", red)
	}
	for _, c := range cards {
		for _, red := range c.Red(c.Due()) {
			t.Logf("%s: %s", c.Session, red) // one session may have more facts than room
		}
		if c.Lost() > 0 {
			t.Errorf("%s lost %d facts", c.Session, c.Lost())
		}
	}
}
