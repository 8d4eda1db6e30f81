package transcript

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What a replay of the calls tells of a file must be what the client itself kept of it before each edit.
func TestReplayOfRealSessions(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(corpus, "claude", "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Skip("no real sessions here")
	}
	same, unknown := 0, 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		calls := map[string]Item{}
		files := map[string]Content{}
		for r := range NewDecoder("claude-code", Main).Records(Segment{Data: data, Rest: true}) {
			for _, it := range r.Items {
				call, ok := calls[it.Call]
				switch {
				case it.Kind == Call:
					it.Raw = slices.Clone(it.Raw)
					calls[it.Call] = it
				case it.Kind == Result && ok:
					a := Understand(call.Tool, call.Raw)
					a.Resolve(r.Cwd)
					out := Explain(call.Tool, a.Op, it.Raw, it.Failed)
					kept, _ := CopyOf(r)
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
							if len(before.Known()) > 0 && !before.agrees(kept.Before) {
								t.Errorf("%s#%d: what is known in part is not so", filepath.Base(path), r.N)
							}
							before = kept.Before
						}
						if ch.Op == Read {
							files[ch.Path] = before.Seen(Reading(call.Tool, &a, &out))
							continue
						}
						files[ch.Path] = After(call.Tool, call.Raw, n, before)
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
