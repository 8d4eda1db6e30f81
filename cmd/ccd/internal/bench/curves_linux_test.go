//go:build rig

package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"ccd/internal/testkit/gen"
	"ccd/internal/testkit/plot"
)

// operations are what the curves show, in the order of the legend.
var operations = []string{"run --once", "refresh", "PreCompact", "restore --session", "show", "search", "status", "ls", "path"}

// curves is a panel of the plot: the processor time of each operation over something.
type curves struct {
	title, unit string
	at          []float64
	took        map[string][]time.Duration // by operation, one for each of at
}

// BenchmarkCurves measures every operation over the size of a session and over the number of sessions, and writes the plot to
// $CCD_BENCH_SVG. With $CCD_BENCH_LARGE a session has up to 1,000 MB.
func BenchmarkCurves(b *testing.B) {
	bin := built(b)
	sizes := []float64{1, 10, 100}
	if os.Getenv("CCD_BENCH_LARGE") != "" {
		sizes = append(sizes, 1000)
	}
	for b.Loop() {
		size := curves{title: "one session", unit: "MB", at: sizes, took: map[string][]time.Duration{}}
		for _, mb := range sizes {
			size.measure(b, bin, b.TempDir(), int64(mb*1e6))
		}
		count := curves{title: "sessions of 2 KB, and one of 100 KB", unit: "sessions", at: []float64{100, 1000, 10000}, took: map[string][]time.Duration{}}
		for _, n := range count.at {
			count.measure(b, bin, smallSessions(b, int(n)), 100e3)
		}
		b.Log(size.text() + count.text())
		if path := os.Getenv("CCD_BENCH_SVG"); path != "" {
			if err := os.WriteFile(path, []byte(plot.SVG("Processor time of ccd's operations, by the size of a session and by the number of sessions", size.panel(), count.panel())), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(0, "ns/op")
}

// measure adds a point to each curve, for a home with one more session of so many bytes.
func (c *curves) measure(b *testing.B, bin, home string, size int64) {
	b.Helper()
	var text bytes.Buffer
	if err := gen.Write(&text, gen.Claude, 1, size); err != nil {
		b.Fatal(err)
	}
	s := newLive(b, bin, home)
	s.grow(text.Bytes())
	add := func(operation string, rounds int, run func() time.Duration) {
		var all []time.Duration
		for range rounds {
			all = append(all, run())
		}
		c.took[operation] = append(c.took[operation], middle(all))
	}
	command := func(args ...string) func() time.Duration {
		return func() time.Duration { return ccd(b, bin, home, args...) }
	}
	add("run --once", 1, command("run", "--once", "-q"))
	add("PreCompact", 3, func() time.Duration {
		s.say()
		cmd := s.hook()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("PreCompact: %v\n%s", err, out)
		}
		return used(cmd)
	})
	add("restore --session", 3, command("restore", "--session", liveID))
	add("show", 5, command("show", liveID))
	add("search", 3, command("search", "--all", "zzqxqzz"))
	add("status", 5, command("status"))
	add("ls", 5, command("ls"))
	add("path", 5, command("show", "--path"))
	end := s.run("1s")
	defer end()
	s.after(s.say) // it reads the session first
	add("refresh", 3, func() time.Duration { return s.after(s.say).cpu })
}

func used(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

func (c *curves) text() string {
	var t strings.Builder
	fmt.Fprintf(&t, "\n| %s: ms of processor time |", c.title)
	for _, x := range c.at {
		fmt.Fprintf(&t, " %g %s |", x, c.unit)
	}
	t.WriteString("\n|---|" + strings.Repeat("---|", len(c.at)) + "\n")
	for _, o := range operations {
		fmt.Fprintf(&t, "| %s |", o)
		for _, d := range c.took[o] {
			fmt.Fprintf(&t, " %.3g |", ms(d))
		}
		t.WriteString("\n")
	}
	return t.String()
}

// panel returns the curves as a diagram.
func (c *curves) panel() plot.Panel {
	p := plot.Panel{Title: c.title, Unit: c.unit, At: c.at, Low: 0, High: 5, Tick: func(power int) string {
		return []string{"1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s"}[power]
	}}
	for _, o := range operations {
		l := plot.Line{Name: o}
		for _, d := range c.took[o] {
			l.Values = append(l.Values, ms(d))
		}
		p.Lines = append(p.Lines, l)
	}
	return p
}
