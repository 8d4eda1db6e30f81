package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/daemon"
)

func TestWatchFlag(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"2s": 2 * time.Second, "500ms": 500 * time.Millisecond, "3": 3 * time.Second, "0.5": 500 * time.Millisecond,
		"0": 0, "1ms": 0, "-2s": 0, "48h": 0, "soon": 0, "": 0, "NaN": 0,
	} {
		var w watchFlag
		if err := w.Set(text); (err == nil) != (want > 0) || w.interval != want || w.on != (want > 0) {
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
		{"narrow", 6, 24, "one|a lon…|three|four|five|"},
		{"low", 80, 5, "one|a longer line|three|... 2 more lines; a higher window shows them|"},
		{"just high enough", 80, 6, "one|a longer line|three|four|five|"},
		{"very low", 80, 2, "... 5 more lines; a higher window shows them|"},
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

// TestDegraded holds that each reason is told, and none where nothing is amiss.
func TestDegraded(t *testing.T) {
	sound := func() (*gauge, statusOutput) {
		s := soundSurroundings(t)
		g := &gauge{a: s.a, l: s.l, size: s.size}
		last := s.now
		return g, statusOutput{Running: true, ShouldRun: true, Version: "v1", This: "v1", LastPass: &last, Archive: archiveOutput{Space: 100 << 30, measured: true}}
	}
	if g, o := sound(); len(g.degraded(o)) != 0 {
		t.Errorf("sound: %q", g.degraded(o))
	}
	for want, spoil := range map[string]func(g *gauge, o *statusOutput){
		"not running": func(_ *gauge, o *statusOutput) { o.Running = false },
		"with other settings": func(g *gauge, o *statusOutput) {
			g.elsewhere, o.ShouldRun, o.Running = []string{"XDG_STATE_HOME=/x"}, false, false
		},
		"no scan has finished":      func(_ *gauge, o *statusOutput) { late := time.Now().Add(-time.Hour); o.LastPass = &late },
		"the daemon is v0":          func(_ *gauge, o *statusOutput) { o.Version = "v0" },
		"below archive.min":         func(g *gauge, o *statusOutput) { g.l.config.Archive.MinFree = 1 << 50 },
		"0 B free":                  func(g *gauge, o *statusOutput) { g.l.config.Archive.MinFree, o.Archive.Space = 1<<20, 0 },
		"the archive cannot grow":   func(g *gauge, o *statusOutput) { g.l.config.Archive.MaxSize = 17 << 20 },
		"over 80 %":                 func(g *gauge, o *statusOutput) { g.l.config.Archive.MaxSize, g.size.File = 100<<20, 84<<20 },
		"1 file could not":          func(_ *gauge, o *statusOutput) { o.Errors = []failureOutput{{Path: "/t"}} },
		"was removed":               func(g *gauge, o *statusOutput) { g.known, o.Archive.Path = 2, "/nowhere/archive.db" },
		"cannot read 2 directories": func(_ *gauge, o *statusOutput) { o.Unreadable = 2 },
		"refused":                   func(_ *gauge, o *statusOutput) { o.Reload = &daemon.Reload{Error: "line 3"} },
		"ccd install again":         func(_ *gauge, o *statusOutput) { o.Reload = &daemon.Reload{Note: "ccd install again"} },
		"30 files could not":        func(_ *gauge, o *statusOutput) { o.Failing = 30 },
		"polled, not watched":       func(_ *gauge, o *statusOutput) { o.Roots = []rootOutput{{Polled: true, Why: noWatches + ": x"}} },
	} {
		g, o := sound()
		spoil(g, &o)
		if got := g.degraded(o); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

// What is free is not known: nothing is told of it.
func TestFreeSpaceNotKnown(t *testing.T) {
	s := soundSurroundings(t)
	g := &gauge{a: s.a, l: s.l, size: s.size}
	g.l.config.Archive.MinFree = 1 << 20
	if got := g.degraded(statusOutput{}); len(got) != 0 {
		t.Errorf("got %q", got)
	}
}

// TestGaugeReadsOnlyWhatChanged holds that one who goes on looking does not read the archive again while it is as it was.
func TestGaugeReadsOnlyWhatChanged(t *testing.T) {
	ctx, s := context.Background(), soundSurroundings(t)
	if err := os.Remove(s.l.archivePath); err != nil {
		t.Fatal(err)
	}
	g := &gauge{a: s.a, l: s.l}
	read := func(want int) {
		t.Helper()
		if _, err := g.read(ctx); err != nil && want < 2 {
			t.Fatal(err)
		}
		if g.reads != want {
			t.Errorf("read %d times, want %d", g.reads, want)
		}
	}
	read(1)
	read(1)
	write(t, s.l.archivePath, 0o600) // no archive, but a file: it is looked at, and again while it may yet change
	read(2)
	read(3)
}

func TestEssence(t *testing.T) {
	now := time.Now()
	o := statusOutput{Running: true, LastPass: &now, LagSeconds: 1}
	x, err := o.essence()
	if err != nil {
		t.Fatal(err)
	}
	later := now.Add(time.Minute)
	o.LastPass, o.LagSeconds, o.Archive.Space = &later, 61, 7
	if y, _ := o.essence(); x != y {
		t.Errorf("a clock's hand counts as news: %s, %s", x, y)
	}
	o.Waiting = 1
	if y, _ := o.essence(); x == y {
		t.Error("a file that waits is no news")
	}
}

// ccdCommand is this test's program as ccd, in a home of its own.
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
	c.Env = []string{"HOME=" + home, "USERPROFILE=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "GORACE=atexit_sleep_ms=0"}
	return c
}

// tellRun is what a daemon leaves in run.json.
func tellRun(t *testing.T, home, failed string) {
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
