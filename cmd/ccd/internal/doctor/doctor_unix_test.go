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
	"time"

	"ccd/watcher"
)

// TestCheckRoot tests that doctor reports irregular and unreadable files under a root.
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
	s := soundFacts(t)
	all := s.checkRoot(scanRoot(t.Context(), s.Watch, watcher.Root{Agent: "claude-code", Path: root}))
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

// TestDoctorFixes tests that --fix repairs ccd's own files completely and changes nothing else.
func TestDoctorFixes(t *testing.T) {
	old := time.Now().Add(-2 * time.Hour)
	for _, c := range []struct {
		name  string
		look  func(context.Context, *facts) []Finding
		spoil func(t *testing.T, s *facts) (left string) // what must stay as it is
		state string
	}{
		{"state directory", checkState, func(t *testing.T, s *facts) string {
			chmod(t, s.StateDir, 0o755)
			return ""
		}, "wrong"},
		{"archive", checkFiles, func(t *testing.T, s *facts) string { chmod(t, s.ArchivePath, 0o644); return "" }, "wrong"},
		{"archive elsewhere", checkFiles, func(t *testing.T, s *facts) string {
			s.ArchivePath = filepath.Join(t.TempDir(), "a.db")
			write(t, s.ArchivePath, 0o600)
			write(t, strings.TrimSuffix(s.ArchivePath, ".db")+".lock", 0o666)
			return ""
		}, "wrong"},
		{"kept companion", checkFiles, func(t *testing.T, s *facts) string {
			write(t, filepath.Join(s.StateDir, "companions", "claude-code", "a.ccd.md"), 0o640)
			return ""
		}, "wrong"},
		{"companion", checkCompanions, func(t *testing.T, s *facts) string {
			write(t, filepath.Join(s.Roots[0].Path, "-p", "a.ccd.md"), 0o644)
			theirs := filepath.Join(s.Roots[0].Path, "-p", "b.jsonl")
			write(t, theirs, 0o644)
			return theirs
		}, "wrong"},
		{"leftover", checkLeftovers, func(t *testing.T, s *facts) string {
			dir := filepath.Join(s.Roots[0].Path, "-p")
			for _, name := range []string{".ccd-0123456789abcdef.tmp", ".ccd-fedcba9876543210.tmp", ".ccd-notes.tmp"} {
				write(t, filepath.Join(dir, name), 0o600)
				if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
					t.Fatal(err)
				}
			}
			return filepath.Join(dir, ".ccd-notes.tmp")
		}, "note"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, s := context.Background(), soundFacts(t)
			if all := c.look(ctx, s); Worst(all) != "ok" {
				t.Fatalf("on a sound setup: %+v", all)
			}
			left := c.spoil(t, s)
			s.walkTrees(t.Context())
			before, _ := os.Lstat(left)
			all := c.look(ctx, s)
			if Worst(all) != c.state {
				t.Fatalf("want %s: %+v", c.state, all)
			}
			if done := Fix(ctx, all, func(Finding, error) {}); len(done) != 1 || !done[0].Fixed {
				t.Errorf("done: %+v", done)
			}
			s.walkTrees(t.Context())
			if all := c.look(ctx, s); Worst(all) != "ok" {
				t.Errorf("after the fix: %+v", all)
			}
			if after, _ := os.Lstat(left); left != "" && (after == nil || after.Mode() != before.Mode()) {
				t.Errorf("%s: %v became %v", left, before, after)
			}
		})
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// TestTightenFollowsNoLink tests that the target of a link in place of one of ccd's files is not changed.
func TestTightenFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	theirs, link := filepath.Join(dir, "theirs"), filepath.Join(dir, "a.ccd.md")
	write(t, theirs, 0o644)
	if err := os.Symlink(theirs, link); err != nil {
		t.Fatal(err)
	}
	if err := tighten([]string{link, filepath.Join(dir, "gone")}); err == nil {
		t.Error("a link was taken for a file")
	}
	if info, err := os.Stat(theirs); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestForeignCompanion tests that a file named like a companion but not written by ccd is reported and left alone.
func TestForeignCompanion(t *testing.T) {
	s := soundFacts(t)
	theirs := filepath.Join(s.Roots[0].Path, "-p", "n.ccd.md")
	write(t, theirs, 0o644)
	if err := os.WriteFile(theirs, []byte("my notes"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.walkTrees(t.Context())
	all := checkCompanions(context.Background(), s)
	if len(all) != 1 || all[0].State != "note" || all[0].repair != nil || !strings.Contains(all[0].Detail, "not written by ccd") {
		t.Errorf("%+v", all)
	}
}

func TestProgramInPath(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	own, other := filepath.Join(one, "ccd"), filepath.Join(two, "ccd")
	write(t, own, 0o700)
	write(t, other, 0o700)
	if err := os.WriteFile(other, []byte("another length"), 0o700); err != nil {
		t.Fatal(err)
	}
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
	lock := strings.TrimSuffix(s.ArchivePath, ".db") + ".lock"
	f, err := os.OpenFile(lock, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	s.readArchive(context.Background())
	if !s.locked() {
		t.Fatalf("the archive was read: %v", s.readErr)
	}
	all := append(checkLock(context.Background(), s), checkArchive(context.Background(), s)...)
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
	if err := os.Symlink("/nowhere/ccd", s.StateDir); err != nil {
		t.Fatal(err)
	}
	if got := checkState(t.Context(), s); len(got) != 1 || got[0].State != "wrong" || !strings.Contains(got[0].Detail, "/nowhere/ccd") {
		t.Errorf("%+v", got)
	}
}
