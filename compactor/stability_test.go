package compactor

import (
	"bytes"
	goflag "flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/compactor/lexicon"
	"ccd/internal/gen"
	"ccd/internal/transcript"
)

// every has TestOneMoreRecordKeepsMostLines walk every step of more sessions; it takes minutes.
var every = goflag.Bool("every", false, "walk every step of every session")

// A step may change a fifth of the lines: of few lines, so many.
const (
	mostLost   = 0.2
	floorLost  = 24
	narrowLost = 36 // where there is little room
)

// sample is a session that the laws are held against.
type sample struct {
	name  string
	agent string
	data  []byte
}

func (s sample) fold(t testing.TB, o Options) *folded {
	return foldAs(t, s.agent, transcript.Main, s.data, o)
}

// invented gives generated sessions of both agents, of about so many bytes.
func invented(t testing.TB, seeds, size int) []sample {
	t.Helper()
	var all []sample
	for seed := range seeds {
		for _, agent := range []string{gen.Claude, gen.Codex} {
			var b bytes.Buffer
			if err := gen.Write(&b, agent, uint64(seed+10), int64(size)); err != nil {
				t.Fatal(err)
			}
			all = append(all, sample{fmt.Sprintf("%s %d", agent, seed), agent, b.Bytes()})
		}
	}
	return all
}

// realSessions gives the real sessions of Claude Code and Codex that are long enough to be compacted.
func realSessions(t testing.TB) []sample {
	t.Helper()
	var all []sample
	for agent, dir := range map[string]string{"claude-code": "claude", "codex": "codex"} {
		files, _ := filepath.Glob(filepath.Join("..", "..", "shared", "corpus", dir, "*.jsonl"))
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			s := sample{filepath.Base(name), agent, data}
			if s.fold(t, Defaults()).held.total > 40000 {
				all = append(all, s)
			}
		}
	}
	if len(all) == 0 {
		t.Log("no real transcripts beside the project: invented ones alone")
	}
	return all
}

// growth is one more record: what the companion was before and is after.
type growth struct{ before, after *Compaction }

// lost is how many lines of the companion before are gone after, and how many there were.
func (s growth) lost() (gone, all int) {
	all = strings.Count(s.before.all(), "\n")
	return all - int(keptLines(s.before.all(), s.after.all())*float64(all)+0.5), all
}

// part is what a companion says below a heading of State, without the heading.
func (c *Compaction) part(title string) string {
	_, text, ok := strings.Cut("\n"+c.section("State"), "\n### "+title)
	if !ok {
		return ""
	}
	_, text, _ = strings.Cut(text, "\n")
	text, _, _ = strings.Cut(text, "\n### ")
	return text + "\n"
}

// allowed is how many lines a step may lose. Where there is little room, the last answer and the plan are worth more
// than lines that stay: what one of them takes when it comes, and what it took when it goes, may change besides.
func (s growth) allowed(all int, narrow bool) int {
	n := int(mostLost * float64(all))
	if !narrow {
		return max(n, floorLost)
	}
	n = max(n, narrowLost)
	for _, title := range []string{"Last answer", "Plan as last left"} {
		if before, after := s.before.part(title), s.after.part(title); before != after {
			n += strings.Count(before, "\n") + lexicon.Bulk(after)/lexicon.LineBulk
		}
	}
	return n
}

// check holds one step against the law.
func (s growth) check(t *testing.T, what string, narrow bool) float64 {
	t.Helper()
	if s.before.Header.Level != s.after.Header.Level {
		return 1
	}
	gone, all := s.lost()
	if gone > s.allowed(all, narrow) {
		t.Errorf("%s: %d of %d lines are gone, %d may be", what, gone, all, s.allowed(all, narrow))
	}
	return 1 - float64(gone)/float64(max(1, all))
}

// TestOneMoreRecordKeepsMostLines has sessions grow record by record: one more keeps at least 80 % of the companion's
// lines, unless the level changed. The agent's own boundary resets what is recent: TestAnyRecordKeepsMostLines has it.
func TestOneMoreRecordKeepsMostLines(t *testing.T) {
	seeds, stride := 1, 7
	if raceEnabled {
		stride = 61
	}
	if *every {
		seeds, stride = 8, 1
	}
	for _, s := range append(realSessions(t), invented(t, seeds, 200000)...) {
		for _, tokens := range []int{72000, 16000} {
			t.Run(fmt.Sprintf("%s %d", s.name, tokens), func(t *testing.T) { walk(t, s, tokens, stride) })
		}
	}
}

// walk looks at one of every stride steps of the last part of a session.
func walk(t *testing.T, s sample, tokens, stride int) {
	records := s.fold(t, Defaults()).records.n
	f := &folded{Compactor: New(tokensOf(tokens), transcript.Session{Key: transcript.Key{Agent: s.agent, ID: "s"}}), data: s.data}
	var before *Compaction
	sum, steps, n := 0.0, 0, 0
	for r := range transcript.NewDecoder(s.agent, transcript.Main).Records(transcript.Segment{Data: s.data, Rest: true}) {
		f.Add(r)
		if n++; n < records*3/10 || n%stride > 1 {
			before = nil
			continue
		}
		after := f.compact(t)
		if before != nil && r.Boundary == nil {
			sum += growth{before, after}.check(t, fmt.Sprintf("#%d", r.N), tokens < 40000)
			steps++
		}
		before = after
	}
	t.Logf("%d steps: %.3f of the lines stay", steps, sum/float64(max(1, steps)))
}
