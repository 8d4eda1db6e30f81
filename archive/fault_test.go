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
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ccd/internal/testkit"
	"ccd/internal/transcript"
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
	t.Parallel()
	dir := disk(t, 4<<20)
	ctx := context.Background()
	path := filepath.Join(dir, "archive.db")
	a := openAt(t, path, Options{})
	s := session("s")
	data := noise(1, 16<<20)
	acked, refused := 0, 0
	most := testkit.Cases(t, 12, 100)
	// Each failure gets a little more space: the disk is full at another write each time.
	for size := 4 << 20; acked < 6<<20 && refused < most; {
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
		must(t, unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, fmt.Sprintf("size=%d", size)))
	}
	sound(t, a)
	if refused < 10 {
		t.Errorf("the disk was full %d times only", refused)
	}
	t.Logf("%d times full, %d bytes kept", refused, acked)
}

// Without room for a new file, an import adds what it has to an archive with damage, and says that this is left. With room, what was
// damaged and is lost is mended, and no other file stays.
func TestImportWithoutRoomForARepair(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), disk(t, 6<<20)
	a := openAt(t, filepath.Join(dir, "archive.db"), Options{})
	data, more := noise(1, 3500<<10), talk(3, 100<<10)
	fill(t, a, session("solid"), 1, data, whole)
	good := testkit.Read(t, a.Path())
	bad := bytes.Clone(good)
	at := packedBlocks(bad, "solid")[0]
	bad[at] ^= 1
	must(t, os.WriteFile(a.Path(), bad, 0o600))
	file := filepath.Join(t.TempDir(), "other.db")
	fill(t, openAt(t, file, Options{}), session("new"), 1, more, func() int { return 50_000 })
	im, err := a.Import(ctx, file, nil)
	if got, _, wrong := everything(a.Reader(session("new").Key, 1)); err != nil || wrong != nil || !bytes.Equal(got, more) || len(im.Repaired.Left) == 0 {
		t.Fatalf("%d bytes of %d, %v, left: %v, %v", len(got), len(more), wrong, im.Repaired.Left, err)
	}
	must(t, unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, "size=32M"))
	if _, err := a.Repair(ctx, inPieces(func(transcript.Session, Generation) []byte { return nil }), nil); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadDir(dir)
	must(t, err)
	backup := filepath.Join(t.TempDir(), "backup.db")
	must(t, os.WriteFile(backup, good, 0o600))
	im, err = a.Import(ctx, backup, nil)
	after, _ := os.ReadDir(dir)
	if got, _, wrong := everything(a.Reader(session("solid").Key, 1)); err != nil || wrong != nil || !bytes.Equal(got, data) || len(after) != len(before) {
		t.Errorf("%d bytes of %d, %v, %d files, %d before, %+v, %v", len(got), len(data), wrong, len(after), len(before), im.Repaired, err)
	}
	sound(t, a)
}

// failure is that the when-th system call of a kind fails, or is the last thing that the process does.
type failure struct {
	call, fault string
	when        int
}

const sigkill = "signal=SIGKILL"

func (f failure) String() string { return fmt.Sprintf("%s, %s at %d", f.call, f.fault, f.when) }

// failures returns all failures of the calls.
func failures(calls, faults []string, when ...int) (all []failure) {
	for _, call := range calls {
		for _, fault := range faults {
			for _, n := range when {
				all = append(all, failure{call, fault, n})
			}
		}
	}
	return all
}

// strike runs this test's process in a role on an archive, with the failure, and returns what it says. It skips the test
// where strace is not to be had.
func (f failure) strike(t *testing.T, role, path string) (said string, err error) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	exe, err := os.Executable()
	must(t, err)
	c := exec.Command(strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace="+f.call,
		"-e", fmt.Sprintf("inject=%s:%s:when=%d", f.call, f.fault, f.when), exe)
	c.Env = []string{childEnv + "=" + role + " " + path + " 1", "GOMAXPROCS=1", "HOME=" + t.TempDir()}
	out, err := c.CombinedOutput()
	if err != nil && strings.Contains(string(out), "ptrace") {
		t.Skip("strace may not trace here")
	}
	return string(out), err
}

// TestFailingSystemCalls lets a system call fail in a writer that goes on after errors as the daemon does. What it
// acknowledged must be there.
func TestFailingSystemCalls(t *testing.T) {
	t.Parallel()
	calls := []string{"pwrite64", "fdatasync", "ftruncate", "fsync", "renameat", "flock"}
	all := failures(calls, []string{"error=EIO", "error=ENOSPC", sigkill, "error=EINTR"}, 1, 2, 3, 5, 8, 13, 21, 34)
	cases := append(testkit.Sample(t, all, 1), failure{"pwrite64", "error=EIO", 9}) // the last one is always met
	failed := 0
	data := newCrashData()
	for _, f := range cases {
		path := filepath.Join(t.TempDir(), "archive.db")
		out, err := f.strike(t, "few", path)
		failed += strings.Count(out, "error")
		said := slices.DeleteFunc(strings.Split(out, "\n"), func(s string) bool { // all but acknowledgements
			return !strings.HasPrefix(s, "tip ") && !strings.HasPrefix(s, "id ")
		})
		if lost := data.lost(t, path, said); len(lost) > 0 {
			t.Errorf("%v: lost %q", f, lost)
		}
		if f.fault != sigkill && !strings.Contains(out, "done") {
			t.Errorf("%v: the writer did not get through: %v\n%s", f, err, out)
		}
	}
	if t.Logf("%d runs with a fault, %d errors met", len(cases), failed); failed == 0 {
		t.Error("no error was met: the test sees nothing")
	}
}

// TestRebuildFailsAtAnyStep lets a system call of a rebuild fail. Then an archive is in place that gives what it gave
// before, and a later rebuild succeeds. A failed one leaves no file.
func TestRebuildFailsAtAnyStep(t *testing.T) {
	t.Parallel()
	ro := newRotten(t)
	flipped := testkit.Read(t, ro.path)
	blocks := packedBlocks(flipped, "r1")
	flipped[blocks[len(blocks)-1]] ^= 1
	must(t, os.WriteFile(ro.path, flipped, 0o600))
	before := ro.check(openAt(t, ro.path, Options{ReadOnly: true}))
	if before.refused == 0 || before.right == 0 {
		t.Fatalf("the damage was not met: %+v", before)
	}
	calls := []string{"pwrite64", "ftruncate", "fdatasync", "fsync", "linkat", "renameat", "flock"}
	all := failures(calls, []string{"error=EIO", "error=ENOSPC", sigkill}, 1, 2, 3, 4, 5, 6)
	// The last two are always tried: the first of them stops the rebuild, and the other one comes too late.
	cases := append(testkit.Sample(t, all, 1), failure{"renameat", "error=EIO", 1}, failure{"renameat", "error=EIO", 99})
	stopped := 0
	for _, f := range cases {
		must(t, os.WriteFile(ro.path, flipped, 0o600))
		if _, err := f.strike(t, "rebuild", ro.path); err != nil {
			stopped++
		}
		if o := ro.check(openAt(t, ro.path, Options{ReadOnly: true})); o.wrong > 0 || o.right < before.right {
			t.Errorf("%v: %+v, before %+v", f, o, before)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(ro.path), ".ccd-*")); len(left) > 0 && f.fault != sigkill {
			t.Errorf("%v: left: %q", f, left)
		}
		a := openAt(t, ro.path, Options{})
		if _, err := rebuild(t.Context(), a); err != nil {
			t.Errorf("%v: rebuilt again: %v", f, err)
		}
		if o := ro.check(a); o.wrong > 0 || o.right < before.right {
			t.Errorf("%v: rebuilt again: %+v, before %+v", f, o, before)
		}
		other, _ := filepath.Glob(filepath.Join(filepath.Dir(ro.path), "*.damaged-*"))
		more, _ := filepath.Glob(filepath.Join(filepath.Dir(ro.path), ".ccd-*"))
		for _, p := range append(other, more...) {
			must(t, os.Remove(p))
		}
	}
	if t.Logf("%d runs with a fault, %d of them stopped", len(cases), stopped); stopped == 0 || stopped == len(cases) {
		t.Error("the faults came too early or too late")
	}
}
