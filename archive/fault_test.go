//go:build linux

package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// disk mounts a file system of size bytes, or skips.
func disk(t *testing.T, size int) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size)); err != nil {
		t.Skipf("mount tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

func TestDiskThatFillsUp(t *testing.T) {
	if testing.Short() { // the race detector's time: one goroutine does all of it
		t.Skip("not in the short run")
	}
	dir := disk(t, 4<<20)
	ctx := context.Background()
	path := filepath.Join(dir, "archive.db")
	a := openAt(t, path, Options{})
	s := session("s")
	data := noise(1, 16<<20)
	acked, refused := 0, 0
	// Each failure gets a little more space: the disk is full at another write each time.
	for size := 4 << 20; acked < 6<<20; {
		n := 150_000
		err := a.Append(ctx, s, segment(1, int64(acked), data[acked:acked+n]))
		if err == nil {
			acked += n
			continue
		}
		refused++
		if !errors.Is(err, ErrFull) {
			t.Fatalf("after %d bytes: %v, want ErrFull", acked, err)
		}
		got, _, err := everything(openAt(t, path, Options{}).Reader(s.Key, 1))
		if err != nil || !bytes.Equal(got, data[:acked]) {
			t.Fatalf("on a full disk: %d bytes of %d, %v", len(got), acked, err)
		}
		size += 50_000
		if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, fmt.Sprintf("size=%d", size)); err != nil {
			t.Fatal(err)
		}
	}
	sound(t, a)
	if refused < 10 {
		t.Errorf("the disk was full %d times only", refused)
	}
	t.Logf("%d times full, %d bytes kept", refused, acked)
}

func TestReadOnlyFileSystem(t *testing.T) {
	dir := disk(t, 8<<20)
	path := filepath.Join(dir, "archive.db")
	data := talk(1, 1<<20)
	a := openAt(t, path, Options{})
	fill(t, a, session("s"), 1, data, whole)
	a.CloseIdle() // a file that is open for writing keeps its disk writable
	lockPath, gatePath := lockPaths(path)
	for _, without := range []string{"", gatePath, lockPath} { // a copied archive has no lock files
		if without != "" {
			if err := os.Remove(without); err != nil {
				t.Fatal(err)
			}
		}
		if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
		a = openAt(t, path, Options{})
		got, _, err := everything(a.Reader(session("s").Key, 0))
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("without %q: %v", without, err)
		}
		sound(t, a)
		if err := a.Append(context.Background(), session("s"), segment(1, int64(len(data)), []byte("x"))); err == nil {
			t.Errorf("without %q: it was written", without)
		}
		if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, ""); err != nil {
			t.Fatal(err)
		}
	}
}

// An archive that belongs to somebody else may be read where its mode allows it.
func TestUnwritableDirectory(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere; TestReadOnlyFileSystem covers it")
	}
	path := filepath.Join(t.TempDir(), "archive.db")
	fill(t, openAt(t, path, Options{}), session("s"), 1, []byte("x\n"), whole)
	lockPath, gatePath := lockPaths(path)
	for _, p := range []string{path, lockPath, gatePath, filepath.Dir(path)} {
		if err := os.Chmod(p, 0o500); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(path), 0o700) })
	sound(t, openAt(t, path, Options{}))
}

// TestFailingSystemCalls lets the n-th call of a kind fail, or be the last thing that the process does, in a writer
// that goes on after errors as the daemon does. What it acknowledged must be there.
func TestFailingSystemCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	inject := straced(t)
	failed, runs := 0, 0
	data := newCrashData()
	for i, call := range []string{"pwrite64", "fdatasync", "ftruncate", "fsync", "renameat", "flock"} {
		for j, fault := range []string{"error=EIO", "error=ENOSPC", "signal=SIGKILL", "error=EINTR"} {
			for when := 1 + (5*i+j)%12; when <= sweepEnd(); when += 12 {
				path := filepath.Join(t.TempDir(), "archive.db")
				out, err := inject("few", path, call, fault, when).Output()
				if err != nil && len(out) == 0 && strings.Contains(fmt.Sprint(err), "status 1") {
					t.Skip("strace may not trace here")
				}
				said := strings.Split(strings.TrimSpace(string(out)), "\n")
				failed += strings.Count(string(out), "error")
				runs++
				said = acks(said)
				if lost := data.lost(t, path, said); len(lost) > 0 {
					t.Errorf("%s, %s at %d: lost %q", call, fault, when, lost)
				}
				if fault != "signal=SIGKILL" && !strings.Contains(string(out), "done") {
					t.Errorf("%s, %s at %d: the writer did not get through: %v\n%s", call, fault, when, err, out)
				}
			}
		}
	}
	if t.Logf("%d runs with a fault, %d errors met", runs, failed); failed == 0 {
		t.Error("no error was met: the test sees nothing")
	}
}

// straced returns how to run this test's process in a role on an archive, with the when-th system call of a kind failing
// or being the last. It skips where strace is not to be had.
func straced(t *testing.T) func(role, path, call, fault string, when int) *exec.Cmd {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return func(role, path, call, fault string, when int) *exec.Cmd {
		c := exec.Command(strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace="+call,
			"-e", fmt.Sprintf("inject=%s:%s:when=%d", call, fault, when), exe)
		c.Env = []string{childEnv + "=" + role + " " + path + " 1", "GOMAXPROCS=1", "HOME=" + t.TempDir()}
		return c
	}
}

// sweepEnd is the last call that fails: the sweep is a sample unless ARCHIVE_TEST_SWEEP asks for more.
func sweepEnd() int { return testCount("ARCHIVE_TEST_SWEEP", 12) }

// acks keeps the acknowledgements.
func acks(said []string) (kept []string) {
	for _, s := range said {
		if strings.HasPrefix(s, "tip ") || strings.HasPrefix(s, "id ") {
			kept = append(kept, s)
		}
	}
	return kept
}

// TestRebuildFailsAtAnyStep lets a system call of a rebuild fail, or be the last thing that the process does. Then an
// archive is in place that gives what it gave before, and a later rebuild succeeds. A failed one leaves no file.
func TestRebuildFailsAtAnyStep(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	inject := straced(t)
	ro := newRotten(t)
	good, err := os.ReadFile(ro.path)
	must(t, err)
	flipped := bytes.Clone(good)
	at := bytes.LastIndex(flipped, []byte("r1\x00\x01")) // an envelope; the zstd frame is after it and the filter
	flipped[at+bytes.Index(flipped[at:], []byte("\x28\xb5\x2f\xfd"))+20] ^= 1
	must(t, os.WriteFile(ro.path, flipped, 0o600))
	before := ro.check(openAt(t, ro.path, Options{ReadOnly: true}))
	if before.refused == 0 || before.right == 0 {
		t.Fatalf("the damage was not met: %+v", before)
	}
	stopped, runs := 0, 0
	for _, call := range []string{"pwrite64", "ftruncate", "fdatasync", "fsync", "linkat", "renameat", "flock"} {
		for _, fault := range []string{"error=EIO", "error=ENOSPC", "signal=SIGKILL"} {
			for when := 1; when <= sweepEnd()/6; when++ {
				at := fmt.Sprintf("%s, %s at %d", call, fault, when)
				must(t, os.WriteFile(ro.path, flipped, 0o600))
				out, err := inject("rebuild", ro.path, call, fault, when).CombinedOutput()
				if err != nil && strings.Contains(string(out), "ptrace") {
					t.Skip("strace may not trace here")
				}
				runs++
				if err != nil {
					stopped++
				}
				if o := ro.check(openAt(t, ro.path, Options{ReadOnly: true})); o.wrong > 0 || o.right < before.right {
					t.Errorf("%s: %+v, before %+v", at, o, before)
				}
				if left, _ := filepath.Glob(filepath.Join(filepath.Dir(ro.path), ".ccd-*")); len(left) > 0 && fault != "signal=SIGKILL" {
					t.Errorf("%s: left: %q", at, left)
				}
				a := openAt(t, ro.path, Options{})
				if _, err := a.Rebuild(t.Context(), nil); err != nil {
					t.Errorf("%s: rebuilt again: %v", at, err)
				}
				if o := ro.check(a); o.wrong > 0 || o.right < before.right {
					t.Errorf("%s: rebuilt again: %+v, before %+v", at, o, before)
				}
				other, _ := filepath.Glob(filepath.Join(filepath.Dir(ro.path), "*.damaged-*"))
				more, _ := filepath.Glob(filepath.Join(filepath.Dir(ro.path), ".ccd-*"))
				for _, p := range append(other, more...) {
					must(t, os.Remove(p))
				}
			}
		}
	}
	if t.Logf("%d runs with a fault, %d of them stopped", runs, stopped); stopped == 0 || stopped == runs {
		t.Error("the faults came too early or too late")
	}
}
