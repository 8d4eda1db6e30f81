package registry_test

import (
	"testing"

	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

func TestNamesOfLists(t *testing.T) {
	const id = "6f0d2b1e-93c4-4a7e-8b55-1d0c7e2fa901"
	row, usual := registry.Lists("mine", nil, "*/log.json*"), registry.Lists("mine", nil, "")
	for rel, want := range map[string][2]string{
		"a/log.jsonl": {"a/log", "a/log"}, "a/log.json": {"a/log.json", ""}, "a/b/log.jsonl": {"", "a/b/log"}, "a/.log.jsonl": {}, "x.txt": {},
		"a/b/run-" + id + ".jsonl": {"", id},
	} {
		for i, row := range []transcript.Format{row, usual} {
			if s, ok := row.Match("mine", rel); ok != (want[i] != "") || s.ID != want[i] {
				t.Errorf("%s: %q %v, want %q", rel, s.ID, ok, want[i])
			}
		}
	}
}
