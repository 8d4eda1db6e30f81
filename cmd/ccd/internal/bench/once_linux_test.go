//go:build rig

package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"

	"ccd/archive"
)

// cost is what one pass over all transcripts took.
type cost struct {
	wall, cpu    time.Duration
	stored       int64 // bytes of the archive file; of the floor, compressed bytes
	written      int64 // bytes given to write(2)
	resident     int64 // peak, bytes
	anonymous    int64 // peak, bytes, sampled
	raw          int64
	wallMB, cpuM float64 // MB of raw bytes a second
}

func env(key, otherwise string) string {
	if v := os.Getenv(key); v != "" {
		return v
	}
	return otherwise
}

// transcripts returns the files below home that ccd is to archive.
func transcripts(b *testing.B, home string) (paths []string) {
	b.Helper()
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return paths
}

// floor compresses every transcript in pieces of 1 MB and throws the result away.
func floor(b *testing.B, home string) (c cost) {
	b.Helper()
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		b.Fatal(err)
	}
	defer enc.Close()
	paths := transcripts(b, home)
	in, out := make([]byte, 1<<20), make([]byte, 0, 2<<20)
	begin, used := time.Now(), usedCPU(b)
	for _, p := range paths {
		f, err := os.Open(p)
		if err != nil {
			b.Fatal(err)
		}
		for {
			n, err := io.ReadFull(f, in)
			out = enc.EncodeAll(in[:n], out[:0])
			c.raw, c.stored = c.raw+int64(n), c.stored+int64(len(out))
			if err != nil {
				break
			}
		}
		f.Close()
	}
	c.wall, c.cpu = time.Since(begin), usedCPU(b)-used
	return c.rate()
}

// usedCPU is the processor time of this process so far.
func usedCPU(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// once runs ccd over home with a new state directory, on one core or as many as there are, and removes the companions that it
// wrote. durable, if not nil, is set to its processor time until the archive had every byte.
func once(b *testing.B, bin, home string, cores int, durable *time.Duration) (c cost) {
	b.Helper()
	before := transcripts(b, home)
	for _, p := range before {
		info, err := os.Stat(p)
		if err != nil {
			b.Fatal(err)
		}
		c.raw += info.Size()
	}
	state := b.TempDir()
	cmd := exec.Command(bin, "run", "--once", "-q")
	cmd.Env = []string{"HOME=" + home, "XDG_STATE_HOME=" + state, "PATH=" + os.Getenv("PATH")}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	begin := time.Now()
	if err := onCores(cores, cmd.Start); err != nil {
		b.Fatal(err)
	}
	if durable != nil {
		soon(b, "every byte is archived", func() bool {
			*durable = cpuOf(b, cmd.Process.Pid)
			return archived(state) >= c.raw || ended(b, cmd.Process.Pid)
		})
	}
	c.watch(b, cmd.Process.Pid)
	err := cmd.Wait()
	c.wall, c.cpu = time.Since(begin), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	if err != nil {
		b.Fatalf("ccd run --once: %v\n%s", err, said.Bytes())
	}
	for _, p := range transcripts(b, state) {
		if info, err := os.Stat(p); err == nil {
			c.stored += info.Size()
		}
	}
	removeOthers(b, home, before)
	return c.rate()
}

// onCores calls start, whose new process may use so many cores.
func onCores(cores int, start func() error) error {
	var old unix.CPUSet
	runtime.LockOSThread() // a child inherits what its thread may use
	defer runtime.UnlockOSThread()
	if err := unix.SchedGetaffinity(0, &old); err != nil {
		return err
	}
	var some unix.CPUSet
	for i := range 1024 {
		if old.IsSet(i) && some.Count() < cores {
			some.Set(i)
		}
	}
	if err := unix.SchedSetaffinity(0, &some); err != nil {
		return err
	}
	return errors.Join(start(), unix.SchedSetaffinity(0, &old))
}

// archived is how many bytes of transcripts an archive has.
func archived(state string) (n int64) {
	a, err := archive.Open(filepath.Join(state, "ccd", "archive.db"), archive.Options{ReadOnly: true})
	if err != nil {
		return 0
	}
	all, _ := a.Sessions(context.Background()) // not yet
	for _, s := range all {
		n += s.Tip().Offset
	}
	return n
}

// removeOthers removes the companions: the files below home that were not there before.
func removeOthers(b *testing.B, home string, before []string) {
	b.Helper()
	for _, p := range transcripts(b, home) {
		if !slices.Contains(before, p) {
			os.Remove(p)
		}
	}
}

// watch samples the memory of pid until it has ended, and then reads what it wrote: nobody has waited for it yet, so
// its counters are still there.
func (c *cost) watch(b *testing.B, pid int) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		status := proc(pid, "status")
		c.resident = max(c.resident, status["VmHWM"]*1024)
		c.anonymous = max(c.anonymous, status["RssAnon"]*1024)
		if ended(b, pid) {
			break
		}
	}
	c.written = proc(pid, "io")["wchar"]
}

// ended reports whether a child has ended. It is still there to be waited for.
func ended(b *testing.B, pid int) bool {
	var info unix.Siginfo
	if err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil); err != nil {
		b.Fatal(err)
	}
	return info.Signo != 0
}

// proc reads the numbers of a file of /proc/PID: kB of memory, or bytes.
func proc(pid int, name string) map[string]int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	all := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		key, val, _ := strings.Cut(line, ":")
		if words := strings.Fields(val); len(words) > 0 {
			all[key], _ = strconv.ParseInt(words[0], 10, 64)
		}
	}
	return all
}

func (c cost) rate() cost {
	c.wallMB = float64(c.raw) / 1e6 / c.wall.Seconds()
	c.cpuM = float64(c.raw) / 1e6 / c.cpu.Seconds()
	return c
}

// median returns the round whose wall time is in the middle, with the worst memory of all.
func median(rounds []cost) cost {
	slices.SortFunc(rounds, func(a, b cost) int { return int(a.wall - b.wall) })
	m := rounds[len(rounds)/2]
	for _, r := range rounds {
		m.resident, m.anonymous = max(m.resident, r.resident), max(m.anonymous, r.anonymous)
	}
	return m
}
