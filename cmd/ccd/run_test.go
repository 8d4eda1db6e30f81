//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

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
	exe, err := os.Executable()
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	c := &child{Cmd: exec.CommandContext(ctx, exe, args...), home: home}
	c.Args[0] = "ccd"
	c.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}
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

func TestRunEndsBySignal(t *testing.T) {
	tests := []struct {
		name   string
		signal syscall.Signal
		code   int
	}{
		{"interrupted", syscall.SIGINT, words.ExitInterrupted},
		{"told to stop", syscall.SIGTERM, words.ExitDone},
	}
	for _, tt := range tests {
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
	if raceEnabled {
		t.Skip("the race detector keeps four times what the daemon does")
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

// TestRunWithoutAnArchive: where archive.path names a file of another kind, nothing is archived, and the run fails.
func TestRunWithoutAnArchive(t *testing.T) {
	for name, text := range map[string]string{"a transcript": aLine, "a text": "no archive", "a picture": "\x89PNG\r\n\x1a\n"} {
		home := t.TempDir()
		put(t, transcriptPath(home, 1), aLine)
		put(t, transcriptPath(home, 2), aLine)
		other := filepath.Join(home, "other")
		if name == "a transcript" {
			other = transcriptPath(home, 2)
		}
		put(t, other, text)
		put(t, filepath.Join(home, ".config", "ccd", "config.toml"), fmt.Sprintf("[archive]\npath = %q\n", other))
		code, _, said := ccdIn(home, "", "run", "--once")
		if code != words.ExitFailed || !strings.Contains(said, "not a ccd archive") || strings.Contains(said, "0 failed") {
			t.Errorf("%s: exit %d: %s", name, code, said)
		}
		if now, err := os.ReadFile(other); err != nil || string(now) != text {
			t.Errorf("%s was changed: %q, %v", name, now, err)
		}
	}
}
