package main

import (
	"errors"
	"os/exec"
	"testing"

	"ccd/archive"
	"ccd/cmd/ccd/internal/history"
	"ccd/internal/transcript"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 files", 1: "1 file", 2: "2 files"} {
		if got := count(n, "file"); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// TestShellWord holds that a shell takes a quoted name for what it is.
func TestShellWord(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("NOTICE: no shell")
	}
	for _, s := range []string{"", "plain-1/x.jsonl", "a b", "it's", "$HOME", "a;b", "*", "~/x", "`id`", `a\b`, "ü"} {
		out, err := exec.Command(sh, "-c", "printf %s "+shellWord(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q became %q, %v", s, out, err)
		}
	}
}

// TestArgument holds that a session's name in a hint works when it is pasted.
func TestArgument(t *testing.T) {
	of := func(agent, id string) entry {
		return entry{Session: archive.Session{Session: transcript.Session{Key: transcript.Key{Agent: agent, ID: id}}}}
	}
	l := &library{sessions: []entry{of("codex", "one"), of("codex", "two"), of("claude-code", "two"), of("codex", "-p/three")}}
	for i, want := range []string{"one", "--agent codex two", "--agent claude-code two", "-- -p/three"} {
		if got := l.argument(l.sessions[i]); got != want {
			t.Errorf("%s: %s, want %s", l.sessions[i].ID, got, want)
		}
	}
}

// TestResolveHint holds that a hint says what makes an ambiguous name one session's.
func TestResolveHint(t *testing.T) {
	of := func(agent, id, cwd string) history.Candidate {
		return history.Candidate{Session: transcript.Session{Key: transcript.Key{Agent: agent, ID: id}}, Cwd: cwd}
	}
	l := &library{}
	for _, c := range []history.Candidate{of("codex", "aa1", "/x"), of("codex", "aa2", "/y z"), of("claude-code", "aa3", "/x")} {
		l.sessions = append(l.sessions, entry{Session: archive.Session{Session: c.Session}})
	}
	for _, c := range []struct {
		arg      string
		sessions []history.Candidate
		want     string
	}{
		{"aa", []history.Candidate{of("codex", "aa1", "/x"), of("codex", "aa2", "/y")}, "name it whole, such as aa1"},
		{"aa", []history.Candidate{of("codex", "aa1", "/x"), of("claude-code", "aa3", "/x")}, "add --agent codex"},
		{"latest", []history.Candidate{of("codex", "aa1", "/x"), of("codex", "aa2", "/x"), of("claude-code", "aa3", "/x")}, "add --agent claude-code"},
		{"latest", []history.Candidate{of("codex", "aa2", "/y z"), of("codex", "aa1", "/x")}, "'latest:/y z' instead of latest"},
		{"latest", []history.Candidate{of("codex", "aa1", "/x"), of("codex", "aa2", "/x")}, "name it whole, such as aa1"},
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
		if got := unmark(arg); got != want {
			t.Errorf("%q: %q, want %q", arg, got, want)
		}
	}
}

func TestFull(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		size  archive.Size
		limit int64
		want  bool
	}{
		{archive.Size{File: 100 * mib}, 0, false},
		{archive.Size{File: 100 * mib}, 200 * mib, false},
		{archive.Size{File: 100 * mib}, 110 * mib, true},
		{archive.Size{File: 100 * mib, Free: 50 * mib}, 110 * mib, false},
		{archive.Size{File: mib}, 3 * mib, false},
		{archive.Size{File: 2 * mib}, 3 * mib, true},
	} {
		if got := full(c.size, c.limit); got != c.want {
			t.Errorf("%+v, limit %d: %v", c.size, c.limit, got)
		}
	}
}
