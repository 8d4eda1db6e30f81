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
	"ccd/cmd/ccd/internal/account"
	"ccd/internal/testkit"
)

func TestProgramInPath(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	own, other := filepath.Join(one, "ccd"), filepath.Join(two, "ccd")
	write(t, own, 0o700)
	write(t, other, 0o700)
	testkit.Must(t, os.WriteFile(other, []byte("another length"), 0o700))
	for path, want := range map[string]string{
		one: "ok", one + ":" + two: "ok", two + ":" + one: "note", "": "note", t.TempDir(): "note",
	} {
		if f := programIn(account.Env{Vars: []string{"PATH=" + path}}, own, "v1"); f.State != want {
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
