//go:build linux

package archive

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ccd/internal/mark"
)

// TestBackupFailsAtAnyStep lets a system call of a backup fail, or be the last thing that the process does. Then the
// earlier backup stands there or the later one, whole; only a process that was killed leaves its temporary file.
func TestBackupFailsAtAnyStep(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	inject := straced(t)
	path := filepath.Join(t.TempDir(), "archive.db")
	a, file := openAt(t, path, Options{}), copyBeside(path)
	makeOld(t, a)
	backup(t, a, file)
	earlier, sum := bytesOf(t, file), contentsOf(t, file)
	fill(t, a, session("later"), 1, noise(1, 1<<20), whole)
	want := contentsOf(t, path)
	counts := map[mark.Hash]int{}
	for _, call := range []string{"pwrite64", "ftruncate", "fsync", "renameat", "flock"} {
		for _, fault := range []string{"error=EIO", "error=ENOSPC", "signal=SIGKILL"} {
			for _, when := range []int{1, 2, 5} {
				if err := os.WriteFile(file, []byte(earlier), 0o600); err != nil {
					t.Fatal(err)
				}
				out, err := inject("backup", path, call, fault, when).CombinedOutput()
				if err != nil && strings.Contains(string(out), "ptrace") {
					t.Skip("strace may not trace here")
				}
				at := fmt.Sprintf("%s, %s at %d", call, fault, when)
				got := contentsOf(t, file)
				if counts[got]++; got != sum && got != want {
					t.Errorf("%s: neither the earlier backup nor the later", at)
				}
				sound(t, openAt(t, file, Options{ReadOnly: true}))
				if err == nil && got != want {
					t.Errorf("%s: it says that it is done", at)
				}
				left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".ccd-*.tmp"))
				if len(left) > 0 && fault != "signal=SIGKILL" {
					t.Errorf("%s: left behind: %v", at, left)
				}
				for _, l := range left {
					_ = os.Remove(l) // as atomicfile.Clean does once it is old
				}
			}
		}
	}
	if contentsOf(t, path) != want {
		t.Error("the archive has changed")
	}
	t.Logf("%d times the earlier one, %d times the later", counts[sum], counts[want])
	if counts[sum] == 0 || counts[want] == 0 {
		t.Error("the faults came too early or too late")
	}
}

func TestBackupToAFullDisk(t *testing.T) {
	a := open(t)
	for i := range 4 {
		fill(t, a, session(fmt.Sprint("s", i)), 1, noise(uint64(i), 3<<20), whole)
	}
	before := contentsOf(t, a.path)
	dir := disk(t, 8<<20)
	file := filepath.Join(dir, "copy")
	if _, err := a.Backup(context.Background(), file, false, nil); err == nil || !strings.Contains(err.Error(), "are needed") {
		t.Errorf("seen beforehand: %v", err)
	}
	alone(t, dir)
	resize := func(size string) {
		if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, "size="+size); err != nil {
			t.Fatal(err)
		}
	}
	resize("64m")
	shrunk := false
	_, err := a.Backup(context.Background(), file, false, func(done, _ int64) {
		if !shrunk && done > 100 { // somebody else fills it meanwhile
			shrunk = true
			resize("6m")
		}
	})
	if !errors.Is(err, syscall.ENOSPC) && (err == nil || !strings.Contains(err.Error(), "no space left")) {
		t.Errorf("met on the way: %v", err)
	}
	alone(t, dir)
	if contentsOf(t, a.path) != before {
		t.Error("the archive has changed")
	}
	resize("64m")
	backup(t, a, file)
	alone(t, dir, "copy")
}

// A backup beside a writer in another process, which is killed in the end: every one holds the beginning of each session.
func TestBackupBesideAProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	data := newCrashData()
	fill(t, openAt(t, path, Options{}), session("crash0"), 1, data[0][:100_000], whole)
	c, out := start(t, "write", path, 1)
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	lines := bufio.NewScanner(out)
	for range 20 {
		lines.Scan() // it is at work
	}
	go func() {
		for lines.Scan() {
		}
	}()
	a, r := openAt(t, path, Options{ReadOnly: true}), rand.New(rand.NewPCG(1, 1))
	held, last := time.Duration(0), int64(0)
	for i := range 4 {
		file := filepath.Join(t.TempDir(), "copy")
		got, err := a.Backup(context.Background(), file, false, nil)
		if err != nil {
			t.Fatalf("backup %d: %v", i, err)
		}
		if lost := data.lost(t, file, nil); len(lost) > 0 {
			t.Errorf("backup %d: %q", i, lost)
		}
		if got.Bytes < last {
			t.Errorf("backup %d holds %d bytes, the one before it %d", i, got.Bytes, last)
		}
		held, last = max(held, got.Held), got.Bytes
		<-time.After(time.Duration(r.IntN(50)) * time.Millisecond) // another moment of the writer; nothing waits for it
	}
	if last <= 100_000 {
		t.Error("the writer has written nothing")
	}
	t.Logf("%d bytes in the end, held for %v at a time", last, held)
}
