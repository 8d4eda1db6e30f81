//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// runLine runs a command line and returns its exit code and output.
func runLine(t *testing.T, home string, args ...string) (int, string) {
	t.Helper()
	var out strings.Builder
	code := run(t.Context(), args, std{strings.NewReader(""), &out, &out}, []string{"HOME=" + home})
	return code, out.String()
}

// status still says that a daemon runs if the configuration was broken since.
func TestStatusWithABrokenConfiguration(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	broken := func() { configure(t, home, "[watch]\nsettel = \"1s\"\n") }
	c := spawnWith(t, home, nil, "run")
	eventually(t, "the daemon runs", func() bool { return c.running(t) })
	broken()
	if code, out := runLine(t, home, "status"); code != exitFailed || !strings.Contains(out, "running, pid") || !strings.Contains(out, "settel") {
		t.Errorf("exit %d: %s", code, out)
	}
	c.signal(t, syscall.SIGTERM)
	c.ends(t, exitDone, 5*time.Second)
	if code, out := runLine(t, home, "status"); code != exitFailed || strings.Contains(out, "running") || !strings.Contains(out, "settel") {
		t.Errorf("nothing runs: exit %d: %s", code, out)
	}
}

func TestClumsyCommandLines(t *testing.T) {
	home := t.TempDir()
	if code, out := runLine(t, home, "backup", ""); code != exitUsage || !strings.Contains(out, "FILE is empty") {
		t.Errorf("backup '': exit %d: %s", code, out)
	}
	if code, out := runLine(t, home, "--version"); code != exitDone || !strings.HasPrefix(out, "ccd ") {
		t.Errorf("--version: exit %d: %s", code, out)
	}
	gone := filepath.Join(home, "gone")
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, transcriptPath(home, 1), aLine)
	if code, out := runLine(t, home, "run", "--once"); code != exitDone {
		t.Fatalf("run --once: exit %d: %s", code, out)
	}
	t.Chdir(gone)
	if err := os.Remove(gone); err != nil {
		t.Skip("a directory that is in use cannot be removed here:", err)
	}
	if code, out := runLine(t, home, "show", "00000000"); strings.Contains(out, "getwd") {
		t.Errorf("in a removed directory: exit %d: %s", code, out)
	}
}
