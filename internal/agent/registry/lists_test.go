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
	const line = `{"at":%s,"role":"user","content":"Mend it."}`
	for at, want := range map[string]string{"1789372800": "2026-09-14T08:00:00Z", "1789372800500": "2026-09-14T08:00:00.5Z", "-1789372800": "0001-01-01T00:00:00Z"} {
		if got, _ := listed(fmt.Sprintf(line, at)); got.Format(time.RFC3339Nano) != want {
			t.Errorf("%s: %s, want %s", at, got, want)
		}
	}
}

// listed is a record of a list of messages: its time, its items, and whether it is unknown or bookkeeping.
func listed(line string) (at time.Time, what string) {
	table := registry.Table{}.With(registry.Lists("mine", nil, ""))
	for r := range table.NewDecoder("mine", transcript.Main).Records(transcript.Segment{Data: []byte(line + "\n"), Rest: true}) {
		for _, it := range r.Items {
			what += it.Kind.String() + " " + string(transcript.Original(it.Kind, it.Raw)) + " "
		}
		at, what = r.Time, what+fmt.Sprint(r.Unknown, " ", r.UI)
	}
	return at, what
}

// TestRolesOfLists: a role may be in the message or beside it; a record with one that says nothing is not understood, and one without is
// bookkeeping.
func TestRolesOfLists(t *testing.T) {
	for line, want := range map[string]string{
		`{"role":"user","message":{"content":"Mend it."}}`:                 "human Mend it. false false",
		`{"role":"record","message":{"role":"user","content":"Mend it."}}`: "human Mend it. false false",
		`{"role":"user","content":"Mend it.","message":{"id":"m1"}}`:       "human Mend it. false false",
		`{"role":"user","message":{"parts":["Mend it."]}}`:                 "true false",
		`{"role":"user","content":null}`:                                   "true false",
		`{"role":"assistant","content":""}`:                                "false false",
		`{"event":"started","message":{"content":"Mend it."}}`:             "false true",
	} {
		if _, got := listed(line); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
