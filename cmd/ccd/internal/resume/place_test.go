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

// TestOlder: a copy is not the newest session unless the others are about to be purged.
func TestOlder(t *testing.T) {
	now := date("2026-01-31T12:00:00Z")
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		last   time.Time
		purge  time.Duration
		want   time.Time
		newest bool
	}{
		"alone":              {time.Time{}, 30 * day, now, false},
		"beside one":         {ago(time.Hour), 30 * day, ago(time.Hour + time.Second), false},
		"an old one":         {ago(20 * day), 30 * day, ago(20*day + time.Second), false},
		"about to be purged": {ago(40 * day), 30 * day, now, true},
		"purged late":        {ago(40 * day), 365 * day, ago(40*day + time.Second), false},
		"never purged":       {ago(9000 * day), 0, ago(9000*day + time.Second), false},
		"purged soon":        {ago(time.Hour), day, ago(time.Hour + time.Second), false},
	} {
		got, newest := older(c.last, c.purge, now)
		if !got.Equal(c.want) || newest != c.newest {
			t.Errorf("%s: got %s, newest %v, want %s, %v", name, got, newest, c.want, c.newest)
		}
	}
}

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
	if _, err := c.Put(path, source, 0, now); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	testkit.Must(t, err)
	if !info.ModTime().Before(at) || info.Mode().Perm() != 0o600 {
		t.Errorf("got time %s and mode %v, want before %s and 0600", info.ModTime(), info.Mode(), at)
	}
	data, err := os.ReadFile(path)
	if err != nil || string(data) != "{\"a\":1}\n{\"b\":2}\n" {
		t.Errorf("got %q, %v", data, err)
	}
	if _, err := c.Put(path, source, 0, now); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another session: got %v, want ErrExist", err)
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
