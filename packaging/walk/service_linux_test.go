//go:build rig

package walk

import (
	"strconv"
	"strings"
	"time"
)

// readyLimit is what a service may take to say READY, and to be back after it was killed.
const readyLimit = 3 * time.Second

// unit is what the user's manager says of the service, or of another unit.
func (w *walk) unit(who account, more ...string) map[string]string {
	w.Helper()
	argv := append([]string{"systemctl"}, more...)
	if len(more) == 0 {
		argv = append(argv, "--user")
	}
	argv = append(argv, "show", "-p", "LoadState,UnitFileState,ActiveState,SubState,MainPID,NRestarts,Result", "ccd.service")
	v := map[string]string{}
	for line := range strings.Lines(w.must(who, argv...)) {
		key, val, _ := strings.Cut(strings.TrimSpace(line), "=")
		v[key] = val
	}
	return v
}

// pid is the daemon's process number inside the machine, 0 unless it runs and has said READY.
func (w *walk) pid() int {
	w.Helper()
	u := w.unit(w.alice)
	if u["ActiveState"] != "active" || u["SubState"] != "running" {
		return 0
	}
	n, _ := strconv.Atoi(u["MainPID"])
	return n
}

// back waits until another daemon than old runs, and returns it.
func (w *walk) back(old int, limit time.Duration) (pid int, took time.Duration) {
	w.Helper()
	took = w.within(limit, "another daemon is ready", func() bool {
		pid = w.pid()
		return pid != 0 && pid != old
	})
	return pid, took
}

// signal sends the daemon one.
func (w *walk) signal(name string, pid int) { w.must(w.alice, "kill", "-"+name, strconv.Itoa(pid)) }

// booted is step one: a machine of two users, and a file that is older than everything of ccd's.
func booted(w *walk) {
	for _, a := range []account{w.alice, w.bob} {
		if out, err := w.chroot("useradd", "-m", "-s", "/bin/bash", "-u", strconv.Itoa(a.uid), a.name); err != nil {
			w.Fatalf("useradd: %v\n%s", err, out)
		}
	}
	if err := w.boot(); err != nil {
		w.Skipf("no machine can be booted here: %v", err)
	}
	for _, a := range []account{w.alice, w.bob} { // before anything of ccd's is there: it is the surroundings that fail
		if out, said, err := w.run(w.Context(), root, "", w.manager(a)...); err != nil {
			w.Skipf("no manager of a user's services can be started here: %v\n%s%s", err, out, said)
		}
	}
	w.tell("%s, %s", strings.TrimSpace(w.must(root, "systemctl", "is-system-running")),
		strings.TrimSpace(strings.SplitN(w.must(root, "systemctl", "--version"), "\n", 2)[0]))
	w.stamp = "/var/tmp/stamp"
	w.must(root, "touch", w.stamp)
	w.must(root, "install", "-d", "-m", "1777", "/srv/everybody")
}

// login stands for a session: it starts the user's manager, which without linger goes with the last session.
func (w *walk) login(who account) {
	w.Helper()
	w.must(root, w.manager(who)...)
}

func (w *walk) manager(of account) []string {
	return []string{"systemctl", "start", "user@" + strconv.Itoa(of.uid) + ".service"}
}

// packaged installs the package, which starts nothing.
func packaged(w *walk) {
	w.deb("old.deb")
	w.has(w.must(w.alice, "ccd", "version"), "0.98.0")
	w.refused(w.alice, "systemctl", "--user", "is-active", "ccd.service")
	w.refused(w.alice, "systemctl", "--user", "is-enabled", "ccd.service")
	w.refused(root, "systemctl", "is-active", "ccd.service")
	if out, _, err := w.run(w.Context(), root, "", "pgrep", "-x", "ccd"); err == nil {
		w.Errorf("processes of ccd after the package was installed: %s", out)
	}
}

// deb installs a package of packaging/walk/run.
func (w *walk) deb(name string) string {
	w.Helper()
	w.copyIn(name, "/var/tmp/"+name)
	defer w.must(root, "rm", "/var/tmp/"+name)
	return w.must(root, "dpkg", "-i", "/var/tmp/"+name)
}

// config is alice's: settling and scans are quick, and companions come early.
const config = `[watch]
settle = "200ms"
max_wait = "1s"
scan_interval = "1s"
[trigger]
threshold = 1
min_savings = 0
[companion]
refresh_idle = "1s"
[archive]
min_free = "1MB"
`

const configFile = "/.config/ccd/config.toml"

// set writes alice's configuration.
func (w *walk) set(text string) {
	w.Helper()
	w.write(w.alice, w.alice.home()+configFile, text)
}

// status is what `ccd status` says, on both streams, whatever its exit status.
func (w *walk) status() string {
	w.Helper()
	out, said, _ := w.run(w.Context(), w.alice, "", "ccd", "status")
	return out + said
}

// installed makes it alice's service, not root's.
func installed(w *walk) {
	w.has(w.refused(root, "ccd", "service", "install"), "--system --user")
	w.write(w.alice, w.alice.home()+"/.config/other/settings", "of another program\n")
	w.write(w.alice, w.alice.home()+"/.claude/settings.json", settings)
	w.must(w.alice, "mkdir", "-p", ".claude/projects", ".codex/sessions") // the agents have been used
	w.before = w.belongings(w.alice)
	w.set(config)
	start := time.Now()
	out, said, err := w.run(w.Context(), w.alice, "", "ccd", "service", "install")
	took := time.Since(start)
	if err != nil {
		w.Fatalf("ccd service install: %v\n%s%s", err, out, said)
	}
	pid := w.pid()
	if pid == 0 {
		w.Fatalf("the service does not run when install is done: %v", w.unit(w.alice))
	}
	if took > readyLimit {
		w.Errorf("READY after %v", took)
	}
	w.tell("READY %.1f s after the command", took.Seconds())
	w.has(said, "uninstall")
	again := w.installAgain()
	w.has(again, "up to date")
	if w.pid() == 0 {
		w.Errorf("the service does not run after the second install: %v", w.unit(w.alice))
	}
}

func (w *walk) installAgain(args ...string) string {
	w.Helper()
	out, said, err := w.run(w.Context(), w.alice, "", append([]string{"ccd", "service", "install"}, args...)...)
	if err != nil {
		w.Fatalf("ccd service install: %v\n%s%s", err, out, said)
	}
	return out + said
}

// setUp does everything by one command, again without effect, and takes it back but for the archive.
func setUp(w *walk) {
	before := w.belongings(w.bob)
	w.write(w.bob, w.bob.home()+"/.claude/settings.json", settings)
	own := w.belongings(w.bob)
	w.write(w.bob, w.bob.home()+"/.claude/projects/-home-bob/7b1f2c3d-0000-4000-8000-000000000001.jsonl",
		`{"type":"user","uuid":"a","sessionId":"7b1f2c3d-0000-4000-8000-000000000001","cwd":"/home/bob","timestamp":"2026-01-10T10:00:00Z","message":{"role":"user","content":"hello"}}`+"\n")
	setup := func(args ...string) string {
		out, said, err := w.run(w.Context(), w.bob, "", append([]string{"ccd", "setup", "--yes"}, args...)...)
		if err != nil {
			w.Errorf("ccd setup %q: %v\n%s%s", args, err, out, said)
		}
		return out + said
	}
	w.has(setup(), "done: Claude Code: connected", "done: archive: 1 session", "done: service: installed and running", "ccd search WORDS")
	unit := w.unit(w.bob)
	if unit["ActiveState"] != "active" || unit["UnitFileState"] != "enabled" {
		w.Errorf("the service is not active: %v", unit)
	}
	w.has(setup(), "has nothing to do")
	if again := w.unit(w.bob); again["MainPID"] != unit["MainPID"] {
		w.Error("the second setup started another daemon")
	}
	w.has(setup("--undo"), "done: service: stopped and removed", "kept: the archive ")
	if u := w.unit(w.bob); u["ActiveState"] == "active" || u["UnitFileState"] == "enabled" {
		w.Errorf("the service is still there: %v", u)
	}
	if out := w.must(w.bob, "ccd", "ls"); !strings.Contains(out, "7b1f2c3d") {
		w.Errorf("ls after setup --undo: %s", out)
	}
	w.gone(w.bob)
	w.left(w.bob, own)
	w.must(w.bob, "rm", "-r", w.bob.home()+"/.claude")
	w.left(w.bob, before)
}
