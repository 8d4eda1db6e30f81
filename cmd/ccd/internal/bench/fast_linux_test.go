//go:build rig

package bench

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/klauspost/compress/zstd"

	"ccd/internal/testkit/gen"
)

// source is where transcripts come from.
type source struct {
	name    string
	session func(size int) []byte // whole lines of one session of Claude Code
	tree    func(home string) error
	large   int // bytes of the largest session whose PreCompact is measured
}

// BenchmarkFast prints the goals of docs/PERFORMANCE.md with a figure for each: over invented transcripts of
// $CCD_BENCH_BYTES (200MB), and over those of $CCD_BENCH_CORPUS (../shared/corpus) if it is there.
func BenchmarkFast(b *testing.B) {
	size, err := humanize.ParseBytes(env("CCD_BENCH_BYTES", "200MB"))
	if err != nil {
		b.Fatal(err)
	}
	bin, all := built(b), []source{generator(b, int64(size))}
	real, err := realOnes()
	if err != nil {
		b.Logf("no real transcripts: %v", err)
	} else {
		all = append(all, real)
	}
	for b.Loop() {
		for _, from := range all {
			t := newGoals()
			growing(b, t, bin, from)
			refreshed(b, t, bin, from)
			firstPass(b, t, bin, from)
			printed(b, t, bin, from)
			b.Logf("%s\n%s", from.name, t.text())
		}
	}
	b.ReportMetric(0, "ns/op")
}

func generator(b *testing.B, size int64) source {
	return source{
		name: "Invented transcripts (internal/testkit/gen)", large: 500e6,
		session: func(size int) []byte {
			var text bytes.Buffer
			if err := gen.Write(&text, gen.Claude, 1, int64(size)); err != nil {
				b.Fatal(err)
			}
			return text.Bytes()
		},
		tree: func(home string) error { return gen.Tree(home, 1, size) },
	}
}

// realOnes are the transcripts of ../shared/corpus. A session is those of Claude Code one after the other, again and again.
func realOnes() (source, error) {
	corpus := env("CCD_BENCH_CORPUS", filepath.Join("..", "..", "..", "..", "..", "shared", "corpus"))
	files, err := filepath.Glob(filepath.Join(corpus, "c[lo][ad]*", "*.jsonl")) // claude and codex
	if err != nil || len(files) == 0 {
		return source{}, fmt.Errorf("read %s: %w", corpus, errors.Join(err, os.ErrNotExist))
	}
	home, joined := map[string][]byte{}, []byte(nil)
	for i, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return source{}, err
		}
		if filepath.Base(filepath.Dir(f)) == "claude" {
			joined = append(joined, bytes.TrimRight(text, "\n")...)
			joined = append(joined, '\n')
			home[filepath.Join(".claude", "projects", fmt.Sprint("-work-", i%3), filepath.Base(f))] = text
		} else {
			home[filepath.Join(".codex", "sessions", "2026", "01", "02", filepath.Base(f))] = text
		}
	}
	return source{
		name: "Real transcripts (../shared/corpus)", large: 100e6,
		session: func(size int) []byte {
			text := bytes.Repeat(joined, size/len(joined)+1)
			return text[:size+bytes.IndexByte(text[size:], '\n')+1]
		},
		tree: func(dir string) error {
			for name, text := range home {
				err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700)
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}, nil
}

const growth = 100_000 // bytes by which a growing session grows

// growing measures a session that grows to 16 MB under the daemon.
func growing(b *testing.B, t *goals, bin string, from source) {
	text := from.session(16e6)
	s := newLive(b, bin, b.TempDir())
	end := s.run("3s")
	defer end()
	var quarters []time.Duration
	for i := range 4 {
		before := cpuOf(b, s.cmd.Process.Pid)
		for s.size < int64(len(text)*(i+1)/4) {
			next := text[s.size:]
			if len(next) > growth {
				next = next[:growth+bytes.IndexByte(next[growth:], '\n')+1]
			}
			s.grow(next)
			s.archivedAll()
		}
		if i == 3 {
			soon(b, "the companion covers all", s.covered)
		}
		quarters = append(quarters, cpuOf(b, s.cmd.Process.Pid)-before)
	}
	whole := newLive(b, bin, b.TempDir())
	whole.grow(text)
	pass := ccd(b, bin, whole.home, "run", "--once", "-q")
	var all time.Duration
	for _, q := range quarters {
		all += q
	}
	t.most("a session growing to 16 MB in 100 KB steps, CPU against one pass", 4, all.Seconds()/pass.Seconds(), "x")
	t.most(fmt.Sprintf("its last quarter against its second (%.2f, %.2f, %.2f, %.2f s)", quarters[0].Seconds(), quarters[1].Seconds(), quarters[2].Seconds(), quarters[3].Seconds()),
		1.3, quarters[3].Seconds()/quarters[1].Seconds(), "x")
}

// refreshed measures the daemon after small changes to sessions of several sizes, and PreCompact.
func refreshed(b *testing.B, t *goals, bin string, from source) {
	more := from.session(1e6)
	var small time.Duration // for 1 MB at 5 MB
	var reads []time.Duration
	for _, size := range []int{5e6, 20e6, 80e6, 100e6, 500e6} {
		if size > from.large {
			continue
		}
		s := newArchived(b, bin, from.session(size))
		name := fmt.Sprintf("%d MB", size/1e6)
		end := s.run("1s")
		s.after(s.say) // it reads the session first
		if size <= 80e6 {
			var cpu []time.Duration
			for range 5 {
				did := s.after(s.say)
				cpu, reads = append(cpu, did.cpu), append(reads, time.Duration(did.read))
			}
			t.time("refresh after 2 KB, "+name+", CPU", 15*time.Millisecond, middle(cpu))
		}
		if size == 5e6 || size == 100e6 {
			var cpu []time.Duration
			for range 3 {
				cpu = append(cpu, s.after(func() { s.grow(more) }).cpu)
			}
			if took := middle(cpu); size == 5e6 {
				small = took
			} else {
				t.most("1 MB appended, CPU: 100 MB against 5 MB", 1.3, took.Seconds()/small.Seconds(), "x")
			}
		}
		end()
		if size >= 100e6 {
			end := s.run("10s") // longer than the hook waits: it is the hook that makes the companion current
			s.after(s.say)
			var walls []time.Duration
			fresh := 0
			for range 3 {
				s.say()
				walls = append(walls, s.preCompact())
				if s.covered() {
					fresh++
				}
				soon(b, "the companion covers all", s.covered)
			}
			end()
			t.time("PreCompact with a daemon, "+name, 300*time.Millisecond, middle(walls))
			t.least("the companion covers all when it ends, "+name+", of 3", 3, float64(fresh), "")
		}
		if err := os.RemoveAll(s.home); err != nil {
			b.Fatal(err)
		}
	}
	t.most("bytes read for 2 KB appended", 4, float64(middle(reads))/1000, "KB")
}

// preCompact calls the hook as an agent does, and returns how long it took.
func (s *live) preCompact() time.Duration {
	s.b.Helper()
	begin := time.Now()
	if out, err := s.hook().CombinedOutput(); err != nil {
		s.b.Fatalf("PreCompact: %v\n%s", err, out)
	}
	return time.Since(begin)
}

// quickest returns the round that another program on the machine disturbed least.
func quickest(rounds []cost) cost {
	return slices.MinFunc(rounds, func(a, b cost) int { return cmp.Compare(a.wall, b.wall) })
}

// firstPass measures run --once over many transcripts against zstd and ccusage.
func firstPass(b *testing.B, t *goals, bin string, from source) {
	home := b.TempDir()
	if err := from.tree(home); err != nil {
		b.Fatal(err)
	}
	rounds, err := strconv.Atoi(env("CCD_BENCH_ROUNDS", "3"))
	if err != nil {
		b.Fatal(err)
	}
	var floors, ones, alls []cost
	var durables []time.Duration
	for range rounds {
		floors = append(floors, floor(b, home))
		ones = append(ones, once(b, bin, home, 1, nil))
		var d time.Duration
		once(b, bin, home, 1, &d)
		durables = append(durables, d)
		alls = append(alls, once(b, bin, home, 2, nil))
	}
	bare, one, all := quickest(floors), quickest(ones), quickest(alls)
	size := fmt.Sprintf("%.0f MB", float64(one.raw)/1e6)
	t.least("run --once, "+size+", against zstd -1, one core, CPU", 0.18, bare.cpu.Seconds()/one.cpu.Seconds(), "x")
	t.least("the same until everything is durable", 0.30, bare.cpu.Seconds()/slices.Min(durables).Seconds(), "x")
	if runtime.NumCPU() < 2 {
		t.skip("two cores against one", "≥ 1.7 x", "this machine has one")
	} else {
		t.least("two cores against one", 1.7, one.wall.Seconds()/all.wall.Seconds(), "x")
	}
	if took, err := ccusage(home); err != nil {
		t.skip("speed against ccusage", "≥ 3 x", err.Error())
	} else {
		t.least("speed against ccusage", 3, took.Seconds()/all.wall.Seconds(), "x")
	}
	t.most("bytes written, of raw ones", 0.40, float64(all.written)/float64(all.raw), "")
	t.most("archive, of raw bytes", 0.25, float64(all.stored)/float64(all.raw), "")
	t.most("peak of anonymous memory", 80, float64(all.anonymous)/1e6, "MB")
}

// ccusage returns how long an installed ccusage takes for the same transcripts.
func ccusage(home string) (time.Duration, error) {
	args := []string{"ccusage"}
	if _, err := exec.LookPath("ccusage"); err != nil {
		args = []string{"npx", "--offline", "--no-install", "ccusage"}
	}
	run := func(more ...string) error {
		cmd := exec.Command(args[0], append(args[1:], more...)...)
		cmd.Env = append(os.Environ(), "CLAUDE_CONFIG_DIR="+filepath.Join(home, ".claude"))
		return cmd.Run()
	}
	if err := run("--version"); err != nil {
		return 0, errors.New("it is not installed")
	}
	begin := time.Now()
	err := run("daily", "--offline")
	return time.Since(begin), err
}

// printed measures what prints a session of 50 MB.
func printed(b *testing.B, t *goals, bin string, from source) {
	text := from.session(50e6)
	s := newArchived(b, bin, text)
	var shows, restores, floors []time.Duration
	for range 9 {
		floors = append(floors, decodeAndHash(b, text))
		restores = append(restores, s.wall("restore", "--session", liveID))
		shows = append(shows, s.wall("show", liveID))
	}
	t.time("show, 50 MB", 30*time.Millisecond, slices.Min(shows))
	t.least("restore --session, 50 MB, against decoding and hashing", 0.6, slices.Min(floors).Seconds()/slices.Min(restores).Seconds(), "x")
}

// wall runs a command and returns how long it took.
func (s *live) wall(args ...string) time.Duration {
	s.b.Helper()
	begin := time.Now()
	ccd(s.b, s.bin, s.home, args...)
	return time.Since(begin)
}

// decodeAndHash returns how long it takes to decode text from zstd frames of 1 MB and to hash it.
func decodeAndHash(b *testing.B, text []byte) time.Duration {
	b.Helper()
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		b.Fatal(err)
	}
	defer enc.Close()
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		b.Fatal(err)
	}
	defer dec.Close()
	var frames [][]byte
	for rest := text; len(rest) > 0; {
		n := min(len(rest), 1<<20)
		frames, rest = append(frames, enc.EncodeAll(rest[:n], nil)), rest[n:]
	}
	out := make([]byte, 0, 2<<20)
	begin, sum := time.Now(), sha256.New()
	for _, f := range frames {
		if out, err = dec.DecodeAll(f, out[:0]); err != nil {
			b.Fatal(err)
		}
		sum.Write(out)
	}
	return time.Since(begin)
}
