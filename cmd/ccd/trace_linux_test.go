package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ccd/internal/testkit/gen"
)

// traced are the system calls that can change a file or its name.
const traced = "trace=openat,open,creat,rename,renameat,renameat2,unlink,unlinkat,link,linkat,truncate,chmod,fchmodat,chown,fchownat,utimensat"

var (
	harmless    = regexp.MustCompile(`\bopen(at)?\(.*O_RDONLY`)
	transcripts = regexp.MustCompile(`"[^"]*\.(jsonl|jsonl\.zst|meta\.json|txt)"`)
)

// touching returns the traced calls on a transcript other than reads, and counts the reads.
func touching(trace []byte) (wrong []string, reads int) {
	for line := range strings.Lines(string(trace)) {
		switch {
		case !transcripts.MatchString(line):
		case harmless.MatchString(line):
			reads++
		default:
			wrong = append(wrong, strings.TrimSpace(line))
		}
	}
	return wrong, reads
}

func strace(t *testing.T, env []string, args ...string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command("strace", append([]string{"-f", "-qq", "-s", "512", "-e", traced, "-o", out}, args...)...)
	cmd.Env = env
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("strace does not work here: %v: %s", err, bytes.TrimSpace(b))
	}
	b := read(t, out)
	return b
}

// Invariant 1 for system calls: none that could change a transcript is ever made.
func TestNoOriginalIsOpenedForWriting(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	home := t.TempDir()
	must(t, gen.Tree(home, 7, 3<<20))
	env := append(os.Environ(), "HOME="+home, "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "CLAUDE_CONFIG_DIR=", "CODEX_HOME=",
		"CCD_TRIGGER_THRESHOLD=1", "CCD_TRIGGER_MIN_SAVINGS=0")
	wrong, reads := touching(strace(t, env, programPath, "run", "--once", "-q"))
	for _, w := range wrong {
		t.Errorf("a transcript was touched: %s", w)
	}
	if reads == 0 {
		t.Error("no transcript was read: this test cannot fail")
	}
	file := filepath.Join(home, "x.jsonl") // control
	if wrong, _ := touching(strace(t, env, "/bin/sh", "-c", "echo >>'"+file+"'")); len(wrong) == 0 {
		t.Error("a write is not seen: this test cannot fail")
	}
}
