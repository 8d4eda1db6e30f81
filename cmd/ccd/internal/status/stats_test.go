package status

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ccd/archive"
	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

func entryOf(id string, s daemon.State) *reader.Entry {
	return &reader.Entry{Session: archive.Session{Session: transcript.Session{Key: transcript.Key{Agent: "codex", ID: id}}}, Kept: s}
}

func day(n int) time.Time { return time.Date(2026, 1, n, 12, 0, 0, 0, time.Local) }

func TestTotalsOf(t *testing.T) {
	one, two := day(1), day(2)
	want := Totals{
		Sessions: 3, Companions: 2, Messages: 690, Real: 300, Saved: 56.5,
		ByProject: []*Project{
			{Project: "/x", Sessions: 2, Companions: 1, Size: 507, Last: &two},
			{Project: "/y", Sessions: 1, Companions: 1, Size: 300, Last: &one},
		},
	}
	got := TotalsOf([]*reader.Entry{
		entryOf("a", daemon.State{Companion: "/a", About: 400, Real: 100, Known: session.Known{Reported: 500, Cwd: "/x", Last: two}}),
		entryOf("b", daemon.State{Companion: "/b", About: 290, Real: 200, Known: session.Known{Reported: 300, Cwd: "/y", Last: one}}),
		entryOf("c", daemon.State{Known: session.Known{Reported: 7, Cwd: "/x", Last: one}}),
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
