//go:build rig

package bench

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/internal/testkit/gen"
)

// searches are what BenchmarkSearch looks for: nothing; what stands in a few places, in many,
// and nearly everywhere; what one tool did. All of it is looked through, but for the first hit.
var searches = []struct {
	name string
	args []string
}{
	{"a word that stands nowhere", []string{"zzqxqzz"}},
	{"a phrase that stands nowhere", []string{"return the zzqxqzz"}},
	{"two letters that stand nowhere together", []string{"qz", "zq"}},
	{"a rare word, every hit", []string{"--limit", "0", "assertionerror"}},
	{"a common word, every hit", []string{"--limit", "0", "context.context"}},
	{"every edit", []string{"--limit", "0", "--tool", "edit"}},
}

// BenchmarkSearch measures `ccd search --all` over an archive of invented transcripts, with its output discarded, against
// `rg -F -c` for an absent word, or grep, over their files in the page cache. $CCD_BENCH_BYTES is the size of the transcripts (200MB),
// $CCD_BENCH_ROUNDS the number of rounds (3).
func BenchmarkSearch(b *testing.B) {
	home, bin, state := b.TempDir(), built(b), b.TempDir()
	size, err := humanize.ParseBytes(env("CCD_BENCH_BYTES", "200MB"))
	if err == nil {
		err = gen.Tree(home, 1, int64(size))
	}
	if err != nil {
		b.Fatal(err)
	}
	rounds, err := strconv.Atoi(env("CCD_BENCH_ROUNDS", "3"))
	if err != nil {
		b.Fatal(err)
	}
	s := searched{bin: bin, env: []string{"HOME=" + home, "XDG_STATE_HOME=" + state, "PATH=" + os.Getenv("PATH")}}
	before := transcripts(b, home)
	raw := floor(b, home).raw
	s.run(b, "run", "--once", "-q")
	removeOthers(b, home, before)
	var floors []cost
	all := make([][]cost, len(searches)+1)
	for b.Loop() {
		for range rounds {
			floors = append(floors, scan(b, home))
			for i, one := range searches {
				c, _ := s.run(b, append([]string{"search", "--all"}, one.args...)...)
				all[i] = append(all[i], c)
			}
			_, first := s.run(b, "search", "return")
			all[len(searches)] = append(all[len(searches)], cost{wall: first})
		}
	}
	floor := median(floors)
	b.Logf("\n| %.0f MB of transcripts | seconds wall | CPU | of the scan, wall | CPU | peak anonymous |\n|---|---|---|---|---|---|\n"+
		"| a scan of the files | %.2f | %.2f | | | |", float64(raw)/1e6, floor.wall.Seconds(), floor.cpu.Seconds())
	for i, one := range searches {
		c := median(all[i])
		b.Logf("| %s | %.2f | %.2f | %.2f | %.2f | %.0f MB |", one.name, c.wall.Seconds(), c.cpu.Seconds(),
			c.wall.Seconds()/floor.wall.Seconds(), c.cpu.Seconds()/floor.cpu.Seconds(), float64(c.anonymous)/1e6)
	}
	first := median(all[len(searches)]).wall
	b.Logf("first hit of a common word: %d ms", first.Milliseconds())
	nothing := median(all[0])
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(nothing.wall.Seconds()/floor.wall.Seconds(), "of-scan-wall")
	b.ReportMetric(nothing.cpu.Seconds()/floor.cpu.Seconds(), "of-scan-cpu")
	b.ReportMetric(float64(first.Milliseconds()), "ms-first")
}

// searched is a home with its archive.
type searched struct {
	bin string
	env []string
}

// run runs a command and throws its output away; first is when its first byte came. That a search finds nothing is no
// failure.
func (s searched) run(b *testing.B, args ...string) (c cost, first time.Duration) {
	b.Helper()
	cmd := exec.Command(s.bin, args...)
	cmd.Env = s.env
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	read := make(chan time.Duration, 1)
	go func() {
		_, _ = io.ReadFull(out, make([]byte, 1))
		read <- time.Since(begin)
		_, _ = io.Copy(io.Discard, out)
	}()
	c.watch(b, cmd.Process.Pid)
	first = <-read
	err = cmd.Wait()
	c.wall, c.cpu = time.Since(begin), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 3 && args[0] == "search") {
		b.Fatalf("ccd %q: %v\n%s", args, err, said.Bytes())
	}
	return c, first
}

// scan searches the transcripts for a word that stands nowhere: with ripgrep or, without it, grep.
func scan(b *testing.B, home string) (c cost) {
	b.Helper()
	cmd := exec.Command("rg", "-uuu", "-F", "-c", "zzqxqzz", home)
	if cmd.Err != nil {
		cmd = exec.Command("grep", "-r", "-F", "-c", "zzqxqzz", home)
	}
	cmd.Env = []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH")}
	begin := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		b.Fatal(err)
	}
	c.wall, c.cpu = time.Since(begin), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	return c
}
