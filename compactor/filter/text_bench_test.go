//go:build unix

package prose

import (
	"strings"
	"syscall"
	"testing"
)

// messagesOf cuts a text into messages of about n bytes.
func messagesOf(text string, n int) (all []Message) {
	for i := 0; len(text) > 0; i++ {
		cut := min(n, len(text))
		all = append(all, Message{Role: [2]string{"assistant", "user"}[i/3%2], Texts: []Piece{{text[:cut], "0123456789ab"}}})
		text = text[cut:]
	}
	return all
}

// cpuTime is the processor time that this process has taken, in seconds.
func cpuTime() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// benchText runs f over texts of all kinds that sessions are made of, and reports MB/s of wall and of processor time:
// the second is what one core does, also where others are at work on the machine.
func benchText(b *testing.B, f func(string)) {
	for _, name := range []string{"replies", "logs", "no full stop", "base64", "ab-ab"} {
		text := hardTexts(1 << 19)[name]
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			before := cpuTime()
			for b.Loop() {
				f(text)
			}
			b.ReportMetric(float64(b.N)*float64(len(text))/1e6/(cpuTime()-before), "MB/cpu-s")
		})
	}
}

func BenchmarkTextShape(b *testing.B) { benchText(b, func(s string) { shapeOf(s) }) }
func BenchmarkTextSummary(b *testing.B) {
	benchText(b, func(s string) { summarize([]string{s}, 600) })
}
func BenchmarkTextEntities(b *testing.B) { benchText(b, func(s string) { entities(s, 0) }) }
func BenchmarkTextNear(b *testing.B)     { benchText(b, func(s string) { l := linesOf(s); l.alike(&l) }) }

func BenchmarkTextNames(b *testing.B) {
	benchText(b, func(s string) {
		for _, m := range messagesOf(s, 2000) {
			weigh([]*entry{{Piece: Piece{Text: m.Texts[0].Text}, shape: &shape{}}})
		}
	})
}

func BenchmarkTextTopics(b *testing.B) {
	benchText(b, func(s string) {
		for _, m := range messagesOf(s, 2000) {
			topicsOf(m.Texts[0].Text)
		}
	})
}

func BenchmarkTextSplit(b *testing.B) {
	benchText(b, func(s string) { splitCode(s, func(p string) string { return p[:len(p)/2] }) })
}

// BenchmarkTextAll is the filter on messages of 2,000 bytes.
func BenchmarkTextAll(b *testing.B) {
	benchText(b, func(s string) { Filter(messagesOf(s, 2000), ListOptions{Options: shipped(), Recent: 4, Percent: 30}) })
}
