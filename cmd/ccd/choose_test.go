package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/internal/words"
)

// Sessions for the tests below: A worked in the repository's root, B in another directory, C in neither.
const (
	chosenA = "aaaa1111-0000-4000-8000-00000000000a"
	chosenB = "bbbb2222-0000-4000-8000-00000000000b"
	chosenC = "cccc3333-0000-4000-8000-00000000000c"
)

// chooseHome makes a home with sessions A, B and C of the given ages.
func chooseHome(t *testing.T, ageA, ageB, ageC time.Duration) (home string) {
	t.Helper()
	home = t.TempDir()
	for _, s := range []struct {
		id, dir, title string
		age            time.Duration
	}{{chosenA, "repo", "Mill the rye", ageA}, {chosenB, "plain", `Bake \u001b[31mbread`, ageB}, {chosenC, "gone", "Sell it", ageC}} {
		dir := filepath.Join(home, "src", s.dir)
		must(t, os.MkdirAll(filepath.Join(dir, "deep"), 0o700))
		at := time.Now().Add(-s.age).UTC().Format(time.RFC3339Nano)
		text := fmt.Sprintf(`{"type":"user","uuid":"u","cwd":%q,"timestamp":%q,"message":{"role":"user","content":"%s"}}`+"\n", dir, at, s.title) +
			fmt.Sprintf(`{"type":"summary","summary":"%s","leafUuid":"u"}`+"\n", s.title)
		path := filepath.Join(home, ".claude", "projects", "-p", s.id+".jsonl")
		put(t, path, text)
	}
	must(t, os.MkdirAll(filepath.Join(home, "src", "repo", ".git"), 0o700))
	must(t, os.RemoveAll(filepath.Join(home, "src", "gone")))
	once(t, home)
	return home
}

// TestSessionOfThisDirectory: without SESSION, reading commands take the session of the directory and say so.
func TestSessionOfThisDirectory(t *testing.T) {
	home := chooseHome(t, 3*time.Hour, 2*time.Hour, time.Hour)
	for dir, want := range map[string]string{"repo": chosenA, "repo/deep": chosenA, "plain": chosenB} {
		t.Chdir(filepath.Join(home, "src", dir))
		for _, args := range [][]string{
			{"show"},
			{"show", "."},
			{"timeline"},
			{"compact", "--dry-run"},
			{"restore", "--session", "."},
			{"restore", ".#1"},
			{"search", "--session", ".", "e"},
			{"restore", "--session", ".", "--info"},
		} {
			code, _, said := ccdIn(home, "", args...)
			if code != words.ExitDone || strings.Count(said, "session of this directory: "+want[:8]+", ") != 1 {
				t.Errorf("%s: %v: exit %d: %s", dir, args, code, said)
			}
		}
		if _, out, said := ccdIn(home, "", "restore", "--info", "--json", "-q", ".#1"); !strings.Contains(out, `"session": "`+want) || said != "" {
			t.Errorf("%s: %s %s", dir, out, said)
		}
		if code, _, said := ccdIn(home, "", "show", "--path"); code != words.ExitNotFound || !strings.Contains(said, "find companion of session "+want) {
			t.Errorf("%s: path: exit %d: %s", dir, code, said)
		}
	}
}

// TestNoSessionOfThisDirectory: without a terminal, ccd does not ask. It lists the sessions, escaped.
func TestNoSessionOfThisDirectory(t *testing.T) {
	home := chooseHome(t, 3*time.Hour, 2*time.Hour, time.Hour)
	t.Chdir(home)
	for _, args := range [][]string{{"show"}, {"timeline"}, {"show", "--path"}, {"resume"}, {"compact"}, {"restore", "--session", "."}} {
		code, out, said := ccdIn(home, "1\n", args...)
		lines := strings.Split(said, "\n")
		if code != words.ExitNotFound || out != "" || len(lines) < 5 || lines[0] != "ccd: find session: this directory has no session; the newest elsewhere" ||
			!strings.HasPrefix(lines[1], "   1  cccc3333, ") || !strings.HasPrefix(lines[3], "   3  aaaa1111, ") ||
			!strings.HasPrefix(lines[4], "hint: ") || strings.Contains(said, "\x1b") {
			t.Errorf("%v: exit %d: %s%s", args, code, out, said)
		}
	}
	if code, _, said := ccdIn(home, "", "show", ""); code != words.ExitUsage || !strings.Contains(said, "SESSION is empty") {
		t.Errorf("an empty name: exit %d, %s", code, said)
	}
}

// TestLatestSaysWhich: latest does not fail if several sessions are active. It names the others.
func TestLatestSaysWhich(t *testing.T) {
	home := chooseHome(t, time.Minute, 5*time.Minute, time.Hour)
	t.Chdir(home)
	for _, args := range [][]string{{"show", "latest"}, {"restore", "--session", "latest"}, {"restore", "latest#1"}, {"search", "--session", "latest", "the"}} {
		code, _, said := ccdIn(home, "", args...)
		if code != words.ExitDone || strings.Count(said, "latest is "+chosenA[:8]+", ") != 1 ||
			strings.Count(said, "also active: ") != 1 || !strings.Contains(said, "; its ID is "+chosenB[:8]) || strings.Contains(said, chosenC[:8]) {
			t.Errorf("%v: exit %d: %s", args, code, said)
		}
	}
	if code, _, said := ccdIn(home, "", "show", "latest:"+filepath.Join(home, "src", "plain")); code != words.ExitDone ||
		!strings.Contains(said, "latest is "+chosenB[:8]+", ") || strings.Contains(said, "also") {
		t.Errorf("latest:DIR: exit %d: %s", code, said)
	}
	if code, out, said := ccdIn(home, "", "show", "-q", "latest"); code != words.ExitDone || out == "" || said != "" {
		t.Errorf("-q: exit %d: %s", code, said)
	}
}
