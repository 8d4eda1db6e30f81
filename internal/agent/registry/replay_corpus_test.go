package registry_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ccd/internal/agent/registry"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// TestReplayOfRealSessions checks that replaying the calls gives the same file as the client recorded before each edit.
func TestReplayOfRealSessions(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(corpus, "claude", "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Skip("no real sessions here")
	}
	same, unknown := 0, 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		testkit.Must(t, err)
		calls := map[string]transcript.Item{}
		files := map[string]transcript.Content{}
		for r := range (registry.Table{}).NewDecoder("claude-code", transcript.Main).Records(transcript.Segment{Data: data, Rest: true}) {
			for _, it := range r.Items {
				call, ok := calls[it.Call]
				switch {
				case it.Kind == transcript.Call:
					it.Raw = slices.Clone(it.Raw)
					calls[it.Call] = it
				case it.Kind == transcript.Result && ok:
					a := call.Understand()
					a.Resolve(r.Cwd)
					out := it.Explain(call.Tool, a.Op)
					kept, _ := transcript.CopyOf(r)
					for n, ch := range a.Changes(&out) {
						before := files[ch.Path]
						if want, ok := kept.Before.Text(); ok && kept.Path == ch.Path {
							got, known := before.Text()
							switch {
							case !known:
								unknown++
							case got != want:
								t.Errorf("%s#%d: %s: %d bytes by replay, the client kept %d", filepath.Base(path), r.N, filepath.Base(ch.Path), len(got), len(want))
							default:
								same++
							}
							// Seen keeps the client's content only where the two agree.
							if all, ok := kept.Before.Seen(before).Text(); !ok || all != want {
								t.Errorf("%s#%d: what is known in part is not so", filepath.Base(path), r.N)
							}
							before = kept.Before
						}
						if ch.Op == transcript.Read {
							files[ch.Path] = before.Seen(call.Client().Reading(call.Tool, &a, &out))
							continue
						}
						files[ch.Path] = call.Client().After(call.Tool, call.Raw, n, before)
					}
				}
			}
		}
	}
	t.Logf("before %d edits the replay tells the file as the client kept it; before %d it tells nothing, or lines only", same, unknown)
	if same < 25 {
		t.Error("hardly any edit is checked")
	}
}
