package main

import (
	"testing"

	"ccd/cmd/ccd/internal/score"
	"ccd/compactor"
	"ccd/internal/transcript"
)

// A pointer with a wrong hash restores nothing.
func TestScoreChecksWhatItRestores(t *testing.T) {
	o := compactor.Defaults()
	o.MaxTokens = 8000 // so that messages are left out, as ranges and as items
	data := rich("")
	s := &score.Transcript{Session: transcript.Session{Key: transcript.Key{Agent: "claude-code", ID: "invented"}}, Options: o, Data: data}
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
