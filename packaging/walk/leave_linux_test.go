//go:build rig

package walk

import (
	"slices"
	"strings"
	"time"
)

// settings are an agent's own, as alice has them before ccd.
const settings = `{
  "model": "opus",
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "notify-send done"}]}
    ]
  }
}
`

// belongings lists every file and directory below a home, with a hash of what a file holds; transcripts apart.
func (w *walk) belongings(who account) []string {
	w.Helper()
	out := w.shell(root, "", `cd "$1"; find . -type f -exec sha256sum {} +; find . -type d -printf 'directory  %p\n'`, who.home())
	all := strings.Split(strings.TrimSpace(out), "\n")
	all = slices.DeleteFunc(all, func(line string) bool {
		return strings.HasSuffix(line, ".jsonl") || strings.HasPrefix(line, "directory") &&
			(strings.Contains(line, "/.claude/projects") || strings.Contains(line, "/.codex/"))
	})
	slices.Sort(all)
	return all
}

// hooked has Claude Code and Codex told of companions, so that there is something to take away again.
func hooked(w *walk) {
	w.must(w.alice, "ccd", "agents", "install", "claude-code")
	w.must(w.alice, "ccd", "agents", "install", "codex")
	w.has(w.read(w.alice.home()+"/.claude/settings.json"), "ccd", "notify-send done")
}

// purged takes ccd away from alice's home: what is left is what was there before, and her transcripts.
func purged(w *walk) {
	transcripts := w.sums(w.files)
	if said := w.refused(w.alice, "ccd", "setup", "--undo"); !strings.Contains(said, "--yes") {
		w.Errorf("without an answer: %s", said)
	}
	if w.pid() == 0 {
		w.Error("an undo that was not answered has stopped the service")
	}
	drilled(w)
	w.gone(w.alice)
	if got := w.sums(w.files); got != transcripts {
		w.Error("transcripts changed")
	}
	w.left(w.alice, w.before)
	if u := w.unit(w.alice); u["ActiveState"] == "active" || u["UnitFileState"] == "enabled" {
		w.Errorf("the service is still there: %v", u)
	}
	if out, _, err := w.run(w.Context(), root, "", "pgrep", "-x", "ccd"); err == nil {
		w.Errorf("a process is left: %s", out)
	}
	w.gone(w.alice) // again, where nothing is
}

// gone removes ccd and all that it stored of an account.
func (w *walk) gone(who account) {
	w.Helper()
	w.must(who, "ccd", "setup", "--undo", "--yes")
	w.must(who, "rm", "-rf", who.home()+"/.local/state/ccd", who.home()+"/.config/ccd")
}

// drilled tries a backup in another home of alice's and clears up there: her own service and companions stay.
func drilled(w *walk) {
	const home = "/tmp/drill"
	pid, before := w.pid(), w.companions(w.alice)
	w.shell(w.alice, "", `mkdir -p -m 700 "$1"/.local/state/ccd; ccd archive backup "$1"/.local/state/ccd/archive.db`, home)
	w.must(w.alice, "env", "HOME="+home, "ccd", "run", "--once")
	_, said, err := w.run(w.Context(), w.alice, "", "env", "HOME="+home, "ccd", "setup", "--undo", "--yes")
	if err != nil {
		w.Errorf("undo in another home: %v, %s", err, said)
	}
	if now := w.pid(); now == 0 || now != pid {
		w.Errorf("undo in another home: pid %d, was %d", now, pid)
	}
	now := w.companions(w.alice)
	for _, c := range before {
		if !slices.Contains(now, c) {
			w.Errorf("undo in another home removed %s", c)
		}
	}
	w.shell(w.alice, "", `rm -r "$1"`, home)
}

// common are directories that other programs use as well, and that may stay.
var common = []string{"./.local", "./.local/state", "./.config/systemd", "./.config/systemd/user"}

// left compares a home with what it was before ccd.
func (w *walk) left(who account, before []string) {
	w.Helper()
	now := w.belongings(who)
	for _, line := range now {
		_, path, _ := strings.Cut(line, "  ")
		if !slices.Contains(before, line) && !slices.Contains(common, path) {
			w.Errorf("not there before ccd: %s", line)
		}
	}
	for _, line := range before {
		if !slices.Contains(now, line) {
			w.Errorf("as before ccd is no more: %s", line)
		}
	}
}

// machines makes it a service of the machine that runs as alice, and takes it away again.
func machines(w *walk) {
	w.refused(root, "ccd", "service", "install", "--system")
	w.has(w.refused(root, "ccd", "service", "install", "--system", "--user", "nobody-of-that-name"), "nobody-of-that-name")
	w.refused(root, "ccd", "service", "install", "--system", "--user", "root")
	w.set(config)
	w.must(w.alice, "ccd", "service", "install")
	w.has(w.refused(root, "ccd", "service", "install", "--system", "--user", "alice"), "has a user service")
	w.must(w.alice, "ccd", "service", "remove")
	start := time.Now()
	w.must(root, "ccd", "service", "install", "--system", "--user", "alice")
	w.tell("READY after %.1f s", time.Since(start).Seconds())
	if u := w.unit(root, "--system"); u["ActiveState"] != "active" {
		w.Errorf("the machine's service: %v", u)
	}
	if owner := strings.TrimSpace(w.must(root, "ps", "-o", "user=", "-C", "ccd")); owner != "alice" {
		w.Errorf("it runs as %q", owner)
	}
	w.has(w.refused(w.alice, "ccd", "service", "install"), "a system service")
	w.refused(w.alice, "ccd", "setup", "--undo", "--yes")
	w.nothingLost()
	w.within(time.Minute, "companions", func() bool { return len(w.companions(w.alice)) >= len(w.files)/2 })
	w.must(root, "ccd", "service", "remove", "--system")
	w.gone(w.alice)
	w.left(w.alice, w.before)
	if u := w.unit(root, "--system"); u["ActiveState"] == "active" {
		w.Errorf("the machine's service is still there: %v", u)
	}
}

// removed takes the package away: nothing on the machine has its name.
func removed(w *walk) {
	if found := w.ours(); !strings.Contains(found, "/usr/bin/ccd") {
		w.Errorf("the search finds nothing while the package is there: %s", found)
	}
	w.must(root, "dpkg", "-r", "ccd")
	w.must(root, "dpkg", "-P", "ccd")
	if found := w.ours(); found != "" {
		w.Errorf("left on the machine:\n%s", found)
	}
	for _, who := range []account{root, w.alice, w.bob} {
		argv := []string{"systemctl", "--user", "list-unit-files", "--no-legend", "*ccd*"}
		if who == root {
			argv[1] = "--system"
		}
		if out, _, _ := w.run(w.Context(), who, "", argv...); strings.TrimSpace(out) != "" {
			w.Errorf("%s: units: %s", who.name, out)
		}
	}
	w.within(5*time.Second, "no process", func() bool {
		_, _, err := w.run(w.Context(), root, "", "pgrep", "-x", "ccd")
		return err != nil
	})
}

// ours is what is newer than the stamp and has ccd in its name, on the machine's disk and in its memory.
func (w *walk) ours() string {
	w.Helper()
	return w.must(root, "find", "/", "/run", "/tmp", "-xdev", "-cnewer", w.stamp, "-iname", "*ccd*")
}
