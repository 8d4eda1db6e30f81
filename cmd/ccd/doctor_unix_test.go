//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ccd/internal/transcript"
	"ccd/watcher"
)

// TestCheckRoot holds that doctor tells what stands in a transcript's place, and what it may not read.
func TestCheckRoot(t *testing.T) {
	root := filepath.Join(t.TempDir(), "projects")
	dir := filepath.Join(root, "-p")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	fifo, locked := filepath.Join(dir, "fifo.jsonl"), filepath.Join(dir, "locked.jsonl")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(locked, nil, 0); err != nil {
		t.Fatal(err)
	}
	l := &library{watch: watcher.Options{
		Match: func(r watcher.Root, path string) bool { _, ok := transcript.Find(r.Agent, r.Path, path); return ok },
	}}
	s := &surroundings{l: l}
	all := s.checkRoot(scanRoot(context.Background(), l, watcher.Root{Agent: "claude-code", Path: root}))
	told := map[string]finding{}
	for _, f := range all {
		for _, name := range []string{"fifo", "locked"} {
			if strings.Contains(f.Detail, name) {
				told[name] = f
			}
		}
	}
	if f := told["fifo"]; f.State != "note" || f.Mend != "" || !strings.Contains(f.Detail, "is a FIFO: it is skipped") {
		t.Errorf("fifo: %+v", f)
	}
	if os.Geteuid() == 0 {
		t.Skip("NOTICE: root may read everything: the other half of this test needs another user")
	}
	if f := told["locked"]; f.State != "wrong" || f.Mend != "chmod u+r "+locked+", or name it under [watch] ignore" {
		t.Errorf("locked: %+v", f)
	}
}
