//go:build rig

// Package exam asks what texts about real sessions still hold. It is for measuring, not for tests: make recall, make ablation.
// Three sessions of Claude Code that github.com/entireio/cli publishes under the MIT licence are cut where the agent compacted them.
// Of each there are 24 questions, whose author read the transcript before and after the cut, and no text of ccd.
package exam

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Sitting is an exam about a stretch of a real session: questions with the parts of their answers, as regular expressions.
type Sitting struct {
	File, SHA256 string
	Start, Cut   int // lines, from 1
	Questions    []struct{ Keys [][]string }

	Data []byte `json:"-"` // up to the cut
	Own  []byte `json:"-"` // what the agent wrote right after it: the boundary and its summary
	keys [][][]*regexp.Regexp
}

//go:embed *.json
var questions embed.FS

// Read returns the sittings, with their transcripts from the directory that the variable SESSIONS names. It skips the test without one.
func Read(t *testing.T) (all []Sitting) {
	t.Helper()
	dir := os.Getenv("SESSIONS")
	if dir == "" {
		t.Skip("no SESSIONS: docs/PERFORMANCE.md says where they are")
	}
	files, err := questions.ReadDir(".")
	must(t, err)
	for _, file := range files {
		text, err := questions.ReadFile(file.Name())
		must(t, err)
		var s Sitting
		must(t, json.Unmarshal(text, &s))
		whole, err := os.ReadFile(filepath.Join(dir, s.File))
		must(t, err)
		if sum := sha256.Sum256(whole); hex.EncodeToString(sum[:]) != s.SHA256 {
			t.Fatalf("%s is not the session that the questions are about", s.File)
		}
		lines := strings.SplitAfter(string(whole), "\n")
		s.Data = []byte(strings.Join(lines[:s.Cut], ""))
		for n, line := range lines[s.Cut:] {
			if strings.Contains(line, `"isCompactSummary":true`) {
				s.Own = []byte(strings.Join(lines[s.Cut:s.Cut+n+1], ""))
				break
			}
		}
		for _, q := range s.Questions {
			var parts [][]*regexp.Regexp
			for _, part := range q.Keys {
				var any []*regexp.Regexp
				for _, key := range part {
					any = append(any, regexp.MustCompile("(?i)"+key))
				}
				parts = append(parts, any)
			}
			s.keys = append(s.keys, parts)
		}
		all = append(all, s)
	}
	return all
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Score returns how many answers a text holds.
func (s *Sitting) Score(text string) (n float64) {
	text = strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(text, "\n> ", "\n")), " "))
	for _, parts := range s.keys {
		n += answers(text, parts)
	}
	return n
}

// answers scores one question: 1 for all parts of the answer, half for a third.
func answers(text string, parts [][]*regexp.Regexp) float64 {
	got := 0
	for _, any := range parts {
		for _, x := range any {
			if x.MatchString(text) {
				got++
				break
			}
		}
	}
	switch share := float64(got) / float64(len(parts)); {
	case share == 1:
		return 1
	case share >= 1./3:
		return .5
	}
	return 0
}
