//go:build unix

package summarizer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNothingOfTheGroupIsLeft covers a command that is killed, and one that exits and leaves a child.
func TestNothingOfTheGroupIsLeft(t *testing.T) {
	for _, name := range []string{"leave", "stay"} {
		told := filepath.Join(t.TempDir(), "pid")
		c := playing(t, name, long)
		c.Env = append(c.Env, "TOLD="+told)
		ctx, stop := context.WithCancel(context.Background())
		if name == "stay" {
			go func() {
				eventually(func() bool { return number(told) > 0 })
				stop()
			}()
		}
		out, err := c.Run(ctx, "")
		stop()
		if name == "leave" && (err != nil || string(out) != "said") || name == "stay" && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %q, %v", name, out, err)
		}
		pid := number(told)
		if pid == 0 || !eventually(func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || defunct(pid) }) {
			t.Errorf("%s: process %d is alive", name, pid)
			if pid > 0 {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	// Finds a child that nobody waited for.
	if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); !errors.Is(err, syscall.ECHILD) {
		t.Errorf("a child is left: %d, %v", pid, err)
	}
}

// number reads a process ID from a file, or returns 0 if there is none yet.
func number(path string) int {
	text, _ := os.ReadFile(path)
	n, _ := strconv.Atoi(strings.TrimSuffix(string(text), "\n"))
	if !strings.HasSuffix(string(text), "\n") {
		return 0
	}
	return n
}

// eventually waits until so returns true, for at most 30 seconds.
func eventually(so func() bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for !so() {
		select {
		case <-tick.C:
		case <-deadline:
			return false
		}
	}
	return true
}

// defunct reports whether a process is a zombie.
func defunct(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	for i := len(stat) - 1; i > 0; i-- {
		if stat[i] == ')' && i+2 < len(stat) {
			return stat[i+2] == 'Z'
		}
	}
	return false
}
