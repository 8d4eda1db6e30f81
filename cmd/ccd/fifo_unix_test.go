//go:build unix

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ccd/internal/words"
)

// A FIFO in place of one of ccd's own files blocks no command. os.Open would wait forever.
func TestFIFOsDoNotBlock(t *testing.T) {
	for _, name := range []string{
		".config/ccd/config.toml", ".local/state/ccd/run.json", ".local/state/ccd/run.lock",
		".local/state/ccd/archive.lock",
	} {
		home := t.TempDir()
		env := []string{"HOME=" + home}
		quiet := std(strings.NewReader(""), io.Discard, io.Discard)
		put(t, transcriptPath(home, 1), aLine)
		if code := run(t.Context(), []string{"run", "--once"}, quiet, env); code != words.ExitDone {
			t.Fatalf("run --once: exit %d", code)
		}
		path := filepath.Join(home, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		_ = os.Remove(path)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skip("no FIFOs here:", err)
		}
		for _, command := range [][]string{{"ls"}, {"status"}, {"status", "--totals"}, {"run", "--once"}} {
			run(t.Context(), command, quiet, env) // it must only return
		}
	}
}
