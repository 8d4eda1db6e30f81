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
	"ccd/cmd/ccd/internal/doctor"
	"ccd/daemon"
	"ccd/watcher"
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
	for want, spoil := range map[string]func(l *doctor.Live, o *Report){
		"":                func(*doctor.Live, *Report) {},
		"not running":     func(l *doctor.Live, o *Report) { l.Running, o.Running, l.Service.Installed = false, false, true },
		"0 B free, below": func(l *doctor.Live, _ *Report) { l.Config.Archive.MinFree, l.Free = 1<<20, 0 },
		"was removed":     func(l *doctor.Live, o *Report) { l.Run.Sessions, o.Archive.Path = 2, "/nowhere/archive.db" },
		"waiting for":     func(l *doctor.Live, _ *Report) { l.Run.Locked = "x" },
		"polled, not watched": func(l *doctor.Live, _ *Report) {
			one := watcher.RootHealth{Present: true, Polled: true, Why: "watch limit reached: x"}
			l.Run.Watch.Roots = []watcher.RootHealth{one, one}
		},
		"different configurati": func(_ *doctor.Live, o *Report) { o.Config = "/elsewhere" },
	} {
		g, last := soundGauge(t), time.Now()
		o := Report{Running: true, LastPass: &last}
		l := doctor.Live{Place: g.l.Place, Version: "v1", Now: last, Run: daemon.RunInfo{Version: "v1", LastPass: last}, Running: true, Size: g.size, Free: -1}
		l.Config.Archive.MinFree = 1 << 20
		spoil(&l, &o)
		if got := g.degraded(o, l); want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(got[0], want)) {
			t.Errorf("want %q, got %q", want, got)
		}
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

// A daemon that catches up says how far it is, how fast, and when it ends.
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
}
