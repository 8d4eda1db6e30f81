//go:build rig

package walk

import (
	"strings"
	"time"
)

// timed pushes by the timer of ccd remote to a server that is no object storage: the push runs in its sandbox, reaches the
// server and says what is wrong.
func timed(w *walk) {
	const state = "/home/alice/.local/state/ccd/remote"
	w.must(w.alice, "systemd-run", "--user", "--quiet", "--unit=web", "ccd", "web", "--no-open", "--addr", "127.0.0.1:8099")
	key := strings.TrimSpace(w.must(w.alice, "ccd", "remote", "keys", "-q"))
	w.write(w.alice, state+"/remote.json", `{"url":"s3://backup/p","endpoint":"http://127.0.0.1:8099","recipients":["`+key+`"]}`)
	w.must(w.alice, "ccd", "remote", "timer")
	show := func(unit, property string) string {
		return strings.TrimSpace(w.must(w.alice, "systemctl", "--user", "show", "--value", "-p", property, unit))
	}
	if got := show("ccd-remote.timer", "ActiveState") + " " + show("ccd-remote.timer", "UnitFileState"); got != "active enabled" {
		w.Errorf("the timer is %s", got)
	}
	_, _, _ = w.run(w.Context(), w.alice, "", "systemctl", "--user", "start", "ccd-remote.service") // now; it fails
	var status string
	w.within(time.Minute, "the push has ended", func() bool {
		status = w.must(w.alice, "ccd", "remote", "status")
		return strings.Contains(status, "failed ")
	})
	if !strings.Contains(status, "put ccd1/m/") || strings.Contains(status, "not permitted") {
		w.Errorf("the push failed otherwise: %s", status)
	}
	_, failed, _ := strings.Cut(status, "failed ")
	w.tell("timer %s, push: %s", show("ccd-remote.timer", "SubState"), strings.TrimSpace(failed))
	w.must(w.alice, "ccd", "remote", "timer", "--off")
	if files := w.must(w.alice, "find", "/home/alice/.config/systemd", "-name", "ccd-remote*"); files != "" {
		w.Errorf("the timer leaves %s", files)
	}
	w.must(w.alice, "systemctl", "--user", "stop", "web")
	w.must(w.alice, "rm", "-r", state)
}
