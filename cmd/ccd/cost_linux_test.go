package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ccd/compactor/sidecar"
	"ccd/daemon"
	"ccd/internal/testkit"
	"ccd/internal/testkit/gen"
)

// costly is a home in which processes of ccd are measured.
type costly struct {
	t    *testing.T
	home string
	ccd  string
}

func newCostly(t *testing.T) costly {
	t.Helper()
	return costly{t, t.TempDir(), programPath}
}

// start starts ccd with these arguments. Entries of more are added to its environment.
func (c costly) start(stdin string, more []string, args ...string) *exec.Cmd {
	c.t.Helper()
	cmd := exec.Command(c.ccd, args...)
	cmd.Env = append([]string{
		"HOME=" + c.home, "PATH=" + os.Getenv("PATH"), "CCD_WATCH_SETTLE=50ms", "CCD_COMPANION_REFRESH_IDLE=500ms", "CCD_TRIGGER_THRESHOLD=1",
	}, more...)
	cmd.Stdin = strings.NewReader(stdin)
	must(c.t, cmd.Start())
	return cmd
}

// daemon starts ccd run, until the test ends.
func (c costly) daemon(more ...string) *exec.Cmd {
	c.t.Helper()
	cmd := c.start("", more, "run")
	c.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	return cmd
}

// whole returns how many bytes a command read and wrote until it ended.
func (c costly) whole(cmd *exec.Cmd) (read, written int64) {
	c.t.Helper()
	// its counters are there until somebody waits for it
	must(c.t, unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil))
	read, written = c.io(cmd)
	must(c.t, cmd.Wait())
	return read, written
}

// once runs a first pass and returns how many bytes it wrote.
func (c costly) once() (written int64) {
	c.t.Helper()
	_, written = c.whole(c.start("", nil, "run", "--once", "-q"))
	return written
}

// io returns how many bytes a process has read and written, with read(2) and write(2).
func (c costly) io(cmd *exec.Cmd) (read, written int64) {
	c.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", cmd.Process.Pid))
	if err == nil {
		_, err = fmt.Sscanf(string(text), "rchar: %d\nwchar: %d", &read, &written)
	}
	must(c.t, err)
	return read, written
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

// live is a session in such a home.
type live struct {
	costly
	path  string
	text  bytes.Buffer
	lines int // that were appended
}

func newLive(t *testing.T, size int64) *live {
	t.Helper()
	l := &live{costly: newCostly(t)}
	l.path = filepath.Join(l.home, ".claude", "projects", "-home-me-ledger", "5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b.jsonl")
	err := gen.Write(&l.text, gen.Claude, 1, size)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(l.path), 0o700)
	}
	if err == nil {
		err = os.WriteFile(l.path, l.text.Bytes(), 0o600)
	}
	must(t, err)
	return l
}

// grow appends a message of 2 KB, and returns its size in bytes.
func (l *live) grow() int64 {
	l.t.Helper()
	l.lines++
	line := fmt.Sprintf(`{"type":"assistant","uuid":"w%d","timestamp":"2026-11-20T13:51:%02d.000Z","message":{"role":"assistant","content":[{"type":"text","text":"%d%s"}]}}`+"\n",
		l.lines, l.lines, l.lines, strings.Repeat(" The ledger keeps its totals in cents.", 49))
	l.text.WriteString(line)
	testkit.Append(l.t, l.path, line)
	return int64(len(line))
}

// covered reports whether the session's companion covers all of it.
func (l *live) covered() bool {
	made, err := os.ReadFile(strings.TrimSuffix(l.path, ".jsonl") + sidecar.Suffix)
	return err == nil && bytes.Contains(made, fmt.Appendf(nil, "sha256: %x", sha256.Sum256(l.text.Bytes())))
}

// TestCostOfAnAppend: 2 KB that are appended to a live session, and the companion that then covers them, cost few bytes.
func TestCostOfAnAppend(t *testing.T) {
	testkit.Long(t, "it measures")
	l := newLive(t, 1<<20)
	l.once()
	running := l.daemon()
	grow := func() (read, written int64) {
		beforeRead, beforeWritten := l.io(running)
		n := l.grow()
		testkit.Eventually(t, "the companion covers all", l.covered)
		read, written = l.io(running)
		return read - beforeRead - n, written - beforeWritten
	}
	grow() // it reads the session first
	grow()
	const most = 3 * 64 << 10 // beside the new bytes: each transaction opens the archive; 47 KB an append were measured
	var reads, writes int64
	for range 3 {
		read, written := grow()
		reads, writes = reads+read, writes+written-l.size(".claude", sidecar.Suffix)
	}
	t.Logf("%d bytes read, %d written beside the companion", reads/3, writes/3)
	if reads > most {
		t.Errorf("3 appends read %d bytes beside the new ones, at most %d are expected", reads, most)
	}
	if writes > 3*100<<10 {
		t.Errorf("3 appends wrote %d bytes beside the companion", writes)
	}
}

// TestCostOfAFirstPass: what a first pass writes, and what the archive takes, per byte of the transcripts.
func TestCostOfAFirstPass(t *testing.T) {
	testkit.Long(t, "it measures")
	c := newCostly(t)
	must(t, gen.Tree(c.home, 1, 12<<20))
	raw := float64(c.size("", ""))
	written := float64(c.once()-c.size("", sidecar.Suffix)) / raw
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
	if raceEnabled {
		t.Skip("the race detector takes several times the memory")
	}
	c := newCostly(t)
	must(t, gen.Tree(c.home, 1, 24<<20))
	running := c.daemon()
	testkit.Eventually(t, "the daemon has caught up", func() bool {
		info, ok, err := daemon.ReadRun(filepath.Join(c.home, ".local", "state", "ccd"))
		return err == nil && ok && !info.LastPass.IsZero() && info.CatchUp == nil
	})
	text := read(t, fmt.Sprintf("/proc/%d/status", running.Process.Pid))
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	var peak int // resident KB, of which the program and the mapped archive are about 30,000
	if _, err := fmt.Sscan(after, &peak); err != nil {
		t.Fatal(err)
	}
	if t.Logf("%d KB", peak); peak > 100_000 {
		t.Errorf("a peak of %d KB; 75,000 were measured", peak)
	}
}
