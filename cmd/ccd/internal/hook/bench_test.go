package hook

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func BenchmarkSessionStart(b *testing.B) {
	p := newPlace(b)
	for i := range 200 {
		path := p.claude(fmt.Sprintf("%08x-90c4-4a1b-8a53-0c1d2e3f4a5b", i))
		p.write(path, "{}\n", time.Duration(i)*time.Hour)
		p.companion(path, strings.Repeat(ledger, 60), nil)
	}
	for _, source := range []string{"startup", "resume"} {
		e := Event{Name: SessionStart, Source: source, Session: uuid3, Transcript: p.claude("00000007-90c4-4a1b-8a53-0c1d2e3f4a5b")}
		b.Run(source, func(b *testing.B) {
			for b.Loop() {
				if _, err := p.ask(e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
