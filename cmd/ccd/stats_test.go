package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/archive"
	"ccd/daemon"
	"ccd/internal/transcript"
)

func entryWith(id string, s daemon.State) entry {
	return entry{Session: archive.Session{Session: transcript.Session{Key: transcript.Key{Agent: "codex", ID: id}}}, state: s}
}

func TestTallied(t *testing.T) {
	all := []entry{
		entryWith("a", daemon.State{Companion: "/a", Original: 1000, Compacted: 250, Work: daemon.Work{
			Compactions: 2, Microseconds: 1500, Fallbacks: map[string]int{"verification": 1},
			Saved: map[string]daemon.Gain{"output": {Items: 3, Tokens: 600}, "file": {Items: 1, Tokens: 100}},
		}}),
		entryWith("b", daemon.State{Companion: "/b", Original: 1000, Compacted: 750, Work: daemon.Work{
			Compactions: 1, Microseconds: 500, Saved: map[string]daemon.Gain{"file": {Items: 9, Tokens: 900}},
		}}),
		entryWith("c", daemon.State{}),
	}
	restores := []restored{
		{Kind: "id", Agent: "codex", Session: "a", OK: true}, {Kind: "id", Agent: "codex", Session: "a"}, {Kind: "id"},
	}
	out := tallied(all, restores, true)
	want := tally{
		Original: 2000, Compacted: 1000, Saved: 50, Compactions: 3, Milliseconds: 2, Tried: 3, Succeeded: 1,
		Strategies: []savingOutput{{"file", 10, 1000}, {"output", 3, 600}}, Fallbacks: []wayOutput{{"verification", 1}},
		gains: out.gains, ways: out.ways,
	}
	if diff := cmp.Diff(want, out.tally, cmp.AllowUnexported(tally{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if out.Sessions != 3 || out.Companions != 2 || len(out.BySession) != 2 || out.BySession[0].Tried != 2 || out.BySession[0].Saved != 75 {
		t.Errorf("%+v", out)
	}
	if one := tallied(all[1:2], restores, false); one.Tried != 0 || one.Saved != 25 {
		t.Errorf("of one session: %+v", one)
	}
}

// The log of restores stays below its size, whatever happens, and never stands in the way.
func TestRestoresAreLoggedWhereTheyCanBe(t *testing.T) {
	l := &library{stateDir: filepath.Join(t.TempDir(), "state")}
	key := transcript.Key{Agent: "codex", ID: "s"}
	l.noteRestore("id", key, nil) // there is no such directory: nothing comes of it
	if err := os.Mkdir(l.stateDir, 0o700); err != nil {
		t.Fatal(err)
	}
	l.noteRestore("id", key, nil)
	l.noteRestore("id", transcript.Key{Agent: "codex", ID: strings.Repeat("x", maxRestored)}, nil)
	l.noteRestore("session", transcript.Key{}, errors.New("damage"))
	l.noteRestore("id", key, usageError{errors.New("no id")})
	if err := os.WriteFile(restoresLog(l.stateDir)+".1", []byte("{torn\n\n{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := l.restores()
	if len(got) != 2 || got[0].Session != "s" || !got[0].OK || got[1].OK || got[1].Kind != "session" {
		t.Errorf("read back: %+v", got)
	}
	path := filepath.Join(l.stateDir, "capped")
	for i := range 100 {
		appendCapped(path, []byte(fmt.Sprintf("line %2d\n", i)), 100)
	}
	now, _ := os.ReadFile(path)
	old, _ := os.ReadFile(path + ".1")
	if len(now) > 100 || len(old) > 100 || !strings.HasSuffix(string(now), "line 99\n") || !strings.HasPrefix(string(now), fmt.Sprintf("line %2d", lastOf(string(old))+1)) {
		t.Errorf("capped at 100 bytes: %q after %q", now, old)
	}
	for _, foreign := range []string{"dir", "link"} {
		path := filepath.Join(l.stateDir, foreign)
		if foreign == "dir" {
			_ = os.Mkdir(path, 0o700)
		} else {
			_ = os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), path)
		}
		before, _ := os.Lstat(path)
		appendCapped(path, []byte("x\n"), 1)
		after, err := os.Lstat(path)
		if err != nil || before.Mode() != after.Mode() || after.Mode().IsRegular() {
			t.Errorf("%s was touched", foreign)
		}
	}
}

func lastOf(lines string) (n int) {
	at := strings.LastIndex(strings.TrimSpace(lines), "line")
	_, _ = fmt.Sscanf(lines[at:], "line %d", &n)
	return n
}
