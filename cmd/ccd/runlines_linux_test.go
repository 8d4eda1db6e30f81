package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ccd/internal/words"
)

// TestRunPrintsEachEvent: on a terminal, run says what it has archived and what to do next, then prints a line for each
// companion that it writes; with --once it only says what it has archived.
func TestRunPrintsEachEvent(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".claude", "projects", "-src-mill", chosenA+".jsonl")
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	session := claudeSession("claude-sonnet-4-5", "150000", nil)
	put(t, path, session)
	long := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(path, long, long))
	cmd, screen, seen := startOnTerminal(t, home, 120, 50, []string{"CCD_WATCH_SETTLE=50ms", "CCD_COMPANION_REFRESH_IDLE=100ms"}, nil, "run")
	seen.has(t, "Watching until Ctrl-C.")
	if !regexp.MustCompile(`1 session archived, 1 companion\. See them in another terminal: .* ls\r\nYour longest session: .* show ` + chosenA[:8]).MatchString(seen.String()) {
		t.Errorf("what was archived: %q", seen.String())
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(session)
	must(t, errors.Join(err, f.Close()))
	seen.has(t, `"Mill the rye.", mill: companion updated: ccd show `+chosenA)
	typeKeys(t, screen, "\x03")
	exitOf(t, cmd, seen)
	if code, out, said := ccdIn(home, "", "run", "--once"); code != words.ExitDone || strings.Contains(out+said, "companion updated") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
}
