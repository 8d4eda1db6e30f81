package status

import (
	"slices"
	"testing"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/transcript"

	"github.com/google/go-cmp/cmp"
)

func entryOf(id string, s daemon.State) reader.Entry {
	return reader.Entry{Session: archive.Session{Session: transcript.Session{Key: transcript.Key{Agent: "codex", ID: id}}}, Kept: s}
}

func day(n int) time.Time { return time.Date(2026, 1, n, 12, 0, 0, 0, time.Local) }

func TestStatsOf(t *testing.T) {
	all := []reader.Entry{
		entryOf("a", daemon.State{Companion: "/a", Reported: 500, About: 400, Real: 100, Cwd: "/x", Last: day(2), Original: 1000, Compacted: 250, Work: daemon.Work{
			Compactions: 2, Microseconds: 1500,
		}}),
		entryOf("b", daemon.State{Companion: "/b", Reported: 300, About: 290, Real: 200, Cwd: "/y", Last: day(2), Original: 1000, Compacted: 750, Work: daemon.Work{
			Compactions: 1, Microseconds: 500,
		}}),
		entryOf("c", daemon.State{Reported: 7, Cwd: "/x", Last: day(1)}),
	}
	restores := []reader.Restored{
		{Kind: "id", Agent: "codex", Session: "a", OK: true}, {Kind: "id", Agent: "codex", Session: "a"}, {Kind: "id"},
	}
	out := StatsOf(all, restores)
	want := Saved{
		Size: 800, Real: 300, Messages: 690, Original: 2000, Compacted: 1000, Percent: 50, Compactions: 3, Milliseconds: 2, Tried: 3, Succeeded: 1,
	}
	if diff := cmp.Diff(want, out.Saved); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if out.Sessions != 3 || out.Companions != 2 || len(out.BySession) != 2 || out.BySession[0].Tried != 2 || out.BySession[0].Percent != 75 {
		t.Errorf("%+v", out)
	}
	days := []*Group{{Day: "2026-01-02", Sessions: 2, Companions: 2, Size: 800, Saved: 390}, {Day: "2026-01-01", Sessions: 1, Size: 7}}
	for _, g := range append(slices.Clone(out.ByDay), out.ByProject...) {
		if g.Last == nil {
			t.Errorf("%+v: no last record", g)
		}
		g.Last = nil
	}
	if diff := cmp.Diff(days, out.ByDay); diff != "" {
		t.Errorf("by day (-want +got):\n%s", diff)
	}
	projects := []*Group{{Project: "/x", Sessions: 2, Companions: 1, Size: 507, Saved: 300}, {Project: "/y", Sessions: 1, Companions: 1, Size: 300, Saved: 90}}
	if diff := cmp.Diff(projects, out.ByProject); diff != "" {
		t.Errorf("by project (-want +got):\n%s", diff)
	}
}
