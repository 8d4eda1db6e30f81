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
	p := daemon.Progress{Since: now.Add(-10 * time.Second), Bytes: 100 << 20, Done: 40 << 20}.At(now)
	if left := p.Ends.Sub(now); p.Rate != 4<<20 || left < 13*time.Second || left > 15*time.Second {
		t.Errorf("40 %% after 10 s: %+v, %v left", p, left)
	}
	if p := (daemon.Progress{Since: now, Bytes: 1000, Done: 9}).At(now.Add(time.Minute)); p.Rate != 0 || !p.Ends.IsZero() {
		t.Errorf("less than a percent done: %+v", p)
	}
	row := func(o Report) string {
		for _, r := range o.Rows() {
			if r[0] == "catching up" {
				return r[1]
			}
		}
		return ""
	}
	if got := row(Report{CatchUp: &p}); !strings.HasPrefix(got, "40 MiB of 100 MiB, 4.0 MiB/s, about 1") {
		t.Errorf("line: %q", got)
	}
}
