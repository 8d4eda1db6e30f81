package compactor

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/internal/transcript"
)

// eight cuts a session into eight parts at line ends.
func (s sample) eight() []int {
	var ends []int
	for n := 1; n <= 8; n++ {
		at := len(s.data) * n / 8
		if i := bytes.IndexByte(s.data[at:], '\n'); i >= 0 && n < 8 {
			at += i + 1
		}
		ends = append(ends, at)
	}
	return ends
}

// TestEightRoundsLoseNothing has sessions grow in eight rounds, with the agent's own boundaries and summaries between
// them, compacted after each, half of them after a restart that folds all anew. The last companion is that of one
// compaction, with its IDs, and every ID of the earlier ones still names the same bytes.
func TestEightRoundsLoseNothing(t *testing.T) {
	s := day(8)
	for i := range 7 {
		s.boundary("u-3")
		for j := range 6 {
			s.round(8 + 6*i + j)
		}
	}
	samples := append([]sample{{"boundaries", "claude-code", s.buf.Bytes()}}, invented(t, 1, 200000)...)
	if !raceEnabled {
		samples = append(samples, realSessions(t)...)
	}
	for _, s := range samples {
		for _, tokens := range []int{72000, 16000} {
			s.grow(t, tokensOf(tokens))
		}
	}
}

// grow compacts a session in eight rounds and holds the last companion against that of one.
func (s sample) grow(t *testing.T, o Options) {
	t.Helper()
	pointers := map[string]transcript.Pointer{}
	grown := &folded{Compactor: New(o, transcript.Session{Key: transcript.Key{Agent: s.agent, ID: "s"}})}
	d := transcript.NewDecoder(s.agent, transcript.Main)
	var last *Compaction
	done := 0
	for n, end := range s.eight() {
		grown.data = s.data[:end]
		for r := range d.Records(transcript.Segment{Start: transcript.Cursor{Offset: int64(done)}, Data: s.data[done:end], Rest: n == 7}) {
			grown.Add(r)
		}
		done = end
		last = grown.compact(t)
		if n%2 == 1 {
			anew := sample{s.name, s.agent, grown.data}.fold(t, o).compact(t)
			if diff := cmp.Diff(anew, last, plain); diff != "" {
				t.Fatalf("%s: round %d, folded anew: %s", s.name, n, diff)
			}
		}
		for _, p := range last.Pointers {
			pointers[string(p.Hash.ID())] = p
		}
	}
	once := s.fold(t, o)
	if diff := cmp.Diff(once.compact(t), last, plain); diff != "" {
		t.Errorf("%s: one compaction shows otherwise: %s", s.name, diff)
	}
	for id, p := range pointers {
		if once.hash(p).ID() != p.Hash.ID() {
			t.Errorf("%s: %s of an earlier companion no longer resolves", s.name, id)
		}
	}
}

// TestRoundsSeeOtherBytes is the control: pointers do not resolve to bytes that have changed, and a companion of seven
// rounds is not that of eight.
func TestRoundsSeeOtherBytes(t *testing.T) {
	s := sample{"day", "claude-code", day(20).buf.Bytes()}
	f := s.fold(t, Defaults())
	whole := f.compact(t)
	part := sample{s.name, s.agent, s.data[:s.eight()[6]]}.fold(t, Defaults()).compact(t)
	if cmp.Equal(whole, part, plain) {
		t.Error("a round less shows the same")
	}
	for i := range f.data {
		f.data[i] ^= 1
	}
	for _, p := range whole.Pointers {
		if f.hash(p) == p.Hash {
			t.Errorf("%s resolves to other bytes", p.Hash.ID())
		}
	}
}
