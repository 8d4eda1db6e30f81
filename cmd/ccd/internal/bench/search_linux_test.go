//go:build rig

package bench

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sys/unix"

	"ccd/compactor/companion"
	"ccd/internal/testkit"
	"ccd/internal/testkit/gen"
)

// searches are what BenchmarkSearch looks for: nothing; what stands in a few places, in many,
// and nearly everywhere; what one tool did. All of it is looked through.
var searches = []struct {
	name string
	args []string
}{
	{"an absent word", []string{"zzqxqzz"}},
	{"an absent phrase", []string{"return the zzqxqzz"}},
	{"an absent pair of letters", []string{"qz", "zq"}},
	{"a rare word, every hit", []string{"--limit", "0", "assertionerror"}},
	{"a common word, every hit", []string{"--limit", "0", "context.context"}},
	{"every edit", []string{"--limit", "0", "--tool", "edit"}},
}

// cost is what a process took: processor time, and the peak of anonymous memory in bytes, sampled.
type cost struct {
	cpu       time.Duration
	anonymous int64
}

// setUp returns a home with $CCD_BENCH_BYTES of invented transcripts, ccd as it is built from this tree, and the number of bytes.
func setUp(b *testing.B) (home, bin string, size uint64) {
	b.Helper()
	home, bin = b.TempDir(), filepath.Join(b.TempDir(), "ccd")
	if out, err := exec.Command("go", "build", "-o", bin, "ccd/cmd/ccd").CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	size, err := humanize.ParseBytes(cmp.Or(os.Getenv("CCD_BENCH_BYTES"), "200MB"))
	if err == nil {
		err = gen.Tree(home, 1, int64(size))
	}
	testkit.Must(b, err)
	return home, bin, size
}

// BenchmarkSearch measures `ccd search --all` over an archive of $CCD_BENCH_BYTES (200MB) of invented transcripts, with its
// output discarded, against `rg -F -c` for an absent word, or grep, over their files in the page cache. Each figure is
// the median of three rounds.
func BenchmarkSearch(b *testing.B) {
	home, bin, _ := setUp(b)
	env := []string{"HOME=" + home, "XDG_STATE_HOME=" + b.TempDir(), "PATH=" + os.Getenv("PATH")}
	run(b, env, 0, bin, "run", "--once", "-q")
	raw := removeCompanions(b, home)
	program := []string{"rg", "-uuu", "-F", "-c", "zzqxqzz", home}
	if _, err := exec.LookPath("rg"); err != nil {
		program = []string{"grep", "-r", "-F", "-c", "zzqxqzz", home}
	}
	var scans []cost
	all := make([][]cost, len(searches))
	for b.Loop() {
		for range 3 {
			scans = append(scans, run(b, []string{"LC_ALL=C", env[2]}, 1, program...))
			for i, one := range searches {
				all[i] = append(all[i], run(b, env, 3, append([]string{bin, "search", "--all"}, one.args...)...))
			}
		}
	}
	scan := median(scans).cpu.Seconds()
	var table strings.Builder
	fmt.Fprintf(&table, "\n| %.0f MB of transcripts | CPU s | of the scan's CPU | peak of anonymous memory |\n|---|---|---|---|\n"+
		"| a scan of the files | %.2f | 1 | |\n", float64(raw)/1e6, scan)
	for i, one := range searches {
		c := median(all[i])
		fmt.Fprintf(&table, "| %s | %.2f | %.1f | %.0f MB |\n", one.name, c.cpu.Seconds(), c.cpu.Seconds()/scan, float64(c.anonymous)/1e6)
	}
	b.Log(table.String())
	b.ReportMetric(0, "ns/op")
}

// removeCompanions leaves only transcripts below home and returns how many bytes they have.
func removeCompanions(b *testing.B, home string) (raw int64) {
	b.Helper()
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.Type().IsRegular():
			return err
		case strings.HasSuffix(path, companion.Suffix):
			return os.Remove(path)
		}
		info, err := d.Info()
		if err == nil {
			raw += info.Size()
		}
		return err
	})
	testkit.Must(b, err)
	return raw
}

// run runs a program and throws its output away. That it ends with the status none, having found nothing, is no failure.
func run(b *testing.B, env []string, none int, program ...string) (c cost) {
	b.Helper()
	cmd := exec.Command(program[0], program[1:]...)
	var said bytes.Buffer
	cmd.Env, cmd.Stderr = env, &said
	testkit.Must(b, cmd.Start())
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		c.anonymous = max(c.anonymous, anonymous(cmd.Process.Pid))
		var info unix.Siginfo // of a process that has ended, and is still there to be waited for
		testkit.Must(b, unix.Waitid(unix.P_PID, cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil))
		if info.Signo != 0 {
			break
		}
	}
	err := cmd.Wait()
	c.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == none) {
		b.Fatalf("%q: %v\n%s", program, err, said.Bytes())
	}
	return c
}

// anonymous is the anonymous memory of a process.
func anonymous(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := bytes.Cut(text, []byte("\nRssAnon:"))
	words := bytes.Fields(after)
	if len(words) == 0 {
		return 0 // it has ended
	}
	kb, _ := strconv.ParseInt(string(words[0]), 10, 64)
	return kb * 1024
}

// median returns the processor time in the middle, with the worst memory of all.
func median(rounds []cost) cost {
	slices.SortFunc(rounds, func(a, b cost) int { return int(a.cpu - b.cpu) })
	m := rounds[len(rounds)/2]
	for _, r := range rounds {
		m.anonymous = max(m.anonymous, r.anonymous)
	}
	return m
}
