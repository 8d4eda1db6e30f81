//go:build rig

package walk

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"ccd/internal/testkit"
)

// killed kills the daemon ten times while it archives new bytes; each time another is back soon, and nothing is lost.
func killed(w *walk) {
	const times = 10
	slowest, pid := time.Duration(0), w.pid()
	for range times {
		since := w.grown(4 << 20)
		w.within(10*time.Second, "the daemon archives", func() bool { return w.archived().After(since) })
		w.signal("KILL", pid)
		next, took := w.back(pid, readyLimit)
		pid, slowest = next, max(slowest, took)
	}
	w.tell("back after at most %.1f s", slowest.Seconds())
	w.nothingLost()
	w.must(w.alice, "ccd", "archive", "verify")
}

// nothingLost waits until everything is archived, and takes it back.
func (w *walk) nothingLost() {
	w.Helper()
	w.within(time.Minute, "everything is archived", w.complete)
	w.restored(w.alice)
}

// grown adds an invented transcript of size bytes and returns when it was complete.
func (w *walk) grown(size int64) time.Time {
	w.Helper()
	w.seed++
	s := invented(w, w.seed, size)
	f := place(w.alice, s.agent, 1000+w.seed)
	w.files = append(w.files, f)
	w.write(w.alice, f, string(s.text))
	return time.Now()
}

// state is alice's state directory.
func (w *walk) state() string { return w.alice.home() + "/.local/state/ccd" }

// archived is when the archive's file last changed.
func (w *walk) archived() time.Time {
	w.Helper()
	info, err := os.Stat(w.path(w.state() + "/archive.db"))
	testkit.Must(w, err)
	return info.ModTime()
}

const (
	units = "/.config/systemd/user"
	// quickly is a drop-in of the walk's own: the unit's watchdog has a minute, which is too long to wait for.
	quickly = units + "/ccd.service.d/50-walk.conf"
	// alive is what the watchdog has there.
	alive = 3 * time.Second
	// noticed is what it may take from a hang to the next daemon: the watchdog, the end, the pause, the start.
	noticed = alive + 3*time.Second + readyLimit
)

// hung holds the daemon up, and in three controls it only has to wait, or has much, or nothing, to do.
func hung(w *walk) {
	w.write(w.alice, w.alice.home()+quickly, fmt.Sprintf("[Service]\nWatchdogSec=%d\n", alive/time.Second))
	w.must(w.alice, "systemctl", "--user", "daemon-reload")
	w.must(w.alice, "systemctl", "--user", "restart", "ccd.service")
	defer func() {
		w.must(w.alice, "rm", "-f", w.alice.home()+quickly)
		w.must(w.alice, "systemctl", "--user", "daemon-reload")
		w.must(w.alice, "systemctl", "--user", "restart", "ccd.service")
	}()
	w.stopped()
	w.waiting()
	w.busy()
	w.idle()
}

// stopped holds the whole process.
func (w *walk) stopped() {
	w.Helper()
	pid := w.pid()
	w.signal("STOP", pid)
	_, took := w.back(pid, noticed)
	if result := w.must(root, "journalctl", "-o", "cat", "_SYSTEMD_USER_UNIT=ccd.service", "+", "USER_UNIT=ccd.service"); !strings.Contains(result, "watchdog") {
		w.Errorf("the journal knows of no watchdog")
	}
	w.tell("stopped: another after %.1f s", took.Seconds())
}

// waiting keeps the archive's lock from the daemon: that is no hang, and another daemon would wait too.
func (w *walk) waiting() {
	w.Helper()
	pid := w.pid()
	ctx, release := context.WithCancel(w.Context())
	defer release()
	holder := w.command(ctx, w.alice, "flock", w.state()+"/archive.lock", "sh", "-c", "echo held; exec sleep 600")
	out, err := holder.StdoutPipe()
	if err == nil {
		err = holder.Start()
	}
	if err == nil {
		_, err = out.Read(make([]byte, 5))
	}
	testkit.Must(w, err)
	w.grown(64 << 10)
	over := time.Now().Add(3 * alive)
	w.within(4*alive, "three intervals", func() bool { return time.Now().After(over) })
	release()
	_ = holder.Wait()
	w.within(readyLimit, "everything is archived", w.complete)
	if now := w.pid(); now != pid {
		w.Errorf("the watchdog took a wait for a hang: %d, then %d", pid, now)
	}
	w.nothingLost()
}

// busy is the second control: a long catch-up is no hang. In its middle the daemon is told to stop, and is gone soon.
func (w *walk) busy() {
	w.Helper()
	const size, parts = 100 << 20, 4
	w.must(w.alice, "systemctl", "--user", "stop", "ccd.service")
	for range parts {
		w.grown(size / parts)
	}
	w.must(w.alice, "systemctl", "--user", "start", "ccd.service")
	start := time.Now()
	since := w.archived()
	w.within(10*time.Second, "the daemon archives", func() bool { return w.archived().After(since) })
	stop := time.Now()
	w.must(w.alice, "systemctl", "--user", "stop", "ccd.service")
	took := time.Since(stop)
	if u := w.unit(w.alice); u["Result"] != "success" || took > 5*time.Second {
		w.Errorf("stopped after %v, %v", took, u)
	}
	w.tell("stop in a catch-up: %.1f s", took.Seconds())
	if w.complete() {
		w.Error("the catch-up was over before it was stopped: nothing is proved")
	}
	w.must(w.alice, "systemctl", "--user", "start", "ccd.service")
	pid := w.pid()
	w.within(2*time.Minute, "everything is archived", w.complete)
	if now := w.pid(); now != pid {
		w.Errorf("the watchdog took a catch-up for a hang: %d, then %d", pid, now)
	}
	w.tell("%d MB caught up in %.1f s", size>>20, time.Since(start).Seconds())
}

// idle is the third control: with nothing to do for three intervals the same daemon is still there.
func (w *walk) idle() {
	w.Helper()
	pid := w.pid()
	over := time.Now().Add(3 * alive)
	w.within(4*alive, "three intervals", func() bool { return time.Now().After(over) })
	if now := w.pid(); now != pid {
		w.Errorf("an idle daemon did not live through three intervals of the watchdog: %d, then %d", pid, now)
	}
}
