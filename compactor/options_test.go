package compactor

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestEveryLimitCounts changes one limit after the other: each must show in the companion.
func TestEveryLimitCounts(t *testing.T) {
	s := newScript()
	s.used = 20000
	s.human("Look around and mend what is wrong.")
	for i := range 12 {
		s.round(i)
		s.read(fmt.Sprintf("/home/me/ledger/small%d.go", i), fmt.Sprintf("package small\n\nvar number%d = %d // %s\n", i, i, strings.Repeat("so it is. ", 14)))
		s.do("WebFetch", map[string]any{"url": fmt.Sprintf("https://example.org/%d", i), "prompt": "what"}, strings.Repeat(fmt.Sprintf("Finding %d. ", i), 30))
		var thought strings.Builder
		for j := range 25 {
			fmt.Fprintf(&thought, "Thought %d of round %d is longer than a line of text. ", j, i)
		}
		s.say(thought.String())
		s.bash(fmt.Sprintf("ls -l part%d", i), strings.Repeat("the same listing of files\n", 20))
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
	// The verbatim part is kept small, so that the zone is seen.
	base := Defaults()
	base.RecentShare, base.RecentResults, base.MicroKeep = 0.05, 0, 0
	for name, change := range map[string]func(*Options){
		"max_tokens":           func(o *Options) { o.MaxTokens = 9000 },
		"level":                func(o *Options) { o.Level = Maximum },
		"recent_share":         func(o *Options) { o.RecentShare = 0.5 },
		"recent_messages":      func(o *Options) { o.RecentMessages = 60 },
		"recent_results":       func(o *Options) { o.RecentResults = 30 * time.Minute },
		"file_age":             func(o *Options) { o.FileAge = time.Second },
		"talk_age":             func(o *Options) { o.TalkAge = time.Second },
		"output_chars":         func(o *Options) { o.OutputChars = 10 },
		"microcompact_keep":    func(o *Options) { o.MicroKeep, o.MicroTokens = 30, 1 },
		"microcompact_tokens":  func(o *Options) { o.MicroTokens = 10 },
		"dedup":                func(o *Options) { o.Dedup = false },
		"restore_files":        func(o *Options) { o.RestoreFiles = 1 },
		"restore_file_tokens":  func(o *Options) { o.RestoreTokens = 1000 },
		"restore_total_tokens": func(o *Options) { o.RestoreTotal = 2000 },
	} {
		t.Run(name, func(t *testing.T) {
			o := base
			change(&o)
			a, b := fold(t, s.buf.Bytes(), base), fold(t, s.buf.Bytes(), o)
			ca, cb := a.compact(t), b.compact(t)
			a.check(t, ca)
			b.check(t, cb)
			if ca.all() == cb.all() {
				t.Errorf("%s changes nothing", name)
			}
			if a.o.Hash() == b.o.Hash() {
				t.Errorf("%s is not in the hash", name)
			}
		})
	}
}
