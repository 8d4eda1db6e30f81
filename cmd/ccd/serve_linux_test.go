package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ccd/internal/testkit"
	"ccd/internal/words"
)

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
			exe, err := os.Executable()
			must(t, err)
			ccd := filepath.Join(home, "ccd") // under this name the test binary is ccd
			must(t, os.Symlink(exe, ccd))
			state := filepath.Join(home, ".local", "state", "ccd", "run.json")
			cmd := exec.CommandContext(t.Context(), "timeout", "-s", "TERM", "5", "unshare", "-m", "sh", "-c", tt.script)
			cmd.Env = append([]string{
				"HOME=" + home, "PATH=" + os.Getenv("PATH"), "CCD=" + ccd, "ROOT=" + filepath.Join(home, ".codex", "sessions"),
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

// Only the working goroutine feeds the watchdog. If the work hangs, here in a log that nobody reads, there are no
// signs, whatever else the process does.
func TestWatchdogSeesAHang(t *testing.T) {
	testkit.Long(t, "it hangs a daemon")
	const sign = "WATCHDOG=1"
	t.Parallel()
	home, b := t.TempDir(), listening(t)
	unread, log, err := os.Pipe()
	must(t, err)
	defer unread.Close()
	exe, err := os.Executable()
	must(t, err)
	c := &child{Cmd: exec.CommandContext(t.Context(), exe, "run"), home: home}
	c.Args[0] = "ccd"
	c.Env = []string{"HOME=" + home, "CCD_WATCH_SETTLE=20ms", "CCD_LOG_LEVEL=info", "NOTIFY_SOCKET=" + b.addr, "WATCHDOG_USEC=600000"}
	c.Stderr = log
	put(t, transcriptPath(home, 1), strings.Repeat(aLine, 3))
	must(t, c.Start())
	testkit.Eventually(t, "the daemon works, and gives signs", func() bool { return archived(c) && b.count(sign) > 3 })
	go func() { _, _ = log.Write(make([]byte, 1<<20)) }() // more than the pipe can take
	put(t, transcriptPath(home, 1), aLine)                // replacing a file is logged
	testkit.Eventually(t, "there are no more signs", func() bool {
		before := b.count(sign)
		<-time.After(time.Second) // between two looks
		return b.count(sign) == before
	})
	go func() { _, _ = io.Copy(io.Discard, unread) }()
	now := b.count(sign)
	testkit.Eventually(t, "it gives signs again", func() bool { return b.count(sign) > now+3 })
	c.signal(t, unix.SIGTERM)
	c.ends(t, words.ExitDone, 5*time.Second)
}
