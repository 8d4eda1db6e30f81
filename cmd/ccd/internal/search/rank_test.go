package search

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// TestRanked: what was said comes first, of it whole words, in the order in which it was found, equal originals are one hit, and the
// search ends when enough was said.
func TestRanked(t *testing.T) {
	hit := func(id mark.ID, kind transcript.Kind) Hit { return Hit{ID: id, Kind: kind} }
	r := Ranked{Most: 4}
	for _, h := range []Hit{
		{ID: "part", Kind: transcript.Text, Part: true},
		hit("dump1", transcript.Result), hit("think", transcript.Thinking), hit("text1", transcript.Text), hit("dump1", transcript.Result),
		hit("human", transcript.Human), hit("dump2", transcript.File), hit("dump1", transcript.Result),
	} {
		if !r.Add(h) {
			t.Fatalf("%s ends the search", h.ID)
		}
	}
	var got []mark.ID
	for _, h := range r.All() {
		got = append(got, h.ID)
	}
	if diff := cmp.Diff([]mark.ID{"text1", "human", "part", "think"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := r.byID["dump1"].Equal; n != 2 {
		t.Errorf("%d equal, want 2", n)
	}
	if !r.Add(hit("text2", transcript.Text)) || r.Add(hit("text3", transcript.Text)) {
		t.Error("the search does not end with the fourth thing that was said")
	}
}
