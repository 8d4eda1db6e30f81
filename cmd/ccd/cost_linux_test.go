package main

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ccd/compactor/companion"
	"ccd/daemon"
	"ccd/internal/testkit"
	"ccd/internal/testkit/gen"
)

// costly is a home in which processes of ccd are measured.
type costly struct {
	t    *testing.T
	home string
}

func (c costly) start(args ...string) *exec.Cmd {
	c.t.Helper()
	cmd := exec.Command(programPath, args...)
	cmd.Env = []string{"HOME=" + c.home, "PATH=" + os.Getenv("PATH"), "CCD_WATCH_SETTLE=50ms", "CCD_COMPANION_REFRESH_IDLE=500ms", "CCD_TRIGGER_THRESHOLD=1"}
	must(c.t, cmd.Start())
	return cmd
}

// once runs a first pass and returns how many bytes it wrote, with write(2).
func (c costly) once() (written int64) {
	c.t.Helper()
	cmd := c.start("run", "--once", "-q")
	// its counters are there until somebody waits for it
	must(c.t, unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil))
	_, counters, _ := strings.Cut(string(read(c.t, fmt.Sprintf("/proc/%d/io", cmd.Process.Pid))), "wchar: ")
	_, err := fmt.Sscan(counters, &written)
	must(c.t, err)
	must(c.t, cmd.Wait())
	return written
}

// size returns the bytes of the files below dir whose names end so.
func (c costly) size(dir, end string) (n int64) {
	c.t.Helper()
	err := filepath.WalkDir(filepath.Join(c.home, dir), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, end) {
			info, err := d.Info()
			n += info.Size()
			return err
		}
		return err
	})
	must(c.t, err)
	return n
}

// TestCostOfAFirstPass: what a first pass writes, and what the archive takes, per byte of the transcripts.
func TestCostOfAFirstPass(t *testing.T) {
	testkit.Long(t, "it measures")
	c := costly{t, t.TempDir()}
	must(t, gen.Tree(c.home, 1, 12<<20))
	raw := float64(c.size("", ""))
	written := float64(c.once()-c.size("", companion.Suffix)) / raw
	stored := float64(c.size(".local", "archive.db")) / raw
	t.Logf("%.3f written, %.3f stored, %d transactions", written, stored, c.transactions())
	if written > 0.50 || stored > 0.33 {
		t.Errorf("per byte: %.3f written and %.3f stored", written, stored)
	}
	if n := c.transactions(); n > 80 {
		t.Errorf("%d transactions", n)
	}
}

// transactions returns how many transactions the archive has seen: each waits twice for the disk. The number stands in
// the two meta pages of bbolt's file.
func (c costly) transactions() uint64 {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.home, ".local", "state", "ccd", "archive.db"))
	if err != nil || len(b) < 2*4096 {
		c.t.Fatal(len(b), err)
	}
	return max(binary.NativeEndian.Uint64(b[64:]), binary.NativeEndian.Uint64(b[4096+64:]))
}

// TestMemoryOfACatchUp: what a daemon takes at most for a home that it has never seen.
func TestMemoryOfACatchUp(t *testing.T) {
	testkit.Long(t, "it measures")
	c := costly{t, t.TempDir()}
	must(t, gen.Tree(c.home, 1, 24<<20))
	running := c.start("run")
	defer func() {
		_ = running.Process.Signal(os.Interrupt)
		_ = running.Wait()
	}()
	testkit.Eventually(t, "the daemon has caught up", func() bool {
		info, ok, err := daemon.ReadRun(filepath.Join(c.home, ".local", "state", "ccd"))
		return err == nil && ok && !info.LastPass.IsZero() && info.CatchUp == nil
	})
	_, after, _ := strings.Cut(string(read(t, fmt.Sprintf("/proc/%d/status", running.Process.Pid))), "VmHWM:")
	var peak int // resident KB, of which the program and the mapped archive are about 30,000
	if _, err := fmt.Sscan(after, &peak); err != nil {
		t.Fatal(err)
	}
	if t.Logf("%d KB", peak); peak > 100_000 {
		t.Errorf("a peak of %d KB; 75,000 were measured", peak)
	}
}
