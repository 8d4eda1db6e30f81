//go:build unix

package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ccd/archive"
	"ccd/internal/testkit"
	"ccd/watcher"
)

// TestCheckRoot tests that doctor reports irregular and unreadable files under a root.
func TestCheckRoot(t *testing.T) {
	root := filepath.Join(t.TempDir(), "projects")
	dir := filepath.Join(root, "-p")
	testkit.Must(t, os.MkdirAll(dir, 0o700))
	fifo, locked := filepath.Join(dir, "fifo.jsonl"), filepath.Join(dir, "locked.jsonl")
	testkit.Must(t, syscall.Mkfifo(fifo, 0o600))
	testkit.Must(t, os.WriteFile(locked, nil, 0))
	s := soundFacts(t)
	all := s.checkRoot(scanRoot(t.Context(), s.Place, watcher.Root{Agent: "claude-code", Path: root}))
	told := map[string]Finding{}
	for _, f := range all {
		for _, name := range []string{"fifo", "locked"} {
			if strings.Contains(f.Detail, name) {
				told[name] = f
			}
		}
	}
	if f := told["fifo"]; f.State != "note" || f.Fix != "" || !strings.Contains(f.Detail, "not a regular file: skipped") {
		t.Errorf("fifo: %+v", f)
	}
	if os.Geteuid() == 0 {
		t.Skip("NOTICE: root may read everything: the other half of this test needs another user")
	}
	if f := told["locked"]; f.State != "wrong" || f.Fix != "chmod u+r "+locked+", or add it to watch.ignore" {
		t.Errorf("locked: %+v", f)
	}
}

func TestProgramInPath(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	own, other := filepath.Join(one, "ccd"), filepath.Join(two, "ccd")
	write(t, own, 0o700)
	write(t, other, 0o700)
	testkit.Must(t, os.WriteFile(other, []byte("another length"), 0o700))
	for path, want := range map[string]string{
		one: "ok", one + ":" + two: "ok", two + ":" + one: "note", "": "note", t.TempDir(): "note",
	} {
		if f := programIn(path, own, "v1"); f.State != want {
			t.Errorf("PATH %q: %+v", path, f)
		}
	}
}

// TestArchiveLockedByAnother tests that doctor returns while another process holds the archive's lock, and names the process.
func TestArchiveLockedByAnother(t *testing.T) {
	s := soundFacts(t)
	var err error
	s.Archive, err = archive.Open(s.ArchivePath, archive.Options{ReadOnly: true})
	testkit.Must(t, err)
	lock := strings.TrimSuffix(s.ArchivePath, ".db") + ".lock"
	f, err := os.OpenFile(lock, os.O_CREATE|os.O_RDWR, 0o600)
	testkit.Must(t, err)
	defer f.Close()
	testkit.Must(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	s.readArchive(context.Background())
	if !s.locked() {
		t.Fatalf("the archive was read: %v", s.Unread)
	}
	all := s.archive()
	if len(all) != 1 || all[0].State != "wrong" {
		t.Fatalf("%+v", all)
	}
	if _, err := os.Stat("/proc/locks"); err == nil && !strings.Contains(all[0].Detail, fmt.Sprint("process ", os.Getpid(), " (")) {
		t.Errorf("the process is not named: %+v", all)
	}
}

func TestStateDirectoryThatLeadsNowhere(t *testing.T) {
	s := soundFacts(t)
	s.StateDir = filepath.Join(t.TempDir(), "ccd")
	testkit.Must(t, os.Symlink("/nowhere/ccd", s.StateDir))
	if got := checkState(t.Context(), s); len(got) != 1 || got[0].State != "wrong" || !strings.Contains(got[0].Detail, "/nowhere/ccd") {
		t.Errorf("%+v", got)
	}
}
