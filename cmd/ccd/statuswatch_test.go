package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
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
