package resume

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestOlder: a copy is the newest of no list while others stand there that are not about to be purged, and is never so
// old that it is purged itself.
func TestOlder(t *testing.T) {
	now := date("2026-01-31T12:00:00Z")
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		times []time.Time
		want  time.Time
	}{
		"alone":                  {nil, now},
		"beside one":             {[]time.Time{ago(time.Hour)}, ago(time.Hour + time.Second)},
		"before all":             {[]time.Time{ago(time.Hour), ago(6 * day), ago(day)}, ago(6*day + time.Second)},
		"an old one among them":  {[]time.Time{ago(time.Hour), ago(28 * day)}, ago(time.Hour + time.Second)},
		"all of them old":        {[]time.Time{ago(20 * day), ago(28 * day)}, ago(20*day + time.Second)},
		"all about to be purged": {[]time.Time{ago(40 * day), ago(90 * day)}, ago(7 * day)},
	} {
		if got := older(c.times, now); !got.Equal(c.want) {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestPut(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "a", "source.jsonl")
	if err := os.MkdirAll(filepath.Dir(source), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(source, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	at := now.Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(source, at, at); err != nil {
		t.Fatal(err)
	}
	c := Copy{Lines: [][]byte{[]byte(`{"a":1}`), []byte(`{"b":2}`)}}
	path := filepath.Join(dir, "b", "c", newID+".jsonl")
	if err := c.Put(path, source, now); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
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
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
