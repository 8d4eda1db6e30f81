//go:build unix

package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ccd/daemon"
	"ccd/internal/testkit"
	"ccd/internal/words"
)

// manager is the service manager's end of $NOTIFY_SOCKET.
type manager struct {
	addr string
	mu   sync.Mutex
	told []string
}

func listening(t *testing.T) *manager {
	t.Helper()
	dir, err := os.MkdirTemp("", "ccd") // t.TempDir may be too long for a socket address
	must(t, err)
	b := &manager{addr: filepath.Join(dir, "n")}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: b.addr, Net: "unixgram"})
	must(t, err)
	t.Cleanup(func() {
		conn.Close()
		os.RemoveAll(dir)
	})
	go func() {
		text := make([]byte, 4096)
		for {
			n, err := conn.Read(text)
			if err != nil {
				return
			}
			b.mu.Lock()
			b.told = append(b.told, string(text[:n]))
			b.mu.Unlock()
		}
	}()
	return b
}

// messages returns the first line of each message so far.
func (b *manager) messages() (all []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.told {
		line, _, _ := strings.Cut(s, "\n")
		all = append(all, line)
	}
	return all
}

func (b *manager) count(what string) (n int) {
	for _, s := range b.messages() {
		if s == what {
			n++
		}
	}
	return n
}

// stopped waits for the last message, which the socket may deliver after the process has ended.
func (b *manager) stopped(t *testing.T) {
	t.Helper()
	testkit.Eventually(t, "the manager is notified of the stop", func() bool {
		return b.count("STOPPING=1") == 1
	})
}

func (c *child) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	must(t, c.Process.Signal(s))
}

// ends waits for the end and checks the exit code and the time.
func (c *child) ends(t *testing.T, code int, limit time.Duration) {
	t.Helper()
	begun := time.Now()
	err := c.Wait()
	if took := time.Since(begun); took > limit {
		t.Errorf("ended after %v, want %v at most", took, limit)
	}
	if got := c.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d (%v), want %d; stderr: %s", got, err, code, c.stderr.String())
	}
}

func (c *child) info(t *testing.T) daemon.RunInfo {
	t.Helper()
	info, running, err := daemon.ReadRun(c.stateDir())
	must(t, err)
	if !running || info.Pid != c.Process.Pid {
		t.Errorf("running %v, pid %d, want %d", running, info.Pid, c.Process.Pid)
	}
	return info
}

// lockArchive locks the archive like another process, until release is called.
func lockArchive(t *testing.T, stateDir string) (release func()) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(stateDir, "archive.db"), os.O_RDWR, 0o600)
	must(t, err)
	must(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	t.Cleanup(func() { f.Close() })
	return func() { f.Close() }
}

// A signal ends the wait for a lock of another process.
func TestStopsWhileTheArchiveIsLocked(t *testing.T) {
	tests := []struct {
		name   string
		signal syscall.Signal
		code   int
	}{
		{"told to stop", syscall.SIGTERM, words.ExitDone},
		{"interrupted", syscall.SIGINT, words.ExitInterrupted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home, b := t.TempDir(), listening(t)
			c := spawnWith(t, home, []string{"CCD_WATCH_SETTLE=20ms", "NOTIFY_SOCKET=" + b.addr}, "run")
			put(t, transcriptPath(home, 1), aLine)
			testkit.Eventually(t, "the archive is there", func() bool { return archived(c) })
			lockArchive(t, c.stateDir())
			put(t, transcriptPath(home, 2), aLine)
			testkit.Eventually(t, "the daemon waits for the lock", func() bool { return waits(filepath.Join(c.stateDir(), "archive.lock")) })
			c.signal(t, tt.signal)
			c.ends(t, tt.code, 5*time.Second)
			b.stopped(t)
			if b.count("WATCHDOG=1") > 0 {
				t.Errorf("nobody watches, yet it told %q", b.messages())
			}
			if strings.Contains(c.stderr.String(), "still busy") {
				t.Errorf("it was ended, and did not end: %s", c.stderr.String())
			}
		})
	}
}

// waits reports whether a process is in the gate, by its lock.
func waits(gate string) bool {
	f, err := os.Open(gate)
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
}

func TestWatchdog(t *testing.T) {
	testkit.Long(t, "it waits for signs of life")
	const sign = "WATCHDOG=1"
	t.Parallel()
	home, b := t.TempDir(), listening(t)
	c := spawnWith(t, home, []string{"CCD_WATCH_SETTLE=20ms", "NOTIFY_SOCKET=" + b.addr, "WATCHDOG_USEC=600000"}, "run")
	put(t, transcriptPath(home, 1), aLine)
	testkit.Eventually(t, "the archive is there", func() bool { return archived(c) })
	now := b.count(sign)
	testkit.Eventually(t, "the idle daemon gives signs", func() bool { return b.count(sign) > now+3 })

	release := lockArchive(t, c.stateDir())
	put(t, transcriptPath(home, 2), aLine)
	testkit.Eventually(t, "the daemon waits for the lock", func() bool { return waits(filepath.Join(c.stateDir(), "archive.lock")) })
	now = b.count(sign)
	testkit.Eventually(t, "it gives signs while it waits", func() bool { return b.count(sign) > now+2 })
	release()
	now = b.count(sign)
	testkit.Eventually(t, "it gives signs again", func() bool { return b.count(sign) > now+3 })
	c.signal(t, syscall.SIGTERM)
	c.ends(t, words.ExitDone, time.Second)
}

func archived(c *child) bool {
	info, err := os.Stat(filepath.Join(c.stateDir(), "archive.db"))
	return err == nil && info.Size() > 0
}

// A summarizer that ignores signals does not delay the exit.
func TestStopsWhileASummaryIsWritten(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	begun := filepath.Join(home, "begun")
	configure(t, home, "[watch]\nsettle = \"20ms\"\n[trigger]\nthreshold = 5000\nmin_savings = 0\n[companion]\nmax_tokens = 16000\n"+
		"[summarizer]\ncommand = [\"sh\", \"-c\", \"trap '' TERM INT HUP; echo $$ > "+begun+"; sleep 1000; exit\"]\n")
	c := spawn(t, home, "run")
	put(t, transcriptPath(home, 1), string(muchTalk()))
	testkit.Eventually(t, "the command runs", func() bool {
		b, err := os.ReadFile(begun)
		return err == nil && strings.HasSuffix(string(b), "\n")
	})
	c.signal(t, syscall.SIGTERM)
	c.ends(t, words.ExitDone, 3*time.Second)
	b := read(t, begun)
	var pid int
	if _, err := fmt.Sscan(string(b), &pid); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the command is gone", func() bool { return syscall.Kill(pid, 0) != nil })
}

// If the archive is removed while the daemon runs, all files are archived in the new one, not only those that grow.
func TestArchiveRemovedWhileRunning(t *testing.T) {
	testkit.Long(t, "it waits for a daemon to scan")
	t.Parallel()
	home := t.TempDir()
	for n := range 3 {
		put(t, transcriptPath(home, n), aLine)
	}
	c := spawnWith(t, home, []string{"CCD_WATCH_SETTLE=20ms", "CCD_WATCH_SCAN_INTERVAL=1s"}, "run")
	whole := func() bool {
		var out strings.Builder
		code := run(t.Context(), []string{"ls", "--json"}, std(strings.NewReader(""), &out, io.Discard), []string{"HOME=" + home})
		return code == words.ExitDone && strings.Count(out.String(), `"session"`) == 3
	}
	testkit.Eventually(t, "three sessions are archived, and a scan has ended since", func() bool { return whole() && c.info(t).Sessions == 3 })
	path := filepath.Join(c.stateDir(), "archive.db")
	c.signal(t, syscall.SIGSTOP) // or it may archive them again before ls looks
	must(t, os.Rename(path, path+".away"))
	if whole() {
		t.Error("the archive is gone, and ls lists three sessions: the test proves nothing")
	}
	c.signal(t, syscall.SIGCONT)
	testkit.Eventually(t, "three sessions are archived again", whole)
	c.signal(t, syscall.SIGTERM)
	c.ends(t, words.ExitDone, 5*time.Second)
	if !strings.Contains(c.stderr.String(), "the archive was removed or replaced") {
		t.Errorf("not a word of it: %s", c.stderr.String())
	}
}
