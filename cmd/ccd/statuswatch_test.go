package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/cmd/ccd/internal/status"
)

func TestWatchFlag(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"2s": 2 * time.Second, "500ms": 500 * time.Millisecond, "3": 3 * time.Second, "0.5": 500 * time.Millisecond,
		"0": 0, "1ms": 0, "-2s": 0, "48h": 0, "soon": 0, "": 0, "NaN": 0,
	} {
		var w watchFlag
		if err := w.set(text); (err == nil) != (want > 0) || w.interval != want || w.on != (want > 0) {
			t.Errorf("%q: %v, %v, %v", text, w.interval, w.on, err)
		}
	}
}

func TestFrame(t *testing.T) {
	text := []string{"one", "a longer line", "three", "four", "five"}
	for _, c := range []struct {
		name           string
		columns, lines int
		want           string
	}{
		{"fits", 80, 24, "one|a longer line|three|four|five|"},
		{"unknown", 0, 0, "one|a longer line|three|four|five|"},
		{"narrow", 8, 5, "one|a longer line|three|... 2 m…|"}, // the caller has cut the lines already
		{"low", 80, 5, "one|a longer line|three|... 2 more lines; enlarge the window to see them|"},
		{"just high enough", 80, 6, "one|a longer line|three|four|five|"},
		{"very low", 80, 2, "... 5 more lines; enlarge the window to see them|"},
	} {
		got := frame(text, c.columns, c.lines)
		if !strings.HasPrefix(got, "\x1b[H") || !strings.HasSuffix(got, "\x1b[J") {
			t.Errorf("%s: %q does not go home and clear the rest", c.name, got)
		}
		plain := strings.NewReplacer("\x1b[H", "", "\x1b[J", "", "\x1b[K", "", "\r\n", "|").Replace(got)
		if plain != c.want {
			t.Errorf("%s: %q, want %q", c.name, plain, c.want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		line string
		n    int
		want string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"日本語", 6, "日本語"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"}, {"", 3, ""}, {"ab", 1, "…"},
	} {
		if got := cut(c.line, c.n); got != c.want {
			t.Errorf("%q to %d: %q, want %q", c.line, c.n, got, c.want)
		}
	}
}

func TestChangeKey(t *testing.T) {
	now := time.Now()
	o := status.Report{Running: true, LastPass: &now, LagSeconds: 1}
	x, err := changeKey(o)
	if err != nil {
		t.Fatal(err)
	}
	later := now.Add(time.Minute)
	o.LastPass, o.LagSeconds, o.Archive.Space = &later, 61, 7
	if y, _ := changeKey(o); x != y {
		t.Errorf("a clock's hand counts as news: %s, %s", x, y)
	}
	o.Waiting = 1
	if y, _ := changeKey(o); x == y {
		t.Error("a file that waits is no news")
	}
}

// ccdCommand returns the test binary as ccd, with a home.
func ccdCommand(t *testing.T, home string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, exe, args...)
	c.Args[0] = "ccd"
	c.Env = []string{"HOME=" + home, "USERPROFILE=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "PAGER=cat", "GORACE=atexit_sleep_ms=0"}
	return c
}

// writeRunFile writes a run.json as a daemon does.
func writeRunFile(t *testing.T, home, failed string) {
	t.Helper()
	path := filepath.Join(home, ".local", "state", "ccd", "run.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"pid": 999999, "errors": [{"path": "/src/` + failed + `.jsonl", "error": "no space", "time": "2026-01-15T09:00:00Z"}]}`
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}
