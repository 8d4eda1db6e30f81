package transcript_test

import (
	"testing"

	"ccd/internal/transcript"
)

// TestSpent: what was read from a cache is not counted twice, and a count that is invalid makes none of them.
func TestSpent(t *testing.T) {
	as := transcript.Counts{In: "in", Cached: "cached", Out: []string{"out", "thought"}, Within: true}
	want := transcript.Spent{In: 486, Cached: 12504, Out: 90}
	if got := (transcript.Node{Raw: []byte(`{"in":12990,"out":39,"cached":12504,"thought":51}`)}).Object().Spent(as); got == nil || *got != want {
		t.Errorf("%+v", got)
	}
	for _, none := range []string{`{}`, `{"in":-3,"out":6}`, `{"in":"many"}`, `{"in":1,"cached":-1}`, `null`, `[]`} {
		if got := (transcript.Node{Raw: []byte(none)}).Object().Spent(as); got != nil {
			t.Errorf("%s: %+v", none, got)
		}
	}
}
