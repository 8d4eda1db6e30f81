//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ccd/internal/testkit"
)

// The log file gets the panic that ends the process.
func TestLogFileOfTheDaemon(t *testing.T) {
	t.Parallel()
	home, b := t.TempDir(), listening(t)
	path := filepath.Join(home, "logs", "ccd.log")
	configure(t, home, "[log]\nfile = \""+path+"\"\n")
	c := spawnWith(t, home, []string{"NOTIFY_SOCKET=" + b.addr, "GOTRACEBACK="}, "run")
	testkit.Eventually(t, "it is ready", func() bool { return b.count("READY=1") == 1 })
	c.signal(t, syscall.SIGABRT)
	c.ends(t, -1, 5*time.Second) // by the signal, see TestAbortedUnderAManagerEndsByTheSignal
	b2, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(b2), "SIGABRT") {
		t.Errorf("how it ended is not in its log: %v; stderr: %s", err, c.stderr.String())
	}
}
