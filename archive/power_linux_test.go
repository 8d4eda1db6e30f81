package archive

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ccd/internal/testkit"
)

// machine is a small ext4 in a file. It writes nothing by itself for a long time, so a copy of the file has what was
// synced, as a disk has after a power cut.
type machine struct {
	dir   string
	image string
	cuts  int
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOTICE: mounting a file system needs root")
	}
	m := &machine{dir: t.TempDir(), image: filepath.Join(t.TempDir(), "disk0")}
	must(t, os.WriteFile(m.image, nil, 0o600))
	must(t, os.Truncate(m.image, 64<<20))
	if out, err := exec.Command("mkfs.ext4", "-q", "-F", m.image).CombinedOutput(); err != nil {
		t.Skipf("NOTICE: no ext4: %v, %s", err, out)
	}
	m.mount(t)
	t.Cleanup(func() { m.remove(t) })
	return m
}

func (m *machine) mount(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("mount", "-t", "ext4", "-o", "loop,commit=1000", m.image, m.dir).CombinedOutput(); err != nil {
		t.Skipf("NOTICE: no loop device: %v, %s", err, out)
	}
}

// remove unmounts the disk, and removes it, because many of them are large.
func (m *machine) remove(t *testing.T) {
	if err := unix.Unmount(m.dir, 0); err != nil {
		t.Logf("unmount: %v", err)
		_ = unix.Unmount(m.dir, unix.MNT_DETACH)
	}
	_ = os.Remove(m.image)
}

// cut replaces the disk by a copy of what it has at this moment. What was only in memory is lost.
func (m *machine) cut(t *testing.T) {
	t.Helper()
	m.cuts++
	now := filepath.Join(filepath.Dir(m.image), fmt.Sprint("disk", m.cuts))
	if out, err := exec.Command("cp", "--sparse=always", m.image, now).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v, %s", err, out)
	}
	for end := time.After(20 * time.Second); ; { // a tracer may still end, which keeps the disk busy
		out, err := exec.Command("umount", m.dir).CombinedOutput()
		if err == nil {
			break
		}
		select {
		case <-end:
			t.Fatalf("umount: %v, %s", err, out)
		case <-time.After(100 * time.Millisecond):
		}
	}
	must(t, os.Remove(m.image))
	m.image = now
	m.mount(t)
}

// powerCuts kills a writer at random moments and cuts the power, up to n times. It returns what was acknowledged and is
// lost, and the number of cuts. tracer, if any, runs the writer.
func powerCuts(t *testing.T, n int, tracer ...string) (lost []string, cuts, acked int) {
	t.Helper()
	m := newMachine(t)
	path := filepath.Join(m.dir, "archive.db")
	exe, err := os.Executable()
	must(t, err)
	r := rand.New(rand.NewPCG(7, uint64(time.Now().UnixNano())))
	data := newCrashData()
	var said []string
	for i := range n {
		argv := append(tracer[:len(tracer):len(tracer)], exe)
		c := exec.Command(argv[0], argv[1:]...)
		c.Env = []string{fmt.Sprintf("%s=write %s %d", childEnv, path, i), "HOME=" + t.TempDir()}
		c.WaitDelay = 10 * time.Second
		out, err := c.StdoutPipe()
		must(t, err)
		must(t, c.Start())
		said = append(said, killed(c, out, time.Duration(r.IntN(100_000))*time.Microsecond)...)
		m.cut(t)
		if lost := data.lost(t, path, said); len(lost) > 0 {
			return lost, i + 1, len(said)
		}
	}
	return nil, n, len(said)
}

// TestPowerCut: the disk has everything that was acknowledged, whatever was in memory only.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	cuts, acked := 0, 0
	for n := testkit.Cases(t, 2, 40); cuts < n; { // after some more cuts, the writer would have written everything
		lost, some, said := powerCuts(t, min(n-cuts, 8))
		if cuts, acked = cuts+some, acked+said; len(lost) > 0 {
			t.Fatalf("cut %d: lost: %q", cuts, lost)
		}
	}
	t.Logf("%d power cuts, %d acknowledgements, none lost", cuts, acked)
}

// TestPowerCutSeesMissingSyncs is the control: strace skips the writer's syncs and returns success.
func TestPowerCutSeesMissingSyncs(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	if err := exec.Command(strace, "-qq", "-o", "/dev/null", "true").Run(); err != nil {
		t.Skip("strace may not trace here")
	}
	lost, cuts, _ := powerCuts(t, 20, strace, "-D", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:retval=0")
	if len(lost) == 0 {
		t.Errorf("a writer without syncs lost nothing in %d power cuts: the test sees nothing", cuts)
	}
	t.Logf("caught after %d cuts", cuts)
}
