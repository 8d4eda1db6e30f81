package compactor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/internal/transcript"
)

// optionSets are options under which the laws must hold as well as under those shipped.
func optionSets() map[string]Options {
	sets := map[string]Options{}
	for name, change := range map[string]func(o *Options){
		"shipped":        func(*Options) {},
		"near dedup":     func(o *Options) { o.NearDedup, o.MaxTokens = true, 16000 },
		"contradictions": func(o *Options) { o.Contradictions, o.MaxTokens = true, 16000 },
		"both":           func(o *Options) { o.NearDedup, o.Contradictions, o.KeepImportance = true, true, 0.4 },
		"focus":          func(o *Options) { o.Focus = []string{"cents", "export"} },
		"off":            func(o *Options) { o.Off = []string{"answers", "merge", "talk", "file"} },
		"all off":        func(o *Options) { o.Off = Strategies() },
		"errors alone": func(o *Options) {
			o.Off = slices.DeleteFunc(Strategies(), func(name string) bool { return name == "errors" })
		},
		"gentle":       func(o *Options) { o.Level = Gentle },
		"maximum":      func(o *Options) { o.Level = Maximum },
		"5000 tokens":  func(o *Options) { o.MaxTokens = 5000 },
		"16000 tokens": func(o *Options) { o.MaxTokens = 16000 },
		"summarizer":   func(o *Options) { o.Summarizer, o.LongCap = "a command", "log" },
	} {
		o := Defaults()
		change(&o)
		sets[name] = o
	}
	return sets
}

// plain has inputs of a summarizer compared whole.
var plain = cmp.AllowUnexported(Input{})

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

// inPieces folds a session in pieces cut anywhere, and asks for the companion now and then: that must change nothing.
func (s sample) inPieces(t *testing.T, o Options, rng *rand.Rand) *folded {
	t.Helper()
	f := &folded{Compactor: New(o, transcript.Session{Key: transcript.Key{Agent: s.agent, ID: "s"}}), data: s.data}
	d := transcript.NewDecoder(s.agent, transcript.Main)
	for off := 0; off < len(s.data); {
		n := min(len(s.data)-off, 1+rng.IntN(len(s.data)/4))
		seg := transcript.Segment{Start: transcript.Cursor{Offset: int64(off)}, Data: s.data[off : off+n], Rest: off+n == len(s.data)}
		for r := range d.Records(seg) {
			f.Add(r)
		}
		if rng.IntN(4) == 0 {
			f.compact(t)
		}
		off += n
	}
	return f
}

// TestFoldLawUnderOptions has every set of options give the same bytes however a session was cut, and on every run.
func TestFoldLawUnderOptions(t *testing.T) {
	samples := append([]sample{{"grown", "claude-code", grown(30)}}, invented(t, 1, 120000)...)
	if real := realSessions(t); len(real) > 0 && !raceEnabled {
		samples = append(samples, real[0])
	}
	for name, o := range optionSets() {
		for n, s := range samples {
			once := s.fold(t, o)
			want := once.compact(t)
			once.check(t, want)
			if d := cmp.Diff(want, once.compact(t), plain); d != "" {
				t.Errorf("%s, %s: the next run differs:\n%s", name, s.name, d)
			}
			if d := cmp.Diff(want, s.inPieces(t, o, rand.New(rand.NewPCG(uint64(n), 3))).compact(t), plain); d != "" {
				t.Errorf("%s, %s: in pieces it differs:\n%s", name, s.name, d)
			}
		}
	}
}

// TestFoldLawSeesAMissingRecord is the control: a record less, or the pieces in another order, is not the same session.
func TestFoldLawSeesAMissingRecord(t *testing.T) {
	s := sample{"grown", "claude-code", grown(30)}
	want := s.fold(t, Defaults()).compact(t)
	for _, skip := range []int{1, 40, 200} {
		f := &folded{Compactor: New(Defaults(), transcript.Session{Key: transcript.Key{Agent: s.agent, ID: "s"}}), data: s.data}
		n := 0
		for r := range transcript.NewDecoder(s.agent, transcript.Main).Records(transcript.Segment{Data: s.data, Rest: true}) {
			if n++; n != skip {
				f.Add(r)
			}
		}
		if got := f.compact(t); cmp.Equal(want, got, plain) {
			t.Errorf("record %d is missing, and the companion is the same", skip)
		}
	}
	if n := len(optionSets()); n < 13 {
		t.Error(fmt.Sprint("sets of options are lost: ", n))
	}
}
