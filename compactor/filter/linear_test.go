//go:build unix

package filter

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"ccd/internal/testkit"
)

// grows is how many times the processor time of f grows from size n to eight times n: about 8 where it is linear, 64
// where it is quadratic. Wall time would depend on what else the machine does.
func grows(f func(n int), n int) float64 {
	cost := func(n int) float64 {
		best := 0.0
		for range 3 {
			runs, start := 0, cpuTime()
			for runs == 0 || cpuTime()-start < 0.02 {
				f(n)
				runs++
			}
			if c := (cpuTime() - start) / float64(runs); best == 0 || c < best {
				best = c
			}
		}
		return best
	}
	small := cost(n)
	return cost(8*n) / small
}

// cpuTime is the processor time that this process has taken, in seconds.
func cpuTime() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// mostGrowth is the growth above which f is not linear.
const mostGrowth = 24

func TestTextStagesAreLinear(t *testing.T) {
	testkit.Long(t, "the time of every stage over eight times the text")
	for name := range hardTexts(64) {
		small, large := hardTexts(8 << 10)[name], hardTexts(64 << 10)[name]
		growth := grows(func(n int) {
			what := small
			if n > 1 {
				what = large
			}
			shapeOf(what)
			summarize(what, 600, false)
			entities(what)
			topicsOf(what)
			weigh([]*entry{{Piece: Piece{Text: what}, shape: shapeOf(what)}})
			splitCode(what, func(p string) string { return p[:len(p)/2] })
			l := linesOf(what)
			l.alike(&l)
		}, 1)
		if growth > mostGrowth {
			t.Errorf("%s: eight times the text takes %.0f times the time", name, growth)
		}
	}
}

func TestManyMessagesAreLinear(t *testing.T) {
	testkit.Long(t, "the time of a list of eight times the messages")
	o := shipped()
	o.NearDedup, o.Contradictions, o.KeepImportance, o.Recent, o.Percent = true, true, 0.65, 4, 30
	for name, text := range map[string]func(i int) string{
		"short":       func(i int) string { return fmt.Sprintf("ok %d", i) },
		"equal":       func(int) string { return strings.Repeat("all the same ", 20) },
		"equal heads": func(i int) string { return strings.Repeat("the same line\nthen this\nand this\n", 8) + fmt.Sprint(i) },
		"corrections": func(i int) string {
			return fmt.Sprintf("Actually, do not open gate_%d of the mill; open the gate of the orchard instead, as was said before. ", i%50)
		},
		"short leads": func(i int) string {
			return fmt.Sprintf("The keeper of gate %d went home in the evening. ", i) + strings.Repeat("Nobody was there, and so the gate was quiet. ", 3)
		},
		"names": func(i int) string { return fmt.Sprintf("openGate_%d is called by closeGate_%d now. ", i, i/2) },
	} {
		growth := grows(func(n int) {
			list := make([]Message, n)
			for i := range list {
				list[i] = Message{Role: "assistant", ID: fmt.Sprint(i), Texts: []Piece{{Text: text(i), ID: "0123456789ab"}}}
			}
			Apply(list, o)
		}, 1000)
		if growth > mostGrowth {
			t.Errorf("%s: eight times the messages take %.0f times the time", name, growth)
		}
	}
}

// TestLinearCanFail is the negative control: a quadratic function is seen.
func TestLinearCanFail(t *testing.T) {
	testkit.Long(t, "the control of the tests of time")
	sum := 0
	growth := grows(func(n int) {
		for i := range n {
			for j := range n {
				sum += i ^ j
			}
		}
	}, 500)
	if growth <= mostGrowth {
		t.Errorf("a quadratic function grows by %.0f only", growth)
	}
}
