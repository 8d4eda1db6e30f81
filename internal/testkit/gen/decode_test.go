package gen_test

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/agent/registry"
	"ccd/internal/testkit"
	"ccd/internal/testkit/gen"
	"ccd/internal/transcript"
)

// TestDecodes checks that ccd decodes the invented transcripts like real ones: no record is unknown or broken, and
// every result has a call.
func TestDecodes(t *testing.T) {
	for _, agent := range []string{gen.Claude, gen.Codex} {
		for seed := range uint64(testkit.Cases(t, 2, 13)) {
			var b bytes.Buffer
			testkit.Must(t, gen.Write(&b, agent, seed, 1<<20))
			kinds, calls := map[transcript.Kind]int{}, map[string]bool{}
			usage := 0
			d := registry.Table{}.NewDecoder(agent, transcript.Main)
			for r := range d.Records(transcript.Segment{Data: b.Bytes(), Rest: true}) {
				if r.Unknown || r.Broken {
					t.Errorf("%s seed %d record %d: unknown %v, broken %v: %.120s", agent, seed, r.N, r.Unknown, r.Broken, r.Raw)
				}
				if r.Usage != nil {
					usage++
				}
				for _, it := range r.Items {
					kinds[it.Kind]++
					if it.Kind == transcript.Call {
						calls[it.Call] = true
					} else if it.Kind == transcript.Result && !calls[it.Call] {
						t.Errorf("%s seed %d record %d: a result without a call", agent, seed, r.N)
					}
				}
			}
			for _, k := range []transcript.Kind{transcript.Human, transcript.Text, transcript.Thinking, transcript.Call, transcript.Result} {
				if kinds[k] == 0 {
					t.Errorf("%s seed %d: no item of kind %s", agent, seed, k)
				}
			}
			if kinds[transcript.Call] != kinds[transcript.Result] {
				t.Errorf("%s seed %d: %d calls, %d results", agent, seed, kinds[transcript.Call], kinds[transcript.Result])
			}
			if usage == 0 && !bytes.Contains(b.Bytes(), []byte(`"record_type"`)) {
				t.Errorf("%s seed %d: no usage", agent, seed)
			}
		}
	}
}

// TestTreeIsFound checks that ccd finds every file of a tree.
func TestTreeIsFound(t *testing.T) {
	home := t.TempDir()
	testkit.Must(t, gen.Tree(home, 9, 8<<20))
	classes := map[transcript.Class]int{}
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		agent, root := gen.Claude, filepath.Join(home, ".claude/projects")
		if strings.Contains(path, ".codex") {
			agent, root = gen.Codex, filepath.Join(home, ".codex/sessions")
		}
		s, ok := registry.Table{}.Find(agent, root, path)
		if !ok {
			t.Errorf("not found: %s", path)
		}
		classes[s.Class]++
		return nil
	})
	testkit.Must(t, err)
	if classes[transcript.Main] == 0 || classes[transcript.SubAgent] == 0 || classes[transcript.Attachment] == 0 {
		t.Errorf("classes: %v", classes)
	}
}
