//go:build unix

package main

import (
	"syscall"
	"testing"
	"time"

	"ccd/internal/testkit"
	"ccd/internal/words"
)

// If the service manager's watchdog aborts the daemon, the process ends by the signal, and the manager restarts it. The
// control: without a manager it exits 2, which the unit treats as a usage error and does not restart.
func TestAbortedUnderAManagerEndsByTheSignal(t *testing.T) {
	t.Parallel()
	for addr, code := range map[string]int{listening(t).addr: -1, "": words.ExitUsage} {
		c := spawnWith(t, t.TempDir(), []string{"NOTIFY_SOCKET=" + addr}, "run")
		testkit.Eventually(t, "the daemon runs", func() bool { return c.running(t) })
		c.signal(t, syscall.SIGABRT)
		c.ends(t, code, 10*time.Second)
		if s, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() != (code == -1) {
			t.Errorf("NOTIFY_SOCKET=%s: ended as %v", addr, c.ProcessState)
		}
	}
}
