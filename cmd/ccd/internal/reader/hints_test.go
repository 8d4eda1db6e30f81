package reader

import (
	"errors"
	"testing"

	"ccd/archive"
	"ccd/cmd/ccd/internal/history"
	"ccd/internal/transcript"
)

// TestArgument holds that a session's name in a hint works when it is pasted.
func TestArgument(t *testing.T) {
	of := func(agent, id string) Entry {
		return Entry{Session: archive.Session{Session: transcript.Session{Key: transcript.Key{Agent: agent, ID: id}}}}
	}
	l := &Library{Sessions: []Entry{of("codex", "one"), of("codex", "two"), of("claude-code", "two"), of("codex", "-p/three")}}
	for i, want := range []string{"one", "--agent codex two", "--agent claude-code two", "-- -p/three"} {
		if got := l.Argument(l.Sessions[i]); got != want {
			t.Errorf("%s: %s, want %s", l.Sessions[i].ID, got, want)
		}
	}
}

// TestResolveHint holds that a hint says what makes an ambiguous name one session's.
func TestResolveHint(t *testing.T) {
	of := func(agent, id, cwd string) history.Candidate {
		return history.Candidate{Session: transcript.Session{Key: transcript.Key{Agent: agent, ID: id}}, Cwd: cwd}
	}
	l := &Library{}
	for _, c := range []history.Candidate{of("codex", "aa1", "/x"), of("codex", "aa2", "/y z"), of("claude-code", "aa3", "/x")} {
		l.Sessions = append(l.Sessions, Entry{Session: archive.Session{Session: c.Session}})
	}
	for _, c := range []struct {
		arg      string
		sessions []history.Candidate
		want     string
	}{
		{"aa", []history.Candidate{of("codex", "aa1", "/x"), of("codex", "aa2", "/y")}, "use the full ID, such as aa1"},
		{"aa", []history.Candidate{of("codex", "aa1", "/x"), of("claude-code", "aa3", "/x")}, "add --agent codex"},
	} {
		var got interface{ Hint() string }
		if err := l.resolveHint(c.arg, &history.AmbiguousError{Sessions: c.sessions}); !errors.As(err, &got) || got.Hint() != c.want {
			t.Errorf("%s: %v, want %s", c.arg, got, c.want)
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
