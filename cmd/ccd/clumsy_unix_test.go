//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/words"
)

func TestClumsyCommandLines(t *testing.T) {
	home := t.TempDir()
	if code, out, said := ccdIn(home, "", "archive", "backup", ""); code != words.ExitUsage || !strings.Contains(said, "FILE is empty") {
		t.Errorf("backup '': exit %d: %s", code, out+said)
	}
	if code, out, said := ccdIn(home, "", "--version"); code != words.ExitDone || !strings.HasPrefix(out, "ccd ") {
		t.Errorf("--version: exit %d: %s", code, out+said)
	}
	gone := filepath.Join(home, "gone")
	must(t, os.Mkdir(gone, 0o700))
	put(t, transcriptPath(home, 1), aLine)
	once(t, home)
	t.Chdir(gone)
	if err := os.Remove(gone); err != nil {
		t.Skip("a directory that is in use cannot be removed here:", err)
	}
	if code, out, said := ccdIn(home, "", "show", "00000000"); strings.Contains(out+said, "getwd") {
		t.Errorf("in a removed directory: exit %d: %s", code, out+said)
	}
}
