//go:build rig

package walk

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// filled fills the disk that the archive stands on, and makes room again.
func filled(w *walk) {
	w.must(w.alice, "systemctl", "--user", "stop", "ccd.service")
	used, _ := strconv.Atoi(strings.Fields(w.must(root, "du", "-sm", w.state()))[0])
	aside := w.state() + "-aside"
	w.must(root, "mv", w.state(), aside)
	w.must(root, "install", "-d", "-m", "700", "-o", w.alice.name, "-g", w.alice.name, w.state())
	w.must(root, "mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm,mode=700,uid=%d,gid=%[2]d", used+40, w.alice.uid), "tmpfs", w.state())
	w.must(root, "cp", "-a", aside+"/.", w.state())
	defer w.homecoming(aside)
	w.must(w.alice, "systemctl", "--user", "start", "ccd.service")
	pid := w.pid()

	w.shell(w.alice, "", `dd if=/dev/zero of="$1" bs=1M status=none 2>/dev/null || truncate -s -64K "$1"`, w.state()+"/ballast")
	sums := w.sums(w.files)
	since := w.now()
	seen := w.companions(w.alice)
	w.grown(8 << 20)
	took := w.within(30*time.Second, "the full disk is told", func() bool { return strings.Contains(w.status(), "below archive.min_free") })
	w.tell("told after %.1f s", took.Seconds())
	w.within(10*time.Second, "the journal has the error", func() bool { return strings.Contains(w.journal(since), "archive") })
	if got := w.sums(w.files[:len(w.files)-1]); got != sums {
		w.Error("transcripts changed while the disk was full")
	}
	if now := w.companions(w.alice); len(now) < len(seen) {
		w.Errorf("%d companions while the disk is full, %d before", len(now), len(seen))
	}
	w.must(w.alice, "ccd", "restore", "--session", w.files[0], "-o", w.alice.home()+"/back")
	w.must(w.alice, "cmp", w.files[0], w.alice.home()+"/back")
	w.must(w.alice, "rm", w.alice.home()+"/back")
	if n := len(strings.Split(strings.TrimSpace(w.journal(since)), "\n")); n > 20 {
		w.Errorf("%d errors in the journal for one full disk", n)
	}

	w.must(w.alice, "rm", w.state()+"/ballast")
	took = w.within(2*time.Minute, "everything is archived", w.complete)
	w.tell("recovered %.1f s after there was room", took.Seconds())
	if now := w.pid(); now != pid {
		w.Errorf("a full disk ended the daemon: %d, then %d", pid, now)
	}
	w.restored(w.alice)
	w.must(w.alice, "ccd", "archive", "verify")
	w.within(10*time.Second, "the errors are gone from the status", func() bool { return !strings.Contains(w.status(), "degraded") })
}

// homecoming puts the state directory back on the machine's disk.
func (w *walk) homecoming(aside string) {
	w.Helper()
	w.must(w.alice, "systemctl", "--user", "stop", "ccd.service")
	w.must(root, "rm", "-rf", aside, w.state()+"/ballast")
	w.must(root, "cp", "-a", w.state(), aside)
	w.must(root, "umount", w.state())
	w.must(root, "rmdir", w.state())
	w.must(root, "mv", aside, w.state())
	w.must(w.alice, "systemctl", "--user", "start", "ccd.service")
	if _, err := os.Stat(w.path(w.state() + "/archive.db")); err != nil {
		w.Fatal(err)
	}
}
