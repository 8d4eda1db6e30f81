package status

import (
	"strings"
	"testing"
	"time"

	"ccd/daemon"
)

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

// What one directory refuses is one line.
func TestFailuresOfOneReason(t *testing.T) {
	var all []daemon.Failure
	for _, name := range []string{"/p/a", "/p/b", "/p/c"} {
		all = append(all, daemon.Failure{Path: name + ".jsonl", Error: "companion not written: write " + name + ".ccd.md: permission denied"})
	}
	if lines := FailedLines(all, false); len(lines) != 1 || !strings.HasSuffix(lines[0], "; the same for 2 more files") {
		t.Errorf("%q", lines)
	}
}
