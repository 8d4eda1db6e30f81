//go:build rig

package walk

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"time"

	"ccd/internal/testkit"
)

// told reads the journal: it has nothing of what transcripts say.
func told(w *walk) {
	w.must(root, "logger", "-p", "user.info", "the canary of the control is "+canary+"-control")
	var all string
	w.within(10*time.Second, "the search in the journal finds the control", func() bool { // the logger does not wait for it
		all = w.must(root, "journalctl", "-q", "-o", "cat", "--no-pager", "-a")
		return strings.Contains(all, canary+"-control")
	})
	if strings.Contains(strings.ReplaceAll(all, canary+"-control", ""), canary) {
		w.Error("what a transcript says stands in the journal")
	}
}

// lingering ends the session, and then has the manager outlive it.
func lingering(w *walk) {
	w.has(w.installAgain(), "linger")
	manager := "user@1000.service"
	w.must(root, "systemctl", "stop", manager)
	if out, _, err := w.run(w.Context(), root, "", "pgrep", "-x", "-u", "alice", "ccd"); err == nil {
		w.Errorf("without linger the service outlives the session: %s", out)
	}
	bare := []string{"env", "-u", "XDG_RUNTIME_DIR", "-u", "DBUS_SESSION_BUS_ADDRESS", "ccd"}
	install := append(bare, "service", "install")
	w.has(w.refused(w.alice, install...), "loginctl enable-linger alice")
	w.must(root, "loginctl", "enable-linger", "alice")
	testkit.Eventually(w, "the manager that lingering starts answers", func() bool {
		_, _, err := w.run(w.Context(), w.alice, "", install...)
		return err == nil
	})
	for _, verb := range []string{"stop", "start", "restart"} { // as cron would
		w.must(w.alice, append(bare, "service", verb)...)
	}
	w.must(w.alice, append(bare, "status")...)
	w.must(w.alice, append([]string{"env", "XDG_RUNTIME_DIR=/run/user/0"}, "ccd", "service", "restart")...) // as su leaves it
	w.tell("said, and how to have it otherwise")
}

// rebooted powers the machine off and on: nobody logs in, and all is as it was. What was archived comes back also where
// the agent has removed its transcript meanwhile.
func rebooted(w *walk) {
	gone := w.files[1]
	sum := w.sums(w.files[1:2])
	off := time.Now()
	testkit.Must(w, w.powerOff())
	w.grown(200 << 10) // it arrives while nothing runs
	testkit.Must(w, os.Remove(w.path(gone)))
	w.files = slices.Delete(w.files, 1, 2)
	on := time.Now()
	testkit.Must(w, w.boot())
	w.tell("off in %.1f s, on in %.1f s", on.Sub(off).Seconds(), time.Since(on).Seconds())
	took := w.within(10*time.Second, "the service starts with the machine", func() bool { return w.pid() != 0 })
	w.tell("active %.1f s later", took.Seconds())
	w.nothingLost()
	if got := w.comeBack(w.alice, []string{gone}); got != sum {
		w.Errorf("a transcript that is gone comes back as\n%swant\n%s", got, sum)
	}
	w.login(w.bob)
}

// runs reports whether the daemon that runs is of that version.
func (w *walk) runs(version string) bool {
	w.Helper()
	var status struct {
		Running bool
		Version string
	}
	out, _, _ := w.run(w.Context(), w.alice, "", "ccd", "status", "--json")
	return json.Unmarshal([]byte(out), &status) == nil && status.Running && strings.TrimPrefix(status.Version, "v") == version
}

// upgraded installs a newer package over the old one.
func upgraded(w *walk) {
	pid := w.pid()
	if !w.runs("0.98.0") {
		w.Errorf("the old version does not run: %s", w.status())
	}
	start := time.Now()
	w.deb("new.deb")
	w.within(10*time.Second, "the new version runs", func() bool { return w.runs("0.99.0") })
	if now := w.pid(); now == pid || now == 0 {
		w.Errorf("the package was upgraded, and the daemon is %d, %d before", now, pid)
	}
	w.tell("new version runs after %.1f s", time.Since(start).Seconds())
	w.grown(40 << 10)
	w.nothingLost()
}
