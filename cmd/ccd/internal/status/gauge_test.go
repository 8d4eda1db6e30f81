package status

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/daemon"
)

// soundGauge looks at a home with an archive of 16 MiB.
func soundGauge(t *testing.T) *Gauge {
	t.Helper()
	g, err := NewGauge(account.Env{Vars: []string{"HOME=" + t.TempDir(), "USERPROFILE=" + t.TempDir()}}, "v1")
	must(t, err)
	must(t, os.MkdirAll(filepath.Dir(g.l.ArchivePath), 0o700))
	must(t, os.WriteFile(g.l.ArchivePath, nil, 0o600))
	g.size = archive.Size{File: 16 << 20, Raw: 40 << 20}
	return g
}

// TestDegraded holds that each reason is told, and none where nothing is amiss.
func TestDegraded(t *testing.T) {
	sound := func() (*Gauge, Report) {
		g, last := soundGauge(t), time.Now()
		return g, Report{Running: true, ShouldRun: true, Version: "v1", This: "v1", LastPass: &last, Archive: Archive{Space: 100 << 30, measured: true}}
	}
	if g, o := sound(); len(g.degraded(o)) != 0 {
		t.Errorf("sound: %q", g.degraded(o))
	}
	for want, spoil := range map[string]func(g *Gauge, o *Report){
		"not running": func(_ *Gauge, o *Report) { o.Running = false },
		"settings differ": func(g *Gauge, o *Report) {
			g.elsewhere, o.ShouldRun, o.Running = []string{"XDG_STATE_HOME=/x"}, false, false
		},
		"no scan has finished":      func(_ *Gauge, o *Report) { late := time.Now().Add(-time.Hour); o.LastPass = &late },
		"the daemon is v0":          func(_ *Gauge, o *Report) { o.Version = "v0" },
		"below archive.min":         func(g *Gauge, o *Report) { g.l.Config.Archive.MinFree = 1 << 50 },
		"0 B free":                  func(g *Gauge, o *Report) { g.l.Config.Archive.MinFree, o.Archive.Space = 1<<20, 0 },
		"cannot grow":               func(g *Gauge, o *Report) { g.l.Config.Archive.MaxSize = 17 << 20 },
		"over 80%":                  func(g *Gauge, o *Report) { g.l.Config.Archive.MaxSize, g.size.File = 100<<20, 84<<20 },
		"1 file could not":          func(_ *Gauge, o *Report) { o.Errors = []daemon.Failure{{Path: "/t"}} },
		"was removed":               func(g *Gauge, o *Report) { g.known, o.Archive.Path = 2, "/nowhere/archive.db" },
		"cannot read 2 directories": func(_ *Gauge, o *Report) { o.Unreadable = 2 },
		"rejected":                  func(_ *Gauge, o *Report) { o.Reload = &daemon.Reload{Error: "line 3"} },
		"ccd service install again": func(_ *Gauge, o *Report) { o.Reload = &daemon.Reload{Note: "ccd service install again"} },
		"no new backup: x":          func(_ *Gauge, o *Report) { o.backup = "x" },
		"30 files could not":        func(_ *Gauge, o *Report) { o.Failing = 30 },
		"polled, not watched":       func(_ *Gauge, o *Report) { o.Roots = []Root{{Polled: true, Why: noWatches + ": x"}} },
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
	g := soundGauge(t)
	g.l.Config.Archive.MinFree = 1 << 20
	if got := g.degraded(Report{}); len(got) != 0 {
		t.Errorf("got %q", got)
	}
}

// TestGaugeReadsOnlyWhatChanged holds that one who goes on looking does not read the archive again while it is as it was.
func TestGaugeReadsOnlyWhatChanged(t *testing.T) {
	ctx, g := context.Background(), soundGauge(t)
	must(t, os.Remove(g.l.ArchivePath))
	read := func(want int) {
		t.Helper()
		if _, err := g.Read(ctx); err != nil && want < 2 {
			t.Fatal(err)
		}
		if g.reads != want {
			t.Errorf("read %d times, want %d", g.reads, want)
		}
	}
	read(1)
	read(1)
	must(t, os.WriteFile(g.l.ArchivePath, []byte("no archive"), 0o600)) // no archive, but a file: it is looked at, and again while it may yet change
	read(2)
	read(3)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A daemon that catches up says how far it is, how fast, and when it ends; a stale file says nothing.
func TestCatchUp(t *testing.T) {
	now := time.Now()
	p := daemon.Progress{Since: now.Add(-10 * time.Second), Bytes: 100 << 20, Archived: 100 << 20, Compacted: 0}.At(now)
	if left := p.Ends.Sub(now); p.Rate != 4<<20 || left < 13*time.Second || left > 15*time.Second {
		t.Errorf("40 %% after 10 s: %+v, %v left", p, left)
	}
	if p := (daemon.Progress{Since: now, Bytes: 1}).At(now.Add(time.Minute)); p.Rate != 0 || !p.Ends.IsZero() {
		t.Errorf("nothing done: %+v", p)
	}
	row := func(o Report) string {
		for _, r := range o.Rows() {
			if r[0] == "catching up" {
				return r[1]
			}
		}
		return ""
	}
	if got := row(Report{CatchUp: &p}); !strings.HasPrefix(got, "100 MiB archived, 0 B compacted, of 100 MiB, 4.0 MiB/s, about 1") {
		t.Errorf("line: %q", got)
	}
	if got := row(Report{CatchUp: &p, Stale: true}); got != "" {
		t.Errorf("stale: %q", got)
	}
}
