//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/compactor/sidecar"
)

// TestOlderSessionsGetTheirCompanionsLater: of the sessions that a first pass finds, the 20 newest get their companions at once, one
// that grows with the next pass, the others with compact --all; show prints those that there are not.
func TestOlderSessionsGetTheirCompanionsLater(t *testing.T) {
	home := t.TempDir()
	configure(t, home, "[trigger]\nthreshold = 1\nmin_savings = 0\n")
	begin := time.Now().Add(-1000 * time.Hour)
	for n := range 24 {
		path := transcriptPath(home, n)
		put(t, path, strings.Repeat(aLine, 20))
		if when := begin.Add(time.Duration(n) * time.Hour); os.Chtimes(path, when, when) != nil {
			t.Fatal("no times of files")
		}
	}
	have := func() (all string) {
		for n := range 24 {
			if _, err := os.Stat(strings.TrimSuffix(transcriptPath(home, n), ".jsonl") + sidecar.Suffix); err == nil {
				all += string(rune('a' + n))
			}
		}
		return all
	}
	const line = "older sessions get one when they grow, or with ccd compact --all"
	for _, step := range []struct {
		do   []string
		says string
		have string
	}{
		{[]string{"run", "--once"}, "20 companions; 4 " + line, "efghijklmnopqrstuvwx"},
		{[]string{"run", "--once"}, "20 companions; 4 " + line, "efghijklmnopqrstuvwx"},
		{[]string{"status"}, "24, 20 companions; 4 " + line, "efghijklmnopqrstuvwx"},
		{[]string{"show", "00000000-0000-4000-8000-000000000000"}, "ccd: 1", "efghijklmnopqrstuvwx"},
		{[]string{"run", "--once"}, "21 companions; 3 " + line, "befghijklmnopqrstuvwx"},
		{[]string{"compact", "--all"}, filepath.Dir(transcriptPath(home, 0)), "abcdefghijklmnopqrstuvwx"},
		{[]string{"status"}, "24, 24 companions\n", "abcdefghijklmnopqrstuvwx"},
	} {
		if step.have[:2] == "be" {
			put(t, transcriptPath(home, 1), strings.Repeat(aLine, 21))
		}
		out, talk, _ := outputs(t, home, step.do...)
		if !strings.Contains(string(out)+talk, step.says) || have() != step.have {
			t.Errorf("%s: companions of %s, want of %s and %q\n%s%s", step.do, have(), step.have, step.says, out, talk)
		}
	}
}
