package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRunPrintsEachCompanion: on a terminal, run prints a line for each companion that it writes; elsewhere it does
// not.
func TestRunPrintsEachCompanion(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".claude", "projects", "-src-mill", chosenA+".jsonl")
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(claudeSession("claude-sonnet-4-5", "150000", nil)), 0o600))
	line := regexp.MustCompile(`\d\d:\d\d:\d\d aaaa1111-0000, "Mill the rye\.", mill: 150K -> about [0-9.]+K, \d+% saved\r\n`)
	for _, args := range [][]string{{"run", "--once"}, {"run"}} {
		must(t, os.RemoveAll(filepath.Join(home, ".local")))
		must(t, os.RemoveAll(strings.TrimSuffix(path, ".jsonl")+".ccd.md"))
		cmd, screen, seen := startOnTerminal(t, home, 120, 50, nil, nil, args...)
		seen.has(t, "saved\r\n")
		if len(args) == 1 {
			typeKeys(t, screen, "\x03")
		}
		exitOf(t, cmd, seen)
		if n := len(line.FindAllString(seen.String(), -1)); n != 1 {
			t.Errorf("%v: %d lines: %q", args, n, seen.String())
		}
	}
	must(t, os.RemoveAll(strings.TrimSuffix(path, ".jsonl")+".ccd.md"))
	if code, out, said := ccdIn(home, "", "run", "--once"); code != exitDone || strings.Contains(out+said, "saved") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
}
