package walk

import (
	"os"
	"time"
)

// killed kills the daemon ten times while it archives new bytes; each time another is back soon, and nothing is lost.
func killed(w *walk) {
	const times = 10
	slowest, pid := time.Duration(0), w.pid()
	for n := range times {
		f := w.grown(100+n, 4<<20)
		w.within(10*time.Second, "the daemon archives", func() bool { return w.archived().After(f) })
		w.signal("KILL", pid)
		next, took := w.back(pid, readyLimit)
		pid, slowest = next, max(slowest, took)
	}
	w.tell("back after at most %.1f s", slowest.Seconds())
	w.within(time.Minute, "everything is archived", w.complete)
	w.restored(w.alice)
	w.must(w.alice, "ccd", "verify")
}

// grown adds a transcript of size bytes and returns when it was complete.
func (w *walk) grown(n int, size int64) time.Time {
	w.Helper()
	s := invented(w, n, size)
	f := place(w.alice, s.agent, n)
	w.files = append(w.files, f)
	w.write(w.alice, f, string(s.text))
	return time.Now()
}

// archived is when the archive's file last changed.
func (w *walk) archived() time.Time {
	w.Helper()
	info, err := os.Stat(w.path(w.alice.home() + "/.local/state/ccd/archive.db"))
	if err != nil {
		w.Fatal(err)
	}
	return info.ModTime()
}
