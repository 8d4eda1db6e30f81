package registry_test

import (
	"fmt"
	"testing"
	"time"

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

// TestTimesOfLists: a number is in seconds or in milliseconds.
func TestTimesOfLists(t *testing.T) {
	const line = `{"at":%s,"role":"user","content":"Mend it."}` + "\n"
	for at, want := range map[string]string{"1789372800": "2026-09-14T08:00:00Z", "1789372800500": "2026-09-14T08:00:00.5Z", "-1789372800": "0001-01-01T00:00:00Z"} {
		if r := listed(fmt.Sprintf(line, at)); r.Time.Format(time.RFC3339Nano) != want {
			t.Errorf("%s: %s, want %s", at, r.Time, want)
		}
	}
}

// listed is a record of a list of messages.
func listed(line string) (one transcript.Record) {
	table := registry.Table{}.With(registry.Lists("mine", nil, ""))
	for r := range table.NewDecoder("mine", transcript.Main).Records(transcript.Segment{Data: []byte(line), Rest: true}) {
		one = *r
	}
	return one
}
