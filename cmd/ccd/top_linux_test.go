package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/cmd/ccd/internal/table"
	"ccd/internal/testkit"
	"ccd/internal/words"
)

// TestTopInATerminal walks the keys of ccd top in tmux: what a person sees, of sessions whose titles are hostile.
func TestTopInATerminal(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("no tmux on this machine: apt-get install tmux")
	}
	home := webHome(t, map[string]string{ledgerID: ledger(t)})
	hostile := "ring \x1b[2J\x1b]0;owned\x07 the \u202ebell " + strings.Repeat("漢字", 5000)
	line, err := json.Marshal(map[string]any{
		"type": "user", "uuid": "u", "cwd": "/w", "timestamp": time.Now().UTC().Format(time.RFC3339), "message": map[string]any{"role": "user", "content": hostile},
	})
	must(t, err)
	path := filepath.Join(home, ".claude", "projects", "-w", "0a1b2c3d-0000-4000-8000-000000000003.jsonl")
	put(t, path, string(line)+"\n")
	command(t, home, "run", "--once", "-q")

	exe, err := os.Executable()
	must(t, err)
	socket := filepath.Join(t.TempDir(), "tmux")
	tmux := func(args ...string) string {
		cmd := exec.Command("tmux", append([]string{"-f", os.DevNull, "-S", socket}, args...)...)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=xterm-256color"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	tmux("new-session", "-d", "-x", "80", "-y", "24", "bash", "-c", fmt.Sprintf("(exec -a ccd %s); echo ended; cat", exe))
	t.Cleanup(func() { exec.Command("tmux", "-S", socket, "kill-server").Run() })
	shows := func(texts ...string) (screen string) {
		t.Helper()
		testkit.Eventually(t, strings.Join(texts, ", "), func() bool {
			screen = tmux("capture-pane", "-p")
			for _, text := range texts {
				if !strings.Contains(screen, text) {
					return false
				}
			}
			return true
		})
		return screen
	}
	keys := func(names ...string) { tmux(append([]string{"send-keys"}, names...)...) }

	screen := shows("STATE", "CONTEXT", "HISTORY", "ring", "ledger", "1 of 2") // `ccd` alone opens it
	if strings.Contains(screen, "bell") && strings.Contains(screen, "\u202e") {
		t.Errorf("control characters are shown as they are:\n%s", screen)
	}
	for line := range strings.Lines(screen) {
		if n := table.CellsOf(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d cells: %s", n, line)
		}
	}
	keys("/", "ledger", "Enter")
	shows("filter: ledger", "1 of 1")
	keys("Enter")
	shows("Compactions", "Requests, newest first", "48213")
	keys("Escape")
	shows("filter: ledger")
	keys("d")
	shows("dropped by the agent", "compaction 1 of 1")
	keys("h") // Escape and a letter at once would be Alt
	shows("filter: ledger")
	keys("c")
	shows("companion", "## Handover")
	keys("h")
	shows("filter: ledger")
	keys("r")
	shows("r again: ")
	keys("y")
	shows("copied " + ledgerID)
	keys("?")
	shows("open the original on the marked line")
	keys("h", "q")
	shows("ended")
}

// TestTopWithoutATerminal: a script has ccd ls.
func TestTopWithoutATerminal(t *testing.T) {
	home := t.TempDir()
	if code, _, said := ccdIn(home, "", "top"); code != words.ExitFailed || !strings.Contains(said, "hint: ccd ls") {
		t.Errorf("top without a terminal: exit %d, %s", code, said)
	}
	if out := string(command(t, home)); !strings.Contains(out, "ccd COMMAND [SESSION]") {
		t.Errorf("ccd without a terminal: %s", out)
	}
}
