//go:build rig

// Package exam asks what texts about real sessions still hold. It is for measuring, not for tests: make recall, make ablation.
package exam

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Sitting is an exam about a stretch of a real session: questions with the parts of their answers, as regular expressions.
type Sitting struct {
	File, Agent string
	Start, Cut  int
	Questions   []struct{ Keys [][]string }

	Data []byte `json:"-"` // up to the cut
	Own  []byte `json:"-"` // what the agent wrote right after it: the boundary and its summary, nil if there is none
	keys [][][]*regexp.Regexp
}

// Read returns the sittings below a directory, with their transcripts. It skips the test if there are none.
func Read(t *testing.T, shared string) (all []Sitting) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(shared, "measure/sittings/*.json"))
	if len(files) == 0 {
		t.Skip(shared + "/measure/sittings is absent")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s Sitting
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		found, _ := filepath.Glob(filepath.Join(shared, "*/*", s.File))
		if len(found) == 0 {
			t.Fatalf("%s: no transcript", s.File)
		}
		whole, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(whole), "\n")
		s.Data = []byte(strings.Join(lines[:s.Cut], ""))
		for n, line := range lines[s.Cut:min(s.Cut+8, len(lines))] {
			if strings.Contains(line, `"isCompactSummary":true`) {
				s.Own = []byte(strings.Join(lines[s.Cut:s.Cut+n+1], ""))
			}
		}
		for _, q := range s.Questions {
			var parts [][]*regexp.Regexp
			for _, part := range q.Keys {
				var any []*regexp.Regexp
				for _, key := range part {
					if x, err := regexp.Compile("(?i)" + key); err == nil { // the keys are written for another engine
						any = append(any, x)
					}
				}
				parts = append(parts, any)
			}
			s.keys = append(s.keys, parts)
		}
		all = append(all, s)
	}
	return all
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
