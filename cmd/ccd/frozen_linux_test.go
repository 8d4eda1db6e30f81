package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ccd/internal/testkit"
	"ccd/internal/words"
)

// soon is the time limit for a command while another process has the lock: 5 seconds, plus time for a busy machine.
const soon = 15 * time.Second

func manyParcels(t *testing.T, home string, n int) (paths []string) {
	t.Helper()
	for i := range n {
		r := rand.New(rand.NewPCG(uint64(i), 1))
		var b strings.Builder
		for b.Len() < 1<<20 {
			noise := make([]byte, 8<<10)
			for i := range noise {
				noise[i] = byte(r.Uint32())
			}
			fmt.Fprintf(&b, `{"type":"user","message":{"role":"user","content":"parcel %x"},"uuid":"u%d","timestamp":"2026-03-01T09:00:00.000Z","sessionId":"s"}`+"\n", noise, b.Len())
		}
		paths = append(paths, transcriptPath(home, i))
		put(t, paths[i], b.String())
	}
	return paths
}

func grow(t *testing.T, path string) {
	t.Helper()
	testkit.Append(t, path, aLine)
}

// holds reports whether a process has a lock of the archive in a mode: "READ", "WRITE" or "" for any.
func (c *child) holds(t *testing.T, mode string) bool {
	t.Helper()
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Skipf("NOTICE: locks are not listed here: %v", err)
	}
	for _, name := range []string{"archive.lock", "archive.db"} {
		var st unix.Stat_t
		if err := unix.Stat(filepath.Join(c.stateDir(), name), &st); err != nil {
			continue
		}
		for line := range strings.Lines(string(locks)) {
			f := strings.Fields(line)
			if len(f) < 6 || f[1] != "FLOCK" || f[4] != fmt.Sprint(c.Process.Pid) || !strings.HasSuffix(f[5], fmt.Sprintf(":%d", st.Ino)) {
				continue
			}
			if name == "archive.lock" && mode != "" {
				return false // at the gate it keeps all away
			}
			if mode == "" || mode == f[3] {
				return true
			}
		}
	}
	return false
}

// state returns the process state in /proc: T for stopped, Z for ended.
func (c *child) state() string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
	_, state, _ := strings.Cut(string(text), ") ")
	return state[:min(1, len(state))]
}

// stops sends a signal after a random time and waits until the process is stopped. It returns false if the process has
// ended.
func (c *child) stops(t *testing.T, s syscall.Signal) bool {
	t.Helper()
	<-time.After(time.Duration(rand.IntN(3000)) * time.Microsecond) // a moment by chance
	c.signal(t, s)
	testkit.Eventually(t, "it is stopped, or has ended", func() bool { return strings.Contains("TZ", c.state()) })
	return c.state() == "T"
}

// frozen stops a process while it has a lock of the archive. It continues it at the end of the test.
func (c *child) frozen(t *testing.T, mode string, meanwhile func()) bool {
	t.Helper()
	for c.stops(t, syscall.SIGSTOP) {
		if c.holds(t, mode) {
			t.Cleanup(func() { _ = c.Process.Signal(syscall.SIGCONT) })
			return true
		}
		c.signal(t, syscall.SIGCONT)
		meanwhile()
	}
	_ = c.Wait()
	return false
}

// all runs commands concurrently.
func all(t *testing.T, home string, commands ...string) map[string]ended {
	t.Helper()
	outcomes := map[string]ended{}
	var group sync.WaitGroup
	var mu sync.Mutex
	for _, command := range commands {
		c := spawn(t, home, strings.Fields(command)...)
		begun := time.Now()
		group.Go(func() {
			out, _ := io.ReadAll(c.stdout)
			_ = c.Wait()
			if took := time.Since(begun); took > soon {
				t.Errorf("%s took %v", command, took)
			}
			mu.Lock()
			defer mu.Unlock()
			outcomes[command] = ended{c.ProcessState.ExitCode(), string(out), c.stderr.String()}
		})
	}
	group.Wait()
	return outcomes
}

func comesBack(t *testing.T, home, path string) bool {
	t.Helper()
	return all(t, home, "restore --session "+id(path))["restore --session "+id(path)].out == string(read(t, path))
}

// A reader stopped in a transaction blocks no other reader. The daemon waits, says so, and later continues.
func TestFrozenReader(t *testing.T) {
	testkit.Long(t, "it stops a process in a transaction")
	t.Parallel()
	home := t.TempDir()
	paths := manyParcels(t, home, 6)
	if o := all(t, home, "run --once")["run --once"]; o.code != words.ExitDone {
		t.Fatalf("%+v", o)
	}
	d := spawnWith(t, home, []string{"CCD_WATCH_SETTLE=20ms", "CCD_WATCH_SCAN_INTERVAL=1s"}, "run", "-q")
	testkit.Eventually(t, "the daemon runs", func() bool { return d.running(t) && !d.info(t).LastPass.IsZero() })
	reader := spawn(t, home, "archive", "verify")
	for !reader.frozen(t, "READ", func() {}) {
		reader = spawn(t, home, "archive", "verify")
	}
	grow(t, paths[0])
	name := fmt.Sprintf("archive is locked by process %d (ccd archive)", reader.Process.Pid)

	restore := "restore --session " + id(paths[1])
	for command, o := range all(t, home, "ls", "search parcel", restore, "status", "compact "+id(paths[1]), "timeline "+id(paths[2])) {
		switch {
		case strings.HasPrefix(command, "compact"): // compact writes
			if o.code != words.ExitFailed || !strings.Contains(o.err, name) || !strings.Contains(o.err, fmt.Sprintf("kill -CONT %d", reader.Process.Pid)) {
				t.Errorf("%s: %+v", command, o)
			}
		case command == "status" && o.code == words.ExitFailed: // the waiting daemon is degraded
		case o.code != words.ExitDone:
			t.Errorf("%s: exit %d, %s", command, o.code, o.err)
		}
	}
	testkit.Eventually(t, "the daemon tells what it waits for", func() bool { return d.info(t).Locked == name })
	if o := all(t, home, "status")["status"]; o.code != words.ExitFailed || !strings.Contains(o.out, "the daemon is waiting for the archive: "+name) {
		t.Errorf("status: %+v", o)
	}
	if comesBack(t, home, paths[0]) {
		t.Error("the daemon has written: nothing was held up, and the test proves nothing")
	}
	reader.signal(t, syscall.SIGCONT)
	reader.ends(t, words.ExitDone, soon)
	testkit.Eventually(t, "the daemon has caught up", func() bool { return comesBack(t, home, paths[0]) && d.info(t).Locked == "" })
	d.signal(t, syscall.SIGTERM)
	d.ends(t, words.ExitDone, soon)
}

// A daemon stopped in a transaction blocks the archive. Each command ends and names the daemon.
func TestFrozenDaemon(t *testing.T) {
	testkit.Long(t, "it stops a daemon in a transaction")
	t.Parallel()
	home := t.TempDir()
	paths := manyParcels(t, home, 6)
	d := spawnWith(t, home, []string{"CCD_WATCH_SETTLE=20ms", "CCD_WATCH_SCAN_INTERVAL=1s"}, "run", "-q")
	testkit.Eventually(t, "the daemon runs", func() bool { return d.running(t) })
	if !d.frozen(t, "WRITE", func() { grow(t, paths[rand.IntN(len(paths))]) }) {
		t.Fatalf("the daemon has ended: %s", d.stderr.String())
	}
	name := fmt.Sprintf("archive is locked by process %d (ccd run)", d.Process.Pid)
	for command, o := range all(t, home, "ls", "search parcel", "restore --session "+id(paths[0]), "restore c0ffeec0ffee", "status", "compact "+id(paths[1]), "doctor",
		"show "+id(paths[1])) {
		switch {
		case o.code != words.ExitFailed || !strings.Contains(o.err+o.out, name) || !strings.Contains(o.err+o.out, fmt.Sprintf("kill -CONT %d", d.Process.Pid)):
			t.Errorf("%s: %+v", command, o)
		case command == "status" && !strings.Contains(o.out, fmt.Sprintf("running, pid %d", d.Process.Pid)):
			t.Errorf("%s: %+v", command, o)
		}
	}
	d.signal(t, syscall.SIGCONT)
	for _, path := range paths {
		testkit.Eventually(t, "the daemon has caught up", func() bool { return comesBack(t, home, path) })
	}
	d.signal(t, syscall.SIGTERM)
	d.ends(t, words.ExitDone, soon)
}

// If the archive is locked at the start, the daemon fails for a person, and waits for a service manager.
func TestStartWhileTheArchiveIsLocked(t *testing.T) {
	testkit.Long(t, "it waits for a lock")
	t.Parallel()
	home, b := t.TempDir(), listening(t)
	put(t, transcriptPath(home, 1), aLine)
	if o := all(t, home, "run --once")["run --once"]; o.code != words.ExitDone {
		t.Fatalf("%+v", o)
	}
	release := lockArchive(t, (&child{home: home}).stateDir())
	service := spawnWith(t, home, []string{"NOTIFY_SOCKET=" + b.addr}, "run")
	testkit.Eventually(t, "the manager is told that it takes longer", func() bool { return b.count("EXTEND_TIMEOUT_USEC=60000000") > 0 })
	service.signal(t, syscall.SIGSTOP) // it has run.lock
	testkit.Eventually(t, "it is stopped", func() bool { return service.state() == "T" })
	o := all(t, home, "run")["run"]
	if o.code != words.ExitFailed || !strings.Contains(o.err, fmt.Sprintf("already running, pid %d", service.Process.Pid)) {
		t.Errorf("a second one: %+v", o)
	}
	service.signal(t, syscall.SIGCONT)
	o = all(t, home, "run --once")["run --once"]
	if o.code != words.ExitFailed || !strings.Contains(o.err, fmt.Sprintf("archive is locked by process %d", os.Getpid())) {
		t.Errorf("a person's: %+v", o)
	}
	release()
	testkit.Eventually(t, "the service is ready", func() bool { return b.count("READY=1") == 1 })
	service.signal(t, syscall.SIGTERM)
	service.ends(t, words.ExitDone, soon)
}

// TestRootCreatedAfterTheSandbox imitates a service's mount namespace, in which a directory created later is read-only.
// The daemon fails so that it is restarted; one that finds the root at its start does not.
func TestRootCreatedAfterTheSandbox(t *testing.T) {
	if out, err := exec.Command("unshare", "-m", "true").CombinedOutput(); err != nil {
		t.Skipf("NOTICE: no mount namespace of its own: %v, %s", err, out)
	}
	const ro = `mkdir -p "$ROOT" && mount --bind "$ROOT" "$ROOT" && mount -o remount,bind,ro "$ROOT" && `
	const late = `"$CCD" run & ` + `for i in 1 2 3 4 5 6 7 8 9 10; do [ -f "$READY" ] && break; sleep 0.1; done; ` + ro + `true; wait $!`
	tests := []struct {
		name, script string
		env          []string
		comes        bool
	}{
		{"it comes later", late, nil, true},
		{"it was there", ro + `exec "$CCD" run`, nil, false},
		{"companions go elsewhere", late, []string{"CCD_COMPANION_DIR=/nonexistent"}, false},
		{"in the foreground", late, []string{"NOTIFY_SOCKET="}, false},
	}
	for _, tt := range testkit.Sample(t, tests, 2) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home, b := t.TempDir(), listening(t)
			state := filepath.Join(home, ".local", "state", "ccd", "run.json")
			cmd := exec.CommandContext(t.Context(), "timeout", "-s", "TERM", "5", "unshare", "-m", "sh", "-c", tt.script)
			cmd.Env = append([]string{
				"HOME=" + home, "PATH=" + os.Getenv("PATH"), "CCD=" + programPath, "ROOT=" + filepath.Join(home, ".codex", "sessions"),
				"READY=" + state, "NOTIFY_SOCKET=" + b.addr, "CCD_WATCH_SCAN_INTERVAL=1s", "CCD_WATCH_SETTLE=20ms",
			}, tt.env...)
			out, err := cmd.CombinedOutput()
			if got := strings.Contains(string(out), "it appeared after the start"); got != tt.comes {
				t.Errorf("says so: %v, want %v: %v, %s", got, tt.comes, err, out)
			}
			if code := cmd.ProcessState.ExitCode(); tt.comes && code != words.ExitFailed {
				t.Errorf("exit code %d, want %d: %s", code, words.ExitFailed, out)
			}
		})
	}
}
