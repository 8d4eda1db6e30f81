//go:build unix

package compactor

import (
	"strings"
	"syscall"
	"testing"

	"ccd/internal/transcript"
)

// messagesOf cuts a text into messages of about n bytes.
func messagesOf(text string, n int) []talk {
	var all []talk
	for i := 0; len(text) > 0; i++ {
		cut := min(n, len(text))
		all = append(all, talk{role: [2]string{"assistant", "user"}[i/3%2], row: -1, kind: transcript.Text, text: text[:cut], plain: true})
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

func BenchmarkTextShape(b *testing.B) { benchText(b, func(s string) { shapeOfText(s) }) }
func BenchmarkTextSummary(b *testing.B) {
	o := Defaults()
	benchText(b, func(s string) { summarize([]string{s}, &o, 0) })
}
func BenchmarkTextEntities(b *testing.B) { benchText(b, func(s string) { entitiesOf(s, 0) }) }
func BenchmarkTextNear(b *testing.B)     { benchText(b, func(s string) { nearSignatureOf(s) }) }
func BenchmarkTextNames(b *testing.B) {
	benchText(b, func(s string) {
		for _, m := range messagesOf(s, 2000) {
			nameHashes(m.text, func(uint32) {})
		}
	})
}

func BenchmarkTextTopics(b *testing.B) {
	benchText(b, func(s string) {
		for _, m := range messagesOf(s, 2000) {
			topicsOf(m.text, topicTerms)
		}
	})
}

func BenchmarkTextSplit(b *testing.B) {
	benchText(b, func(s string) { splitCode(s, func(p string) string { return p[:len(p)/2] }) })
}

// BenchmarkTextAll is all stages on messages of 2,000 bytes: shape, importance, the rules, summaries, entities.
func BenchmarkTextAll(b *testing.B) {
	o := Defaults()
	benchText(b, func(s string) {
		all := messagesOf(s, 2000)
		for i := range all {
			all[i].shape = shapeOfText(all[i].text)
		}
		for i, v := range importanceOf(all) {
			all[i].importance = v
		}
		ds := decide(all, &o)
		for _, run := range runsOf(all, ds) {
			var texts []string
			for _, m := range all[run[0]:run[1]] {
				texts = append(texts, m.text)
			}
			summarize(texts, &o, 0)
			entitiesOf(strings.Join(texts, "\n"), 0)
		}
	})
}
