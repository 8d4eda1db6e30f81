package compactor

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/internal/agent/registry"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// inputs has what a summarizer is asked compared whole.
var inputs = cmp.AllowUnexported(Input{})

// grown is an invented session with the agent's own boundaries in it.
func grown(rounds int) []byte {
	s := day(rounds / 2)
	s.boundary("u-3", "u-5")
	s.used = 60000
	for i := range rounds / 2 {
		s.round(100 + i)
	}
	return s.buf.Bytes()
}

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
	if real := realSessions(t); len(real) > 0 {
		samples = append(samples, real[:min(len(real), 4)]...)
	}
	for _, s := range samples {
		for _, tokens := range testkit.Sample(t, []int{72000, 16000}, 1) {
			s.grow(t, tokensOf(tokens))
		}
	}
}

// grow compacts a session in eight rounds and holds the last companion against that of one.
func (s sample) grow(t *testing.T, o Options) {
	t.Helper()
	pointers := map[string]transcript.Pointer{}
	grown := &folded{Compactor: New(o, transcript.Session{Key: transcript.Key{Agent: s.agent, ID: "s"}})}
	d := registry.Table{}.NewDecoder(s.agent, transcript.Main)
	var last *Compaction
	done := 0
	for n, end := range s.eight() {
		grown.data = s.data[:end]
		for r := range d.Records(transcript.Segment{Start: transcript.Cursor{Offset: int64(done)}, Data: s.data[done:end], Rest: n == 7}) {
			grown.Add(r)
		}
		done = end
		last = grown.compact(t)
		if n%4 == 1 {
			anew := sample{s.name, s.agent, grown.data}.fold(t, o).compact(t)
			if diff := cmp.Diff(anew, last, inputs); diff != "" {
				t.Fatalf("%s: round %d, folded anew: %s", s.name, n, diff)
			}
		}
		for _, p := range last.Pointers {
			pointers[string(p.Hash.ID())] = p
		}
	}
	once := s.fold(t, o)
	if diff := cmp.Diff(once.compact(t), last, inputs); diff != "" {
		t.Errorf("%s: one compaction shows otherwise: %s", s.name, diff)
	}
	for id, p := range pointers {
		if once.hash(p).ID() != p.Hash.ID() {
			t.Errorf("%s: %s of an earlier companion no longer resolves", s.name, id)
		}
	}
}

// TestRoundsSeeOtherBytes is the control: pointers do not resolve to bytes that have changed, a companion of seven
// rounds is not that of eight, nor is that of a session without one of its records.
func TestRoundsSeeOtherBytes(t *testing.T) {
	s := sample{"day", "claude-code", day(20).buf.Bytes()}
	f := s.fold(t, Defaults())
	whole := f.compact(t)
	part := sample{s.name, s.agent, s.data[:s.eight()[6]]}.fold(t, Defaults()).compact(t)
	if cmp.Equal(whole, part, inputs) {
		t.Error("a round less shows the same")
	}
	for _, skip := range []int{1, 40, 100} {
		g, n := &folded{Compactor: New(Defaults(), transcript.Session{Key: transcript.Key{Agent: s.agent, ID: "s"}}), data: s.data}, 0
		for r := range (registry.Table{}).NewDecoder(s.agent, transcript.Main).Records(transcript.Segment{Data: s.data, Rest: true}) {
			if n++; n != skip {
				g.Add(r)
			}
		}
		if cmp.Equal(whole, g.compact(t), inputs) {
			t.Errorf("record %d is missing, and the companion is the same", skip)
		}
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
