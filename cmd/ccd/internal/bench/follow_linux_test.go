package bench

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/archive"
	"ccd/compactor/sidecar"
	"ccd/internal/gen"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// followed is a step of the session that BenchmarkFollow has grow, in bytes.
const followed = 100_000

// BenchmarkFollow measures `ccd run` while one session grows in steps of 100 KB and then rests, against `ccd run --once`
// of the whole; the method stands in docs/PERFORMANCE.md. $CCD_BENCH_FOLLOW is the session's size (16MB).
func BenchmarkFollow(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "ccd")
	if out, err := exec.Command("go", "build", "-o", bin, "ccd/cmd/ccd").CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	text, err := os.ReadFile(generated(b, gen.Claude, env("CCD_BENCH_FOLLOW", "16MB")))
	if err != nil {
		b.Fatal(err)
	}
	home := b.TempDir()
	path := filepath.Join(home, ".claude", "projects", "-home-me-ledger", "5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	var all, whole time.Duration
	for b.Loop() {
		all = follow(b, bin, home, path, text)
		if err := os.Remove(strings.TrimSuffix(path, ".jsonl") + sidecar.Suffix); err != nil {
			b.Fatal(err)
		}
		whole = once(b, bin, home).cpu
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(all.Seconds(), "s-following")
	b.ReportMetric(whole.Seconds(), "s-one-pass")
	b.ReportMetric(all.Seconds()/whole.Seconds(), "times-one-pass")
}

// follow returns the processor time of a daemon while a session grows, until its companion covers all of it.
func follow(b *testing.B, bin, home, path string, text []byte) time.Duration {
	b.Helper()
	state := b.TempDir()
	cmd := exec.Command(bin, "run")
	cmd.Env = []string{
		"HOME=" + home, "XDG_STATE_HOME=" + state, "PATH=" + os.Getenv("PATH"),
		"CCD_WATCH_SETTLE=100ms", "CCD_COMPANION_REFRESH_IDLE=3s",
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	ended := false
	end := func() {
		if !ended {
			ended = true
			_ = cmd.Process.Signal(os.Interrupt)
			_ = cmd.Wait()
		}
	}
	defer end()
	a, err := archive.Open(filepath.Join(state, "ccd", "archive.db"), archive.Options{})
	if err != nil {
		b.Fatal(err)
	}
	k := transcript.Key{Agent: gen.Claude, ID: strings.TrimSuffix(filepath.Base(path), ".jsonl")}
	for size := 0; size < len(text); {
		next := min(size+followed, len(text))
		next += bytes.IndexByte(text[next:], '\n') + 1
		grow(b, path, text[size:next])
		size = next
		soon(b, "the new lines are archived", func() bool {
			s, err := a.Session(context.Background(), k)
			return err == nil && s.Tip().Offset == int64(size)
		})
	}
	want := []byte("sha256: " + mark.Sum(text).String())
	soon(b, "the companion covers all", func() bool {
		made, err := os.ReadFile(strings.TrimSuffix(path, ".jsonl") + sidecar.Suffix)
		return err == nil && bytes.Contains(made, want)
	})
	end()
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

func grow(b *testing.B, path string, text []byte) {
	b.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
}

// soon waits until cond is true, for a minute at most.
func soon(b *testing.B, what string, cond func() bool) {
	b.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !cond(); <-tick.C {
		if time.Now().After(end) {
			b.Fatalf("not within a minute: %s", what)
		}
	}
}
