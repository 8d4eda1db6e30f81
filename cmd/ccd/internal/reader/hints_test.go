package reader

import (
	"testing"

	"ccd/archive"
	"ccd/internal/transcript"
)

// TestArgument holds that a session's name in a hint works when it is pasted.
func TestArgument(t *testing.T) {
	of := func(agent, id string) *Entry {
		return &Entry{Session: archive.Session{Session: transcript.Session{Key: transcript.Key{Agent: agent, ID: id}}}}
	}
	l := &Library{Sessions: []*Entry{of("codex", "one"), of("codex", "two"), of("claude-code", "two"), of("codex", "-p/three")}}
	for i, want := range []string{"one", "--agent codex two", "--agent claude-code two", "-- -p/three"} {
		if got := l.Argument(l.Sessions[i]); got != want {
			t.Errorf("%s: %s, want %s", l.Sessions[i].ID, got, want)
		}
	}
}

func TestUnmark(t *testing.T) {
	for arg, want := range map[string]string{
		"4tq9": "4tq9", "[ccd 4tq9c1m7x2ka]": "4tq9c1m7x2ka", "[ccd 4tq9c1m7x2ka output, 80 lines]": "4tq9c1m7x2ka",
		" [ccd 4tq9c1m7x2ka x] ": "4tq9c1m7x2ka", "[ccd ]": "[ccd ]", "c0ff#3": "c0ff#3",
	} {
		if got := Unmark(arg); got != want {
			t.Errorf("%q: %q, want %q", arg, got, want)
		}
	}
}
