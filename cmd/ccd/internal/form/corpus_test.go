package form

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"ccd/internal/agent/registry"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// corpus is the directory of real transcripts, which are not part of the repository.
const corpus = "../../../../../shared/corpus"

// Real transcripts become lists that an API accepts, in all forms and sizes, and the lists can be compacted again.
func TestRealTranscriptsBecomeMessages(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus, "c*", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Skipf("NOTICE: no real transcripts at %s: this test needs them", corpus)
	}
	told := 0
	for _, f := range testkit.Sample(t, files, 3) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		agent, _, ok := registry.Table{}.Sniff(data)
		if !ok || agent == transcript.Messages {
			continue
		}
		for _, budget := range []int{72000, 16000, 4000} {
			out, _ := compacted(t, agent, data, budget)
			all := read(t, out)
			for _, fault := range faultsIn(t, all) {
				t.Errorf("%s, %d tokens: %s", filepath.Base(f), budget, fault)
			}
			if n := charsOf(t, all) * 4 / 3; n > budget+leastCut*4/3 {
				t.Errorf("%s: %d tokens of %d", filepath.Base(f), n, budget)
			}
			told += bytes.Count(out, []byte(" was called and gave no result)"))
			again, _ := compacted(t, transcript.Messages, out, budget)
			if found := faultsIn(t, read(t, again)); len(found) > 0 {
				t.Errorf("%s, compacted again: %q", filepath.Base(f), found)
			}
		}
	}
	t.Logf("%d transcripts, %d calls without a result told in words", len(files), told)
}
