//go:build rig

package main

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"ccd/internal/testkit/exam"
)

// TestRecallOfSettings prints, in Markdown, how many answers a context holds that ccd has compacted, with settings of [live]; and
// companions with settings of [compaction]: make recall.
func TestRecallOfSettings(t *testing.T) {
	all := exam.Read(t)
	fmt.Println("| settings | chars | answers |\n|---|---|---|")
	for _, config := range []string{
		"", "verbatim = 24000\ntext = 32000", "verbatim = \"30%\"\ntext = \"ladder\"\ntarget = \"60%\"", "text = \"100%\"\ntarget = \"60%\"",
		"restore_files = 1", "restore_files = 3", "restore_files = 5",
	} {
		var size, score, questions, texts float64
		for i := range all {
			s := &all[i]
			p := configured(t, newHookPlace(t, s.Data), "[live]\n"+config+"\n")
			l, _ := p.compacts(map[string]any{"messages": rowsOf(t, s.Data)}, "--within", "1m")
			var b strings.Builder
			for _, m := range l.Messages {
				fmt.Fprintln(&b, m.Text)
				for _, c := range m.Calls {
					fmt.Fprintf(&b, "%s\n", c.Input)
				}
				for _, r := range m.Results {
					fmt.Fprintln(&b, r.Text)
				}
			}
			size, score, questions, texts = size+float64(b.Len()), score+s.Score(b.String()), questions+float64(len(s.Questions)), texts+1
		}
		name := cmp.Or(config, "as shipped")
		if strings.Contains(config, "=") {
			name = "`" + strings.ReplaceAll(config, "\n", "`, `") + "`"
		}
		fmt.Printf("| %s | %.0f | %.1f %% |\n", name, size/texts, 100*score/questions)
	}
}
