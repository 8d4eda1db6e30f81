//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/words"
)

// runLine runs a command line and returns its exit code and output.
func runLine(t *testing.T, home string, args ...string) (int, string) {
	t.Helper()
	var out strings.Builder
	code := run(t.Context(), args, std(strings.NewReader(""), &out, &out), []string{"HOME=" + home})
	return code, out.String()
}

func TestClumsyCommandLines(t *testing.T) {
	home := t.TempDir()
	if code, out := runLine(t, home, "archive", "backup", ""); code != words.ExitUsage || !strings.Contains(out, "FILE is empty") {
		t.Errorf("backup '': exit %d: %s", code, out)
	}
	if code, out := runLine(t, home, "--version"); code != words.ExitDone || !strings.HasPrefix(out, "ccd ") {
		t.Errorf("--version: exit %d: %s", code, out)
	}
	gone := filepath.Join(home, "gone")
	must(t, os.Mkdir(gone, 0o700))
	put(t, transcriptPath(home, 1), aLine)
	if code, out := runLine(t, home, "run", "--once"); code != words.ExitDone {
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
