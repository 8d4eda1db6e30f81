package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"ccd/archive"
	"ccd/internal/testkit"
)

// A new session that cannot be archived is tried again although its file never changes, and is told as failing until it
// is archived: also at the scans that leave it alone.
func TestFailureIsTriedAgainUnchanged(t *testing.T) {
	h := newHouse(t)
	dir := filepath.Join(h.o.StateDir, "elsewhere")
	var err error
	if h.o.Archive, err = archive.Open(filepath.Join(dir, "archive.db"), archive.Options{}); err != nil {
		t.Fatal(err)
	}
	stop := h.running()
	testkit.Eventually(t, "the first scan", func() bool {
		info, _, err := ReadRun(h.o.StateDir)
		return err == nil && !info.LastPass.IsZero()
	})
	h.write(dir, "no directory")
	h.write(h.path(1), turns(0, 12))
	failing := func() (RunInfo, bool) {
		info, _, err := ReadRun(h.o.StateDir)
		return info, err == nil && len(info.Errors) == 1
	}
	testkit.Eventually(t, "the failure is told", func() bool { _, ok := failing(); return ok })
	first, _ := failing()
	for last := first.LastPass; last.Sub(first.LastPass) < 3*h.o.Watch.ScanInterval; {
		info, ok := failing()
		if !ok {
			t.Fatalf("nothing is archived, and nothing is told: %+v", info.Errors)
		}
		last = info.LastPass
		testkit.Eventually(t, "another scan", func() bool {
			info, _, err := ReadRun(h.o.StateDir)
			return err == nil && info.LastPass.After(last)
		})
	}
	testkit.Must(t, os.Remove(dir))
	testkit.Eventually(t, "it is archived", h.covers(h.path(1)))
	testkit.Eventually(t, "nothing is told any more", func() bool { info, ok := failing(); return !ok && info.Failing == 0 })
	if err := stop(); err == nil {
		t.Error("run ended without a reason")
	}
}
