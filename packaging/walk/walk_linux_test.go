//go:build rig

package walk

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/internal/testkit"
)

// prepared names the directory that packaging/walk/run has made: root (the machine's disk), old.deb and new.deb.
const prepared = "CCD_WALK"

// walk is the machine and what the steps know of each other.
type walk struct {
	*testing.T // of the step that is on
	*machine
	alice, bob account
	said       []string // what the step that is on found worth telling
	stamp      string   // a file on the machine that is older than everything of ccd's
	seed       int      // of the next invented transcript
	files      []string // alice's transcripts, as the machine names them
	before     []string // what stood in alice's home before ccd
	skipped    string   // why the walk ends here, without a fault of ccd's
}

var root = account{"root", 0}

// step is one stretch of the way. A needed one that fails ends the walk.
type step struct {
	name   string
	needed bool
	do     func(*walk)
}

// steps is the whole way, in its order.
func steps() []step {
	return []step{
		{"machine boots", true, booted},
		{"package installed, nothing started", true, packaged},
		{"ccd service install as an ordinary user", true, installed},
		{"transcripts arrive, come back", true, arrived},
		{"kill -9 ten times", false, killed},
		{"a hang is noticed, work is none", false, hung},
		{"the sandbox from inside", false, sandboxed},
		{"no user namespaces", false, fallenBack},
		{"ccd setup, and its undo", false, setUp},
		{"the journal", false, told},
		{"logout, login, linger", false, lingering},
		{"reboot", true, rebooted},
		{"upgrade of the package", false, upgraded},
		{"hooks of agents", false, hooked},
		{"uninstall", false, purged},
		{"a service of the machine", false, machines},
		{"package removed", false, removed},
	}
}

func TestWalk(t *testing.T) {
	dir := os.Getenv(prepared)
	if dir == "" {
		t.Skipf("%s is not set: the walk through a real systemd is `make systemd`", prepared)
	}
	w := &walk{
		machine: &machine{work: dir, name: strings.TrimPrefix(filepath.Base(dir), "ccd-")},
		alice:   account{"alice", 1000}, bob: account{"bob", 1001},
	}
	t.Cleanup(w.kill)
	start, done := time.Now(), 0
	for i, s := range steps() {
		if !t.Run(fmt.Sprintf("%02d", i+1), func(t *testing.T) { w.take(t, i+1, s) }) && s.needed {
			t.Fatalf("step %02d %s: the rest of the way begins there", i+1, s.name)
		}
		if w.skipped != "" {
			t.Skip(w.skipped)
		}
		done++
	}
	t.Logf("walk: %d steps, %.1f s", done, time.Since(start).Seconds())
}

// take takes one step and tells how it went.
func (w *walk) take(t *testing.T, n int, s step) {
	w.T, w.said = t, nil
	start, over := time.Now(), false
	defer func() {
		how := "ok"
		switch {
		case t.Skipped():
			how, w.skipped = "SKIP", "the machine cannot be had here"
		case t.Failed() || !over:
			how = "FAILED"
		}
		told := ""
		if len(w.said) > 0 {
			told = " (" + strings.Join(w.said, "; ") + ")"
		}
		t.Logf("step %02d %s: %s, %.1f s%s", n, s.name, how, time.Since(start).Seconds(), told)
		if how == "FAILED" {
			w.look()
		}
	}()
	s.do(w)
	over = true
}

// look shows what the machine says of the service, for whoever reads of a failure.
func (w *walk) look() {
	if w.leader == 0 {
		return
	}
	for _, argv := range [][]string{
		{"systemctl", "--user", "status", "--no-pager", "-l", "ccd.service"},
		{"ccd", "status"},
		{"ls", "-la", ".config/systemd/user", ".config/systemd/user/ccd.service.d", ".local/state/ccd"},
	} {
		out, said, _ := w.run(context.Background(), w.alice, "", argv...)
		w.Logf("%s:\n%s%s", strings.Join(argv, " "), out, said)
	}
	out, _, _ := w.run(context.Background(), root, "", "journalctl", "--no-pager", "-n", "25", "-o", "short-precise", "_UID=1000")
	w.Logf("journal:\n%s", out)
}

// tell adds to the line of the step.
func (w *walk) tell(format string, args ...any) {
	w.said = append(w.said, fmt.Sprintf(format, args...))
}

// must runs a command that has to succeed, and returns its output.
func (w *walk) must(who account, argv ...string) string {
	w.Helper()
	out, said, err := w.run(w.Context(), who, "", argv...)
	if err != nil {
		w.Fatalf("%s: %s: %v\n%s%s", who.name, strings.Join(argv, " "), err, out, said)
	}
	return out
}

// shell runs a script of bash that has to succeed, with stdin, and returns its output.
func (w *walk) shell(who account, stdin, script string, args ...string) string {
	w.Helper()
	out, said, err := w.run(w.Context(), who, stdin, append([]string{"bash", "-euo", "pipefail", "-c", script, "bash"}, args...)...)
	if err != nil {
		w.Fatalf("%s: %v\n%s%s\n%s", who.name, err, out, said, script)
	}
	return out
}

// refused runs a command that has to fail, and returns what it said.
func (w *walk) refused(who account, argv ...string) string {
	w.Helper()
	out, said, err := w.run(w.Context(), who, "", argv...)
	if err == nil {
		w.Fatalf("%s: %s: done, want it refused\n%s%s", who.name, strings.Join(argv, " "), out, said)
	}
	if _, ok := err.(*exec.ExitError); !ok {
		w.Fatalf("%s: %s: %v", who.name, strings.Join(argv, " "), err)
	}
	return out + said
}

// within waits until ok, and returns how long that took.
func (w *walk) within(limit time.Duration, what string, ok func() bool) time.Duration {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), limit)
	defer cancel()
	start := time.Now()
	if err := poll(ctx, ok); err != nil {
		w.Fatalf("%s: not within %v", what, limit)
	}
	return time.Since(start)
}

// has fails the step unless text says each of the words.
func (w *walk) has(text string, words ...string) {
	w.Helper()
	for _, word := range words {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
			w.Errorf("want %q in:\n%s", word, text)
		}
	}
}

// write writes a file on the machine's disk as somebody's own, with the directories above it.
func (w *walk) write(who account, inside, text string) {
	w.Helper()
	dir := inside
	var made []string
	for dir = filepath.Dir(inside); dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(w.path(dir)); err == nil {
			break
		}
		made = append(made, dir)
	}
	testkit.Must(w, os.MkdirAll(w.path(filepath.Dir(inside)), 0o755))
	testkit.Must(w, os.WriteFile(w.path(inside), []byte(text), 0o600))
	for _, p := range append(made, inside) {
		testkit.Must(w, os.Chown(w.path(p), who.uid, who.uid))
	}
}
