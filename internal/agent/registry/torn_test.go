package registry_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/agent/registry"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// TestTornRecord cuts records off at any byte, with the next record on the same line: that one is read, and the line counts as
// one that was not read in whole.
func TestTornRecord(t *testing.T) {
	var names []string
	for _, at := range []string{"testdata/*.jsonl", corpus + "/*/*.jsonl"} {
		found, err := filepath.Glob(at)
		testkit.Must(t, err)
		names = append(names, found...)
	}
	rng := rand.New(rand.NewPCG(testkit.Seed(), 7))
	for _, name := range testkit.Sample(t, names, 30) {
		b, err := os.ReadFile(name)
		testkit.Must(t, err)
		lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
		agent := agentOf[filepath.Base(filepath.Dir(name))]
		if first, _, _ := strings.Cut(filepath.Base(name), "."); agent == "" {
			agent = agentOf[first]
		}
		if len(lines) < 3 || agent == "" {
			continue
		}
		for range testkit.Cases(t, 10, 200) {
			i := 1 + rng.IntN(len(lines)-2)
			if len(lines[i]) < 2 || !transcript.Valid(lines[i]) || !transcript.Valid(lines[i+1]) || len(lines[i]) > 1<<20 {
				continue
			}
			torn := lines[i][:1+rng.IntN(len(lines[i])-1)]
			whole := lines[i+1]
			want := lastRecord(agent, [][]byte{lines[0], whole})
			got := lastRecord(agent, [][]byte{lines[0], append(bytes.Clone(torn), whole...)})
			if want.Unknown { // what no record of a known type is may be a part of the cut one
				continue
			}
			if !got.Broken || !got.Unread || !sameItems(want, got) {
				t.Errorf("%s: %d items of %d, broken %t, from %.200q then %.200q", name, len(got.Items), len(want.Items), got.Broken, torn, whole)
			}
		}
	}
}

func lastRecord(agent string, lines [][]byte) (last transcript.Record) {
	d := registry.Table{}.NewDecoder(agent, transcript.Main)
	for r := range d.Records(transcript.Segment{Data: append(bytes.Join(lines, []byte("\n")), '\n'), Rest: true}) {
		last = r.Clone()
	}
	return last
}

func sameItems(a, b transcript.Record) bool {
	if len(a.Items) != len(b.Items) {
		return false
	}
	for i := range a.Items {
		if a.Items[i].Kind != b.Items[i].Kind || !bytes.Equal(a.Items[i].Raw, b.Items[i].Raw) {
			return false
		}
	}
	return true
}
