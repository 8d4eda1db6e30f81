//go:build rig

package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/internal/testkit/gen"
)

// BenchmarkCommands measures what people wait for with 2,000 sessions of 260 KB, of the last 100 days: processor time, the median of
// three rounds.
func BenchmarkCommands(b *testing.B) {
	home, bin := b.TempDir(), filepath.Join(b.TempDir(), "ccd")
	if out, err := exec.Command("go", "build", "-o", bin, "ccd/cmd/ccd").CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	const sessions = 2000
	for n := range sessions {
		writeSession(b, home, n, time.Now().AddDate(0, 0, -n*100/sessions))
	}
	env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	pass := run(b, env, 0, bin, "run", "--once", "-q")
	var table strings.Builder
	fmt.Fprintf(&table, "\n| %d sessions | CPU s |\n|---|---|\n| a first pass | %.1f |\n", sessions, pass.cpu.Seconds())
	for b.Loop() {
		for _, line := range []string{
			"ls", "status", "show latest", "week", "week --since 2020-01-01", "files", "search the", "search return", "search --said return", "search --said zzqxqzz",
		} {
			var rounds []cost
			for range 3 {
				rounds = append(rounds, run(b, env, 3, append([]string{bin}, strings.Fields(line)...)...))
			}
			fmt.Fprintf(&table, "| `ccd %s` | %.3f |\n", line, median(rounds).cpu.Seconds())
		}
	}
	b.Log(table.String())
	b.ReportMetric(0, "ns/op")
}

// writeSession writes session n, which began on a day.
func writeSession(b *testing.B, home string, n int, day time.Time) {
	b.Helper()
	var text bytes.Buffer
	if err := gen.Write(&text, gen.Claude, uint64(n+1), 260_000); err != nil {
		b.Fatal(err)
	}
	data := text.Bytes()
	for d := range 7 { // the invented sessions begin on 2026-03-02
		data = bytes.ReplaceAll(data, fmt.Appendf(nil, "2026-03-%02dT", 2+d), []byte(day.AddDate(0, 0, d-1).Format("2006-01-02T")))
	}
	dir := filepath.Join(home, ".claude/projects", fmt.Sprintf("-src-p%d", n%40))
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("%08x-0000-4000-8000-000000000000.jsonl", n)), data, 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
}
