//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ccd/internal/agent/registry"
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
		Match: func(r watcher.Root, path string) bool { _, ok := registry.Find(r.Agent, r.Path, path); return ok },
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

// TestDoctorFixes holds that what --fix offers for ccd's own files does it, all of it, and nothing else.
func TestDoctorFixes(t *testing.T) {
	old := time.Now().Add(-2 * time.Hour)
	for _, c := range []struct {
		name  string
		look  func(context.Context, *surroundings) []finding
		spoil func(t *testing.T, s *surroundings) (left string) // what must stay as it is
		state string
	}{
		{"state directory", checkStateDir, func(t *testing.T, s *surroundings) string {
			chmod(t, s.l.stateDir, 0o755)
			return ""
		}, "wrong"},
		{"archive", checkFiles, func(t *testing.T, s *surroundings) string { chmod(t, s.l.archivePath, 0o644); return "" }, "wrong"},
		{"archive elsewhere", checkFiles, func(t *testing.T, s *surroundings) string {
			s.l.archivePath = filepath.Join(t.TempDir(), "a.db")
			write(t, s.l.archivePath, 0o600)
			write(t, strings.TrimSuffix(s.l.archivePath, ".db")+".lock", 0o666)
			return ""
		}, "wrong"},
		{"kept companion", checkFiles, func(t *testing.T, s *surroundings) string {
			write(t, filepath.Join(s.l.stateDir, "companions", "claude-code", "a.ccd.md"), 0o640)
			return ""
		}, "wrong"},
		{"companion", checkCompanions, func(t *testing.T, s *surroundings) string {
			write(t, filepath.Join(s.l.roots[0].Path, "-p", "a.ccd.md"), 0o644)
			theirs := filepath.Join(s.l.roots[0].Path, "-p", "b.jsonl")
			write(t, theirs, 0o644)
			return theirs
		}, "wrong"},
		{"leftover", checkLeftovers, func(t *testing.T, s *surroundings) string {
			dir := filepath.Join(s.l.roots[0].Path, "-p")
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
			ctx, s := context.Background(), soundSurroundings(t)
			if all := c.look(ctx, s); worst(all) != "ok" {
				t.Fatalf("in sound surroundings: %+v", all)
			}
			left := c.spoil(t, s)
			s.walkTrees()
			before, _ := os.Lstat(left)
			all := c.look(ctx, s)
			if worst(all) != c.state {
				t.Fatalf("want %s: %+v", c.state, all)
			}
			if done := s.a.fix(ctx, all); len(done) != 1 || !done[0].Fixed {
				t.Errorf("done: %+v", done)
			}
			s.walkTrees()
			if all := c.look(ctx, s); worst(all) != "ok" {
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

// TestTightenFollowsNoLink holds that a link in the place of a file of ours changes nothing where it leads.
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

// TestForeignCompanion holds that a file of a companion's name that is not ours is told and left alone.
func TestForeignCompanion(t *testing.T) {
	s := soundSurroundings(t)
	theirs := filepath.Join(s.l.roots[0].Path, "-p", "n.ccd.md")
	write(t, theirs, 0o644)
	if err := os.WriteFile(theirs, []byte("my notes"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.walkTrees()
	all := checkCompanions(context.Background(), s)
	if len(all) != 1 || all[0].State != "note" || all[0].repair != nil || !strings.Contains(all[0].Detail, "did not write") {
		t.Errorf("%+v", all)
	}
}

// TestOwners holds that what belongs to somebody else is told; only root can make such a file.
func TestOwners(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	write(t, path, 0o600)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, mine := ownerOf(info); !mine {
		t.Error("own file")
	}
	if os.Geteuid() == 0 {
		t.Skip("NOTICE: root may do as any owner: the other half of this test needs another user")
	}
	if info, err = os.Stat("/"); err != nil {
		t.Fatal(err)
	}
	if name, mine := ownerOf(info); mine || name == "" {
		t.Errorf("/ belongs to %q, mine %v", name, mine)
	}
}

// fakeProc makes a /proc of files: path below it -> content, or where it begins with "->", what it links to.
func fakeProc(t *testing.T, files map[string]string) string {
	t.Helper()
	proc := t.TempDir()
	for name, content := range files {
		path := filepath.Join(proc, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, link := strings.CutPrefix(content, "->"); link {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return proc
}

// TestProcesses holds what doctor makes of what Linux tells of the daemon's process.
func TestProcesses(t *testing.T) {
	s := soundSurroundings(t)
	s.run.Pid, s.service.state.Pid = 4711, 4711
	for _, c := range []struct {
		name                    string
		files                   map[string]string
		stranger, skew, sandbox string
	}{
		{"sound", map[string]string{"self/ns/user": "->user:[1]", "4711/exe": "->/usr/bin/ccd", "4711/comm": "ccd\n", "4711/ns/user": "->user:[2]"}, "", "", "in force"},
		{"none", nil, "", "", "are installed"},
		{"replaced", map[string]string{"self/x": "", "4711/exe": "->/usr/bin/ccd (deleted)", "4711/comm": "ccd\n"}, "", "has been replaced", "are installed"},
		{"not sandboxed", map[string]string{"self/ns/user": "->user:[1]", "4711/exe": "->/usr/bin/ccd", "4711/ns/user": "->user:[1]"}, "", "", "not in the second"},
		{"not here", map[string]string{"self/x": ""}, "not to be seen here", "", "are installed"},
		{"another program", map[string]string{"self/x": "", "4711/exe": "->/usr/bin/vi", "4711/comm": "vi\n"}, "another process", "", "are installed"},
	} {
		proc := fakeProc(t, c.files)
		if got := s.stranger(proc); !strings.Contains(got, c.stranger) || c.stranger == "" && got != "" {
			t.Errorf("%s: stranger %q", c.name, got)
		}
		if got := s.skewed(proc); !strings.Contains(got, c.skew) || c.skew == "" && got != "" {
			t.Errorf("%s: skewed %q", c.name, got)
		}
		if got := s.sandbox(proc); !strings.Contains(got.Detail, c.sandbox) {
			t.Errorf("%s: sandbox %q", c.name, got.Detail)
		}
	}
	s.service.state.Sandboxed = false
	if f := s.sandbox(t.TempDir()); f.State != "note" || !strings.Contains(f.Detail, "only the first layer") {
		t.Errorf("%+v", f)
	}
	s.l.config.Summarizer.Command = []string{"x"}
	if f := s.sandbox(t.TempDir()); f.State != "ok" || !strings.Contains(f.Detail, "left out") {
		t.Errorf("%+v", f)
	}
}

func TestInotifyUse(t *testing.T) {
	proc := fakeProc(t, map[string]string{
		"11/fd/3": "->anon_inode:inotify", "11/fdinfo/3": "pos:\t0\ninotify wd:1 ino:2\ninotify wd:2 ino:3\n", "11/fd/4": "->/tmp/x",
		"12/fd/3": "->anon_inode:inotify", "12/fdinfo/3": "pos:\t0\ninotify wd:1 ino:2\n",
	})
	if got := inotifyUse(context.Background(), proc, 12); got != (watchUse{1, 2}) {
		t.Errorf("%+v", got)
	}
	if got := inotifyUse(context.Background(), t.TempDir(), 0); got != (watchUse{}) {
		t.Errorf("without /proc: %+v", got)
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
		if f := programIn(path, own); f.State != want {
			t.Errorf("PATH %q: %+v", path, f)
		}
	}
}

// TestArchiveLockedByAnother holds that doctor returns where somebody keeps the archive's lock, and names the process.
func TestArchiveLockedByAnother(t *testing.T) {
	s := soundSurroundings(t)
	lock := strings.TrimSuffix(s.l.archivePath, ".db") + ".lock"
	f, err := os.OpenFile(lock, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	s.readArchive(context.Background())
	if !s.slow {
		t.Fatalf("the archive was read: %v", s.readErr)
	}
	all := append(checkLock(context.Background(), s), checkArchive(context.Background(), s)...)
	if len(all) != 1 || all[0].State != "wrong" {
		t.Fatalf("%+v", all)
	}
	if _, err := os.Stat("/proc/locks"); err == nil && !strings.Contains(all[0].Detail, fmt.Sprint("process ", os.Getpid(), " (")) {
		t.Errorf("names not the holder: %+v", all)
	}
}
