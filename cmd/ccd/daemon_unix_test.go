//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ccd/compactor/companion"
	"ccd/daemon"
	"ccd/internal/testkit"
	"ccd/internal/words"
)

// child is a ccd process with its home.
type child struct {
	*exec.Cmd
	home   string
	stdout *bufio.Reader
	stderr bytes.Buffer
}

func spawn(t *testing.T, home string, args ...string) *child {
	t.Helper()
	return spawnWith(t, home, nil, args...)
}

// spawnWith is spawn with environment variables.
func spawnWith(t *testing.T, home string, env []string, args ...string) *child {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	c := &child{Cmd: exec.CommandContext(ctx, programPath, args...), home: home}
	c.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	c.Env = append(c.Env, env...)
	c.Stderr = &c.stderr
	out, err := c.StdoutPipe()
	must(t, err)
	c.stdout = bufio.NewReader(out)
	must(t, c.Start())
	return c
}

// until reads stdout up to a line with text.
func (c *child) until(t *testing.T, text string) {
	t.Helper()
	for {
		line, err := c.stdout.ReadString('\n')
		if strings.Contains(line, text) {
			return
		}
		if err != nil {
			t.Fatalf("waiting for %q: %v; stderr: %s", text, err, c.stderr.String())
		}
	}
}

func (c *child) stateDir() string {
	if runtime.GOOS == "darwin" {
		return filepath.Join(c.home, "Library", "Application Support", "ccd")
	}
	return filepath.Join(c.home, ".local", "state", "ccd")
}

func (c *child) running(t *testing.T) bool {
	t.Helper()
	info, running, err := daemon.ReadRun(c.stateDir())
	return err == nil && running && info.Pid == c.Process.Pid
}

// ends are the signals that end a run, and the exit code after each.
var ends = []struct {
	name   string
	signal syscall.Signal
	code   int
}{{"interrupted", syscall.SIGINT, words.ExitInterrupted}, {"told to stop", syscall.SIGTERM, words.ExitDone}}

func TestRunEndsBySignal(t *testing.T) {
	for _, tt := range ends {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := spawn(t, t.TempDir(), "run")
			c.until(t, "No transcripts found")
			testkit.Eventually(t, "the daemon runs", func() bool { return c.running(t) })
			begun := time.Now()
			must(t, c.Process.Signal(tt.signal))
			err := c.Wait()
			if took := time.Since(begun); took > time.Second {
				t.Errorf("ended after %v, want a second at most", took)
			}
			if got := c.ProcessState.ExitCode(); got != tt.code {
				t.Errorf("exit code %d (%v), want %d; stderr: %s", got, err, tt.code, c.stderr.String())
			}
			if said := strings.TrimPrefix(c.stderr.String(), "caught up: 0 sessions archived\n"); said != "" {
				t.Errorf("an empty home and an ordered end are no errors, yet it says: %s", said)
			}
		})
	}
}

func TestOnlyOneRuns(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	first := spawn(t, home, "run")
	testkit.Eventually(t, "the daemon runs", func() bool { return first.running(t) })
	for _, args := range [][]string{{"run"}, {"run", "--once"}} {
		second := spawn(t, home, args...)
		var exit *exec.ExitError
		if err := second.Wait(); !errors.As(err, &exit) || exit.ExitCode() != words.ExitFailed {
			t.Errorf("ccd %v: %v, want exit %d", args, err, words.ExitFailed)
		}
		if want := "already running, pid " + strconv.Itoa(first.Process.Pid); !strings.Contains(second.stderr.String(), want) {
			t.Errorf("ccd %v says %q, want %q", args, second.stderr.String(), want)
		}
	}
	must(t, first.Process.Signal(syscall.SIGTERM))
	if err := first.Wait(); err != nil {
		t.Error(err)
	}
}

func TestIdleMemory(t *testing.T) {
	testkit.Long(t, "it measures")
	if runtime.GOOS != "linux" {
		t.Skip("NOTICE: anonymous memory is read from /proc")
	}
	t.Parallel()
	c := spawn(t, t.TempDir(), "run")
	testkit.Eventually(t, "the first scan is over", func() bool {
		info, _, err := daemon.ReadRun(c.stateDir())
		return err == nil && c.running(t) && info.Pid > 0
	})
	const limit = 16 << 10 // KB
	if got := anonymous(t, c.Process.Pid); got > limit {
		t.Errorf("%d KB of anonymous memory, want %d at most", got, limit)
	} else {
		t.Logf("%d KB of anonymous memory", got)
	}
	must(t, c.Process.Signal(syscall.SIGTERM))
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// anonymous returns a process's anonymous memory in KB.
func anonymous(t *testing.T, pid int) int {
	t.Helper()
	text := read(t, filepath.Join("/proc", strconv.Itoa(pid), "status"))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			must(t, err)
			return kb
		}
	}
	t.Skip("NOTICE: the kernel does not tell anonymous memory")
	return 0
}

// If the service manager's watchdog aborts the daemon, the process ends by the signal, and the manager restarts it. The
// control: without a manager it exits 2, which the unit treats as a usage error and does not restart. The log file has how it ended.
func TestAbortedUnderAManagerEndsByTheSignal(t *testing.T) {
	t.Parallel()
	for addr, code := range map[string]int{listening(t).addr: -1, "": words.ExitUsage} {
		home := t.TempDir()
		path := filepath.Join(home, "logs", "ccd.log")
		configure(t, home, "[log]\nfile = \""+path+"\"\n")
		c := spawnWith(t, home, []string{"NOTIFY_SOCKET=" + addr, "GOTRACEBACK="}, "run")
		testkit.Eventually(t, "the daemon runs", func() bool { return c.running(t) })
		c.signal(t, syscall.SIGABRT)
		c.ends(t, code, 10*time.Second)
		if s, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() != (code == -1) {
			t.Errorf("NOTIFY_SOCKET=%s: ended as %v", addr, c.ProcessState)
		}
		if !strings.Contains(string(read(t, path)), "SIGABRT") {
			t.Errorf("how it ended is not in its log; stderr: %s", c.stderr.String())
		}
	}
}

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
	for _, tt := range ends {
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
	t.Parallel()
	home := t.TempDir()
	for n := range 3 {
		put(t, transcriptPath(home, n), aLine)
	}
	c := spawnWith(t, home, []string{"CCD_WATCH_SETTLE=20ms", "CCD_WATCH_SCAN_INTERVAL=1s"}, "run")
	whole := func() bool {
		code, out, _ := ccdIn(home, "", "ls", "--all", "--json")
		return code == words.ExitDone && strings.Count(out, `"session"`) == 3
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

// TestUndoStopsARun: a `ccd run` that would write companions again is stopped first.
func TestUndoStopsARun(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	put(t, transcriptPath(home, 1), aLine)
	c := spawn(t, home, "run")
	testkit.Eventually(t, "it is archived", func() bool { out, _, _ := piped(home, nil, "ls"); return strings.Contains(string(out), "claude-code") })
	if out, _, talk := piped(home, nil, "setup", "--undo"); !strings.Contains(string(out), "stop it, pid ") {
		t.Errorf("not asked: %s%s", out, talk)
	}
	if out, code, talk := piped(home, nil, "setup", "--undo", "--dry-run"); code != words.ExitDone || !strings.Contains(string(out), "ompanion") {
		t.Errorf("a dry run does not need it stopped: exit code %d: %s%s", code, out, talk)
	}
	out, code, talk := piped(home, nil, "setup", "--undo", "--yes")
	if code != words.ExitDone || !strings.Contains(talk, "done: ccd run: stopped, pid") {
		t.Errorf("exit code %d: %s%s", code, out, talk)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("ccd run: %v", err)
	}
}

// TestOlderSessionsGetTheirCompanionsLater: of the sessions that a first pass finds, the 20 newest get their companions at once, one
// that grows with the next pass, the others with compact --all; show prints those that there are not.
func TestOlderSessionsGetTheirCompanionsLater(t *testing.T) {
	home := t.TempDir()
	configure(t, home, "[trigger]\nthreshold = 1\nmin_savings = 0\n")
	begin := time.Now().Add(-1000 * time.Hour)
	for n := range 24 {
		path := transcriptPath(home, n)
		put(t, path, strings.Repeat(aLine, 20))
		if when := begin.Add(time.Duration(n) * time.Hour); os.Chtimes(path, when, when) != nil {
			t.Fatal("no times of files")
		}
	}
	have := func() (all string) {
		for n := range 24 {
			if _, err := os.Stat(strings.TrimSuffix(transcriptPath(home, n), ".jsonl") + companion.Suffix); err == nil {
				all += string(rune('a' + n))
			}
		}
		return all
	}
	const line = "older sessions get one when they grow, or with ccd compact --all"
	for _, step := range []struct {
		do   []string
		says string
		have string
	}{
		{[]string{"run", "--once"}, "20 companions; 4 " + line, "efghijklmnopqrstuvwx"},
		{[]string{"run", "--once"}, "20 companions; 4 " + line, "efghijklmnopqrstuvwx"},
		{[]string{"status"}, "24, 20 companions; 4 " + line, "efghijklmnopqrstuvwx"},
		{[]string{"show", "00000000-0000-4000-8000-000000000000"}, "ccd: 1", "efghijklmnopqrstuvwx"},
		{[]string{"run", "--once"}, "21 companions; 3 " + line, "befghijklmnopqrstuvwx"},
		{[]string{"compact", "--all"}, filepath.Dir(transcriptPath(home, 0)), "abcdefghijklmnopqrstuvwx"},
		{[]string{"status"}, "24, 24 companions\n", "abcdefghijklmnopqrstuvwx"},
	} {
		if step.have[:2] == "be" {
			put(t, transcriptPath(home, 1), strings.Repeat(aLine, 21))
		}
		out, talk, _ := outputs(t, home, step.do...)
		if !strings.Contains(string(out)+talk, step.says) || have() != step.have {
			t.Errorf("%s: companions of %s, want of %s and %q\n%s%s", step.do, have(), step.have, step.says, out, talk)
		}
	}
}
