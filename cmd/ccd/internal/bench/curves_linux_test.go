package bench

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"ccd/internal/gen"
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
			if err := os.WriteFile(path, []byte(plot(size, count)), 0o644); err != nil {
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
	add("path", 5, command("path"))
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

// The plot has two panels beside each other. Lengths are in pixels.
const (
	plotWide, plotHigh = 300, 340 // of a panel's area
	plotLeft, plotTop  = 60, 40   // what is before it
	plotRight          = 130      // what is behind it, for the names
	plotLow, plotRange = 0, 5     // powers of ten of the lowest time in ms, and how many are shown
	labelHigh          = 15
)

// colours can be told apart on white and on black.
var colours = []string{"#d1495b", "#3b82c4", "#8e6bc4", "#b8860b", "#2e9e6b", "#d9713c", "#6b8e9e", "#c25fa8", "#7a7a2e"}

// plot draws panels with logarithmic axes.
func plot(panels ...curves) string {
	var t strings.Builder
	step := plotLeft + plotWide + plotRight
	fmt.Fprintf(&t, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="12">
<title>Processor time of ccd's operations, by the size of a session and by the number of sessions</title>
<style>text{fill:#24292f}.grid{stroke:#8884}.linear{stroke:#888;stroke-dasharray:4 4}polyline{fill:none;stroke-width:2}
@media(prefers-color-scheme:dark){text{fill:#d0d7de}}</style>
`, step*len(panels), plotTop+plotHigh+45)
	for i, p := range panels {
		fmt.Fprintf(&t, "<g transform=\"translate(%d %d)\">\n%s</g>\n", i*step+plotLeft, plotTop, p.panel())
	}
	return t.String() + "</svg>\n"
}

func (c *curves) panel() string {
	var t strings.Builder
	low, high := math.Log10(c.at[0]), math.Log10(c.at[len(c.at)-1])
	x := func(at float64) float64 { return plotWide * (math.Log10(at) - low) / (high - low) }
	y := func(ms float64) float64 {
		return plotHigh * (1 - (math.Log10(max(ms, 1))-plotLow)/plotRange)
	}
	fmt.Fprintf(&t, "<text x=\"0\" y=\"-16\" font-weight=\"600\">%s</text>\n", c.title)
	for power, name := range []string{"1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s"} {
		at := y(math.Pow10(power))
		fmt.Fprintf(&t, "<line class=\"grid\" x1=\"0\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"-8\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", plotWide, at, at, at+4, name)
	}
	for _, at := range c.at {
		fmt.Fprintf(&t, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%d\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n", x(at), x(at), plotHigh, x(at), plotHigh+18, at)
	}
	fmt.Fprintf(&t, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s (dashed: twice as many cost twice as much)</text>\n", plotWide/2, plotHigh+38, c.unit)
	fmt.Fprintf(&t, "<line class=\"linear\" x1=\"0\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", plotWide, y(1), y(math.Pow(10, high-low)))
	type label struct {
		y      float64
		text   string
		colour string
	}
	var labels []label
	for i, o := range operations {
		var points []string
		var last float64
		for n, d := range c.took[o] {
			last = y(ms(d))
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(c.at[n]), last))
		}
		fmt.Fprintf(&t, "<polyline stroke=\"%s\" points=\"%s\"/>\n", colours[i], strings.Join(points, " "))
		labels = append(labels, label{last, o, colours[i]})
	}
	slices.SortStableFunc(labels, func(x, y label) int { return int(x.y - y.y) })
	for i := range labels { // none covers another
		if i > 0 {
			labels[i].y = max(labels[i].y, labels[i-1].y+labelHigh)
		}
		l := labels[i]
		fmt.Fprintf(&t, "<circle cx=\"%d\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/><text x=\"%d\" y=\"%.1f\">%s</text>\n", plotWide+14, l.y, l.colour, plotWide+22, l.y+4, l.text)
	}
	return t.String()
}
