package compactor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"ccd/internal/testkit"
)

// limited is a session in which every limit has something to do.
func limited() *script {
	s := newScript()
	s.used = 20000
	s.human("Look around the ferry and mend what is wrong.")
	for i := range 12 {
		s.round(i)
		s.read(fmt.Sprintf("/home/me/ledger/small%d.go", i), fmt.Sprintf("package small\n\nvar ferry%d = %d // %s\n", i, i, strings.Repeat("so it is. ", 14)))
		s.do("WebFetch", map[string]any{"url": fmt.Sprintf("https://example.org/%d", i), "prompt": "what"}, strings.Repeat(fmt.Sprintf("Finding %d of the ferry. ", i), 20))
		var thought strings.Builder
		for j := range 25 {
			fmt.Fprintf(&thought, "Thought %d of round %d is longer than a line of text. ", j, i)
		}
		s.say(thought.String())
		s.bash(fmt.Sprintf("ls -l part%d", i), strings.Repeat("the same listing of files\n", 20))
		s.bash(fmt.Sprintf("make ferry%d", i), strings.Repeat(fmt.Sprintf("ferry %d is on its way\n", i), 30))
		s.at = s.at.Add(9 * time.Minute)
	}
	for i := range 3 {
		var b strings.Builder
		for j := range 60 {
			fmt.Fprintf(&b, "line %d of the large file %d\n", j, i)
		}
		s.read(fmt.Sprintf("/home/me/ledger/large%d.txt", i), b.String())
	}
	for i := range 6 {
		s.bash(fmt.Sprintf("true %d", i), strings.Repeat("x", 500))
	}
	return s
}

// TestEveryLimitCounts changes one limit after the other: each must show in the companion, in little room or in much.
func TestEveryLimitCounts(t *testing.T) {
	data := limited().buf.Bytes()
	// The verbatim part is kept small, so that the zone is seen; what is in focus stands where no strategy is due.
	base := Defaults()
	base.RecentShare, base.RecentResults, base.MicroKeep, base.Focus = 0.05, 0, 0, []string{"ferry"}
	budgets := []int{72000, 30000}
	var before []string
	for _, tokens := range budgets {
		o := base
		o.MaxTokens = tokens
		before = append(before, folding(t, data, o).compact(t).all())
	}
	changes := map[string]func(*Options){
		"max_tokens":           func(o *Options) { o.MaxTokens = 9000 },
		"level":                func(o *Options) { o.Level = Maximum },
		"recent_share":         func(o *Options) { o.RecentShare = 0.5 },
		"recent_messages":      func(o *Options) { o.RecentMessages = 60 },
		"recent_results":       func(o *Options) { o.RecentResults = 30 * time.Minute },
		"file_age":             func(o *Options) { o.FileAge = time.Second },
		"talk_age":             func(o *Options) { o.TalkAge = time.Hour },
		"output_chars":         func(o *Options) { o.OutputChars = 10 },
		"microcompact_keep":    func(o *Options) { o.MicroKeep, o.MicroTokens = 30, 10 },
		"microcompact_tokens":  func(o *Options) { o.MicroTokens = 10 },
		"summary_chars":        func(o *Options) { o.SummaryChars = 130 },
		"dedup":                func(o *Options) { o.Dedup = false },
		"restore_files":        func(o *Options) { o.RestoreFiles = 1 },
		"restore_file_tokens":  func(o *Options) { o.RestoreTokens = 1000 },
		"restore_total_tokens": func(o *Options) { o.RestoreTotal = 2000 },
		"focus":                func(o *Options) { o.Focus = nil },
	}
	for _, name := range testkit.Sample(t, slices.Sorted(maps.Keys(changes)), 3) {
		change := changes[name]
		t.Run(name, func(t *testing.T) {
			changes := false
			for n, tokens := range budgets {
				o := base
				o.MaxTokens = tokens
				change(&o)
				f := folding(t, data, o)
				c := f.compact(t)
				f.check(t, c)
				changes = changes || c.all() != before[n]
				if o.Hash() == base.Hash() {
					t.Errorf("%s is not in the hash", name)
				}
			}
			if !changes {
				t.Errorf("%s changes nothing", name)
			}
		})
	}
	if folding(t, data, base).compact(t).all() != before[0] {
		t.Error("the control: with nothing changed it changes")
	}
}
