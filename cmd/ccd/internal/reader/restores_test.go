package reader

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/cmd/ccd/internal/account"
	"ccd/internal/ownfile"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// The log of restores stays below its size, whatever happens, and never stands in the way.
func TestRestoresAreLoggedWhereTheyCanBe(t *testing.T) {
	l := &Library{Place: &account.Place{StateDir: filepath.Join(t.TempDir(), "state")}}
	key := transcript.Key{Agent: "codex", ID: "s"}
	l.NoteRestore("id", key, nil) // there is no such directory: nothing comes of it
	if err := os.Mkdir(l.StateDir, 0o700); err != nil {
		t.Fatal(err)
	}
	l.NoteRestore("id", key, nil)
	l.NoteRestore("id", transcript.Key{Agent: "codex", ID: strings.Repeat("x", maxRestored)}, nil)
	l.NoteRestore("session", transcript.Key{}, errors.New("damage"))
	l.NoteRestore("id", key, words.Usage(errors.New("no id")))
	if err := os.WriteFile(restoresLog(l.StateDir)+".1", []byte("{torn\n\n{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := l.Restores()
	if len(got) != 2 || got[0].Session != "s" || !got[0].OK || got[1].OK || got[1].Kind != "session" {
		t.Errorf("read back: %+v", got)
	}
	path := filepath.Join(l.StateDir, "capped")
	for i := range 100 {
		ownfile.Append(path, []byte(fmt.Sprintf("line %2d\n", i)), 100)
	}
	now, _ := os.ReadFile(path)
	old, _ := os.ReadFile(path + ".1")
	if len(now) > 100 || len(old) > 100 || !strings.HasSuffix(string(now), "line 99\n") || !strings.HasPrefix(string(now), fmt.Sprintf("line %2d", lastOf(string(old))+1)) {
		t.Errorf("capped at 100 bytes: %q after %q", now, old)
	}
	for _, foreign := range []string{"dir", "link"} {
		path := filepath.Join(l.StateDir, foreign)
		if foreign == "dir" {
			_ = os.Mkdir(path, 0o700)
		} else {
			_ = os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), path)
		}
		before, _ := os.Lstat(path)
		ownfile.Append(path, []byte("x\n"), 1)
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
