//go:build rig

package bench

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"

	"ccd/internal/testkit"
)

// BenchmarkRatios measures ccd by processor time against zstd and sha256sum on the same bytes, $CCD_BENCH_BYTES (200MB) of invented
// transcripts, and against itself: each figure is the best of three rounds, and the two sides of a ratio alternate.
func BenchmarkRatios(b *testing.B) {
	if _, err := exec.LookPath("zstd"); err != nil {
		b.Skip("zstd is not installed")
	}
	home, bin, size := setUp(b)
	dir := b.TempDir()
	tar, packed := filepath.Join(dir, "all.tar"), filepath.Join(dir, "all.zst")
	run(b, nil, 0, "tar", "-C", home, "-cf", tar, ".")
	largest := largestTranscript(b, home)
	id := strings.TrimSuffix(filepath.Base(largest), ".jsonl")
	one, alone := filepath.Join(dir, "one.zst"), filepath.Join(dir, "alone")
	const growing = 2_000_000 // of it, in steps of 100 KB
	run(b, nil, 0, "zstd", "-q", "-1", "-o", one, largest)
	transcript, err := os.ReadFile(largest)
	if err == nil {
		err = os.MkdirAll(filepath.Join(alone, ".claude/projects/-w"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(alone, ".claude/projects/-w", id+".jsonl"), transcript[:min(growing, len(transcript))], 0o600)
	}
	testkit.Must(b, err)
	state := func() string { return "XDG_STATE_HOME=" + b.TempDir() }
	path := "PATH=" + os.Getenv("PATH")
	var pass, packs, again, restore, unpack, inside, live, single, list, search, start []float64
	best := func(all *[]float64, seconds float64) { *all = append(*all, seconds) }
	cpu := func(env []string, none int, program ...string) float64 {
		return run(b, env, none, program...).cpu.Seconds()
	}
	var kept string
	for b.Loop() {
		for range 3 {
			kept = state()
			env := []string{"HOME=" + home, kept, path}
			best(&pass, cpu(env, 0, bin, "run", "--once", "-q"))
			best(&packs, cpu(env, 0, "zstd", "-q", "-f", "-1", "-o", packed, tar))
			best(&again, cpu(env, 0, bin, "run", "--once", "-q"))
			best(&restore, cpu(env, 0, bin, "restore", "--session", id, "--force", "-o", filepath.Join(dir, "restored")))
			best(&unpack, cpu(env, 0, "zstd", "-q", "-d", "-f", "-o", filepath.Join(dir, "unpacked"), one)+cpu(env, 0, "sha256sum", filepath.Join(dir, "unpacked")))
			best(&inside, decode(b, one, dir))
			best(&single, cpu([]string{"HOME=" + alone, state(), path}, 0, bin, "run", "--once", "-q"))
			best(&list, cpu(env, 0, bin, "ls", "--all"))
			best(&search, cpu(env, 3, bin, "search", "--all", "zzqxqzz"))
			best(&start, cpu(env, 0, bin, "--version"))
		}
		best(&live, grow(b, bin, id, transcript[:min(growing, len(transcript))]))
	}
	least := func(all []float64) float64 {
		m := all[0]
		for _, one := range all {
			m = min(m, one)
		}
		return m
	}
	archive := sizeOf(b, filepath.Join(strings.TrimPrefix(kept, "XDG_STATE_HOME="), "ccd", "archive.db"))
	var table strings.Builder
	fmt.Fprintf(&table, "\n| %.0f MB of transcripts | ccd | other | ratio |\n|---|---|---|---|\n", float64(size)/1e6)
	row := func(what string, ours, other, ratio float64, unit string) {
		fmt.Fprintf(&table, "| %[1]s | %.3[2]g %[3]s | %.3[4]g %[3]s | %.2[5]f |\n", what, ours, unit, other, ratio)
	}
	row("a first pass, speed against `zstd -1` of a tar", least(pass), least(packs), least(packs)/least(pass), "s")
	row("the archive's file against that of `zstd -1`", archive/1e6, sizeOf(b, packed)/1e6, archive/sizeOf(b, packed), "MB")
	row("the same pass again, of the first", least(again), least(pass), least(again)/least(pass), "s")
	row(fmt.Sprintf("restore of %.1f MB, speed against `zstd -d` and `sha256sum`", float64(len(transcript))/1e6), least(restore), least(unpack), least(unpack)/least(restore), "s")
	row("the same, against decoding and SHA-256 within one process", least(restore), least(inside), least(inside)/least(restore), "s")
	row("2 MB of it, growing by 100 KB, against one pass", least(live), least(single), least(live)/least(single), "s")
	row("search for an absent word, against ls", least(search), least(list), least(search)/least(list), "s")
	row("`ccd --version`, of the first pass", least(start), least(pass), least(start)/least(pass), "s")
	b.Log(table.String())
	b.ReportMetric(0, "ns/op")
}

// decode decodes a file, hashes it and writes it, as restore does, and returns the processor time in seconds.
func decode(b *testing.B, packed, dir string) float64 {
	var before, after unix.Rusage
	testkit.Must(b, unix.Getrusage(unix.RUSAGE_SELF, &before))
	in, err := os.ReadFile(packed)
	testkit.Must(b, err)
	d, err := zstd.NewReader(nil)
	testkit.Must(b, err)
	defer d.Close()
	raw, err := d.DecodeAll(in, nil)
	testkit.Must(b, err)
	sha256.Sum256(raw)
	testkit.Must(b, os.WriteFile(filepath.Join(dir, "decoded"), raw, 0o600))
	testkit.Must(b, unix.Getrusage(unix.RUSAGE_SELF, &after))
	return float64(after.Utime.Nano()+after.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano()) / 1e9
}

// grow has a daemon follow a transcript that grows in steps of 100 KB, and returns its processor time in seconds.
func grow(b *testing.B, bin, id string, transcript []byte) float64 {
	home := b.TempDir()
	file := filepath.Join(home, ".claude/projects/-w", id+".jsonl")
	env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	testkit.Must(b, os.MkdirAll(filepath.Dir(file), 0o700))
	daemon := exec.Command(bin, "run", "-q")
	daemon.Env = env
	testkit.Must(b, daemon.Start())
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	testkit.Must(b, err)
	defer f.Close()
	const step = 100_000
	for at := 0; at < len(transcript); at += step {
		end := min(len(transcript), at+step)
		if _, err := f.Write(transcript[at:end]); err != nil {
			b.Fatal(err)
		}
		lines := strings.LastIndexByte(string(transcript[:end]), '\n') + 1
		testkit.Eventually(b, "the archive has the step", func() bool {
			<-time.After(100 * time.Millisecond) // the daemon is measured, not this
			cmd := exec.Command(bin, "ls", "--all", "--json")
			cmd.Env = env
			out, _ := cmd.Output()
			var all []struct{ Bytes int }
			return lines == 0 || json.Unmarshal(out, &all) == nil && len(all) == 1 && all[0].Bytes >= lines
		})
	}
	_ = daemon.Process.Signal(os.Interrupt)
	_ = daemon.Wait() // with the status of an interrupt
	return (daemon.ProcessState.UserTime() + daemon.ProcessState.SystemTime()).Seconds()
}

func largestTranscript(b *testing.B, home string) (largest string) {
	b.Helper()
	most := 0.0
	err := filepath.WalkDir(filepath.Join(home, ".claude"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".jsonl") && !strings.Contains(path, "subagents") {
			if n := sizeOf(b, path); n > most {
				largest, most = path, n
			}
		}
		return err
	})
	testkit.Must(b, err)
	return largest
}

func sizeOf(b *testing.B, path string) float64 {
	b.Helper()
	info, err := os.Stat(path)
	testkit.Must(b, err)
	return float64(info.Size())
}
