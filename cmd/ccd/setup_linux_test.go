package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ccd/cmd/ccd/internal/status"
	"ccd/internal/testkit"
	"ccd/internal/words"
)

// plain makes a command run as a user who is not root, in a namespace where root's files are that user's.
func plain(c *exec.Cmd) *exec.Cmd {
	if os.Geteuid() == 0 {
		one := []syscall.SysProcIDMap{{ContainerID: 1000, HostID: 0, Size: 1}}
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: one, GidMappings: one}
	}
	return c
}

// asPlain reports whether this process is not root: root has no service of its own. If it is, the test runs in a process
// that is not.
func asPlain(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return true
	}
	exe, err := os.Executable()
	must(t, err)
	c := plain(exec.CommandContext(t.Context(), exe, "-test.run=^"+t.Name()+"$"))
	out, err := c.CombinedOutput()
	switch {
	case err != nil && !errors.As(err, new(*exec.ExitError)):
		t.Skipf("NOTICE: no user namespaces here: %v", err)
	case err != nil:
		t.Errorf("%v:\n%s", err, out)
	case bytes.Contains(out, []byte("no tests to run")):
		t.Errorf("nothing was run: %s", out)
	}
	return false
}

// fakeSystemctl is a systemctl that keeps its state in $MANAGER and starts the real daemon.
const fakeSystemctl = `#!/bin/sh
echo "$*" >>"$MANAGER/calls"
[ "$1" = --user ] && shift
unit=$HOME/.config/systemd/user/ccd.service
want=$HOME/.config/systemd/user/default.target.wants
pid=$(cat "$MANAGER/pid" 2>/dev/null || echo 0)
alive() { readlink "/proc/$pid/exe" >/dev/null 2>&1; }
end() {
	alive && kill "$pid"
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do alive && sleep 0.1; done
	rm -f "$MANAGER/pid"
}
case $1 in
show)
	echo Version=254
	[ -e "$unit" ] && echo "FragmentPath=$unit"
	[ -e "$want/ccd.service" ] && echo UnitFileState=enabled
	if alive; then echo ActiveState=active; echo SubState=running; echo "MainPID=$pid"; else echo ActiveState=inactive; echo SubState=dead; fi
	[ -e "$MANAGER/broken" ] && { echo Result=exit-code; echo ExecMainStatus=1; } ;;
enable) mkdir -p "$want" && ln -sf "$unit" "$want/ccd.service" ;;
disable) rm -f "$want/ccd.service" ;;
stop) end ;;
start | restart)
	[ -e "$MANAGER/broken" ] && exit 1
	end
	exe=$(sed -n 's/^ExecStart=\([^ ]*\) .*/\1/p' "$unit")
	"$exe" run </dev/null >"$MANAGER/log" 2>&1 &
	echo $! >"$MANAGER/pid" ;;
esac
exit 0
`

// setupRig is a home directory with agents, a service manager and a ccd.
type setupRig struct {
	*testing.T
	home, bin, manager string
}

func newSetupRig(t *testing.T) *setupRig {
	t.Helper()
	r := &setupRig{t, filepath.Join(t.TempDir(), "home"), t.TempDir(), t.TempDir()}
	exe, err := os.Executable()
	must(t, err)
	if os.Link(exe, filepath.Join(r.bin, "ccd")) != nil { // another file system
		text := read(t, exe)
		must(t, os.WriteFile(filepath.Join(r.bin, "ccd"), text, 0o755))
	}
	must(t, os.WriteFile(filepath.Join(r.bin, "systemctl"), []byte(fakeSystemctl), 0o755))
	must(t, os.MkdirAll(filepath.Join(r.home, ".config", "other"), 0o700))
	put(t, transcriptPath(r.home, 1), strings.Repeat(aLine, 40))
	put(t, filepath.Join(r.home, ".claude", "settings.json"), "{\"model\": \"opus\"}\n")
	put(t, filepath.Join(r.home, ".codex", "config.toml"), "model = \"o\"\n")
	must(t, os.MkdirAll(filepath.Join(r.home, ".gemini"), 0o700))
	t.Cleanup(func() { _ = r.command("systemctl", "--user", "stop", "ccd.service").Run() })
	return r
}

func (r *setupRig) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(r.bin, name), args...)
	c.Env = []string{"HOME=" + r.home, "PATH=" + r.bin + ":/usr/bin:/bin", "MANAGER=" + r.manager}
	return c
}

// ccd runs a command to its end.
func (r *setupRig) ccd(code int, args ...string) (out, said string) {
	r.Helper()
	var stdout, stderr bytes.Buffer
	c := r.command("ccd", args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		r.Fatal(err)
	}
	if got := c.ProcessState.ExitCode(); got != code {
		r.Fatalf("ccd %q: exit %d, want %d:\n%s%s", args, got, code, &stdout, &stderr)
	}
	return stdout.String(), stderr.String()
}

// tree is the home directory without what setup --undo leaves.
func (r *setupRig) tree() string {
	r.Helper()
	text, err := treeOf(r.home)
	must(r.T, err)
	var lines []string
	for line := range strings.Lines(text) {
		path, _, _ := strings.Cut(line, " ")
		state := filepath.Join(r.home, ".local")
		if path != state && !strings.HasPrefix(path, state+"/") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// asked returns what the service manager was asked for since the last call, but for questions.
func (r *setupRig) asked() (calls []string) {
	text, err := os.ReadFile(filepath.Join(r.manager, "calls"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.Fatal(err)
	}
	_ = os.Remove(filepath.Join(r.manager, "calls"))
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, " show ") {
			calls = append(calls, strings.TrimSpace(line))
		}
	}
	return calls
}

// TestSetup sets up everything, again, and takes it back. What fails at first keeps nothing else from being done, and the next setup
// does only what is missing.
func TestSetup(t *testing.T) {
	if !asPlain(t) {
		return
	}
	r := newSetupRig(t)
	before := r.tree()
	if out, said := r.ccd(words.ExitUsage, "setup"); !strings.Contains(out, "connect: hooks, MCP server, instructions") || !strings.Contains(said, "hint: ccd setup --yes") {
		t.Errorf("without a terminal:\n%s%s", out, said)
	}
	planned, _ := r.ccd(words.ExitDone, "setup", "--dry-run", "--yes")
	wants(t, planned, "config.toml: live.compaction = false", "!register.js", "!if you answer")
	if now := r.tree(); now != before {
		t.Errorf("the plan changed something:\n%s", now)
	}

	settings, broken := filepath.Join(r.home, ".claude", "settings.json"), filepath.Join(r.manager, "broken")
	sound := read(t, settings)
	put(t, settings, "{\n  // mine\n}\n")
	put(t, broken, "")
	_, said := r.ccd(words.ExitFailed, "setup", "--yes")
	wants(t, said, "failed: Claude Code: ", "settings.json:2", "failed: service: ", "done: Codex: connected", "done: Gemini CLI: connected", "done: archive: 1 session")
	put(t, settings, string(sound))
	must(t, os.Remove(broken))
	out, said := r.ccd(words.ExitDone, "setup", "--yes")
	wants(t, said, "done: Claude Code: connected", "done: service: installed and running", "Codex        already connected", "!done: Codex", "!failed: ")
	if !strings.Contains(out, "ccd search WORDS") {
		t.Errorf("setup ends with %q", out)
	}
	if asked := r.asked(); !slices.Contains(asked, "--user enable ccd.service") || !slices.Contains(asked, "--user restart ccd.service") {
		t.Errorf("the manager was asked for %q", asked)
	}
	testkit.Eventually(t, "the service runs", func() bool {
		var s status.Report
		out, _ := r.command("ccd", "status", "--json").Output() // whatever its exit code
		return json.Unmarshal(out, &s) == nil && s.Running && s.Service.Active && s.Sessions == 1
	})
	after := r.tree()
	if after == before {
		t.Fatal("setup changed nothing that this test sees")
	}

	_, said = r.ccd(words.ExitDone, "setup", "--yes")
	if !strings.Contains(said, "ccd setup has nothing to do") || strings.Contains(said, "done: ") || len(r.asked()) > 0 {
		t.Errorf("the second time it says:\n%s", said)
	}
	if now := r.tree(); now != after {
		t.Errorf("the second time it changed something:\n%s\nwant\n%s", now, after)
	}

	if _, said = r.ccd(words.ExitDone, "setup", "--undo", "--yes"); !strings.Contains(said, "done: service: stopped and removed\ndone: agents: disconnected ") {
		t.Errorf("undo says:\n%s", said)
	}
	must(t, os.RemoveAll(filepath.Join(r.home, ".config", "ccd"))) // the configuration stays
	if now := r.tree(); now != before {
		t.Errorf("undo leaves:\n%s\nwant\n%s", now, before)
	}
	if _, err := os.Stat(filepath.Join(r.home, ".local", "state", "ccd", "archive.db")); err != nil {
		t.Errorf("the archive: %v", err)
	}
	if _, said = r.ccd(words.ExitDone, "setup", "--undo"); !strings.Contains(said, "has nothing to do") {
		t.Errorf("undone already, it says:\n%s", said)
	}
}

// TestSetupBesideADaemon: a daemon that runs has the archive; setup writes none of it. Then the service takes its place, as two
// daemons never run at once.
func TestSetupBesideADaemon(t *testing.T) {
	if !asPlain(t) {
		return
	}
	r := newSetupRig(t)
	c := r.command("ccd", "run", "-q")
	c.Env = append(c.Env, "CCD_WATCH_SETTLE=1h", "CCD_WATCH_MAX_WAIT=2h")
	must(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill() })
	daemon := &child{Cmd: c, home: r.home}
	testkit.Eventually(t, "the daemon runs", func() bool { return daemon.running(t) })
	put(t, transcriptPath(r.home, 2), strings.Repeat(aLine, 40))
	_, said := r.ccd(words.ExitDone, "setup", "--yes")
	must(t, c.Wait())
	if !strings.Contains(said, "the running daemon archives new data") || !strings.Contains(said, "done: ccd run: stopped, pid ") || !strings.Contains(said, "done: service: ") || strings.Contains(said, "archive: ") {
		t.Errorf("setup says:\n%s", said)
	}
}

// TestSetupOfAnotherUser: neither a home directory nor a file of settings that is another user's is taken over.
func TestSetupOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOTICE: only root can give files to other users")
	}
	r := newSetupRig(t)
	settings := filepath.Join(r.home, ".claude", "settings.json")
	must(t, os.Chmod(settings, 0o666))
	install := func() (said string) {
		c := plain(r.command("ccd", "agents", "install", "claude"))
		out, err := c.CombinedOutput()
		if err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Skipf("NOTICE: no user namespaces here: %v", err)
		}
		return string(out)
	}
	must(t, os.Chown(settings, 4321, 4321))
	if said := install(); !strings.Contains(said, "settings.json: it belongs to ") || !strings.Contains(said, "hint: ") {
		t.Errorf("install says:\n%s", said)
	}
	if text, err := os.ReadFile(settings); err != nil || strings.Contains(string(text), "ccd") {
		t.Errorf("%s, %v", text, err)
	}
	must(t, os.Chown(settings, 0, 0))
	if said := install(); !strings.Contains(said, "done: change "+settings) {
		t.Errorf("install of one's own says:\n%s", said)
	}
	must(t, os.Chown(r.home, 4321, -1))
	if _, said := r.ccd(words.ExitFailed, "setup", "--yes"); !strings.Contains(said, "belongs to another user") || !strings.Contains(said, "without sudo") {
		t.Errorf("setup says:\n%s", said)
	}
}
