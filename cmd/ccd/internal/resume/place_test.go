package resume

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

func TestPut(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "a", "source.jsonl")
	testkit.Put(t, source, "{}\n")
	now := time.Now()
	at := now.Add(-time.Hour).Truncate(time.Second)
	testkit.Must(t, os.Chtimes(source, at, at))
	testkit.Must(t, os.MkdirAll(filepath.Join(dir, "b", "c"), 0o700))
	loop := filepath.Join(dir, "b", "c", "loop.jsonl") // an unreadable sibling is skipped
	if err := os.Symlink(loop, loop); err != nil {
		t.Logf("no symbolic links here: %v", err)
	}
	c := Copy{Lines: [][]byte{[]byte(`{"a":1}`), []byte(`{"b":2}`)}}
	path := filepath.Join(dir, "b", "c", newID+".jsonl")
	testkit.Must(t, c.Put(path, source, now))
	info, err := os.Stat(path)
	testkit.Must(t, err)
	if !info.ModTime().Before(at) || info.Mode().Perm() != 0o600 {
		t.Errorf("got time %s and mode %v, want before %s and 0600", info.ModTime(), info.Mode(), at)
	}
	data, err := os.ReadFile(path)
	if err != nil || string(data) != "{\"a\":1}\n{\"b\":2}\n" {
		t.Errorf("got %q, %v", data, err)
	}
	if err := c.Put(path, source, now); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another session: got %v, want ErrExist", err)
	}
	testkit.Must(t, os.Remove(path)) // a day later the agent may soon remove its sessions, and the copy too
	testkit.Must(t, c.Put(path, source, now.Add(25*time.Hour)))
	if info, err = os.Stat(path); err != nil || !info.ModTime().After(now) {
		t.Errorf("beside old sessions: got time %s, %v", info.ModTime(), err)
	}
	if err := os.Remove(loop); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestOnlyADirectoryIsGoneTo: a cwd that looks like an option, or that no system has, is not used.
func TestOnlyADirectoryIsGoneTo(t *testing.T) {
	for cwd, want := range map[string]string{
		"/home/you": "/home/you", `C:\src`: `C:\src`, "-": "/", "-P": "/", "../etc": "/", "": "/", "/a\x00b": "/",
	} {
		data := `{"type":"user","uuid":"u","cwd":` + string(transcript.Quote(cwd)) + `,"message":{"role":"user","content":"hi"}}` + "\n"
		c, err := makeCopy(t, sourceOf(claude, []byte(data)), claude, 0)
		if err != nil || c.Cwd != want {
			t.Errorf("%q: got %q, %v, want %q", cwd, c.Cwd, err, want)
		}
	}
}

// TestACopyIsOfToday: the copy of a session that begins in the future gets the current date.
func TestACopyIsOfToday(t *testing.T) {
	for at, want := range map[string]string{"9999-12-31T23:59:59.999Z": "2027/01/15/", "2026-01-15T09:00:00.000Z": "2026/01/15/"} {
		data := `{"type":"user","uuid":"u","timestamp":"` + at + `","message":{"role":"user","content":"hi"}}` + "\n"
		c, err := makeCopy(t, sourceOf(claude, []byte(data)), codex, 0)
		if err != nil || !strings.HasPrefix(c.Place, want) {
			t.Errorf("%s: got %s, %v, want it below %s", at, c.Place, err, want)
		}
	}
}
