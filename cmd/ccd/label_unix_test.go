//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"ccd/cmd/ccd/internal/status"
	"ccd/internal/testkit"
	"ccd/internal/words"
)

// TestUndoAfterARun: a `ccd run` would write companions again, so undo says how to stop it.
func TestUndoAfterARun(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	put(t, transcriptPath(home, 1), aLine)
	c := spawn(t, home, "run")
	testkit.Eventually(t, "it is archived", func() bool { out, _, _ := piped(home, nil, "ls"); return strings.Contains(string(out), "claude-code") })
	if out, code, talk := piped(home, nil, "setup", "--undo", "--yes"); code != words.ExitFailed || !strings.Contains(talk, fmt.Sprintf("stop it first: kill %d", c.Process.Pid)) {
		t.Errorf("exit code %d: %s%s", code, out, talk)
	}
	if err := errors.Join(c.Process.Signal(syscall.SIGTERM), c.Wait()); err != nil {
		t.Errorf("ccd run: %v", err)
	}
	if out, code, talk := piped(home, nil, "setup", "--undo", "--yes"); code != words.ExitDone {
		t.Errorf("exit code %d: %s%s", code, out, talk)
	}
}

// A daemon that has the session in memory and keeps saving its state does not lose labels.
func TestLabelsWhileADaemonRuns(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	configure(t, home, "[watch]\nsettle = \"20ms\"\n[trigger]\nthreshold = 1\nmin_savings = 0\n")
	path := transcriptPath(home, 1)
	put(t, path, aLine)
	c := spawn(t, home, "run")
	only := func() (s status.Session, ok bool) {
		out, code, talk := piped(home, nil, "ls", "--json")
		if code != words.ExitDone {
			t.Fatalf("ls: exit code %d: %s", code, talk)
		}
		var all []status.Session
		must(t, json.Unmarshal(out, &all))
		if len(all) != 1 {
			return s, false
		}
		return all[0], true
	}
	testkit.Eventually(t, "it is archived", func() bool { s, ok := only(); return ok && s.Records == 1 })
	for n := 1; n <= 5; n++ {
		tag := fmt.Sprint("tag", n)
		done(t, home, "label", "latest", "--pin", "--tag", tag, "--name", "parcel "+tag)
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		must(t, err)
		if _, err := f.WriteString(strings.ReplaceAll(aLine, "u1", fmt.Sprint("v", n))); err != nil {
			t.Fatal(err)
		}
		f.Close()
		testkit.Eventually(t, "the daemon stores the state again", func() bool { s, ok := only(); return ok && s.Records == n+1 })
		if s, _ := only(); !s.Pinned || s.Name != "parcel "+tag || len(s.Tags) != n {
			t.Fatalf("after %d records: pinned %t, name %q, tags %q", n+1, s.Pinned, s.Name, s.Tags)
		}
	}
	c.signal(t, syscall.SIGTERM)
	c.ends(t, words.ExitDone, 5*time.Second)
	if text := c.stderr.String(); !strings.HasPrefix(text, "caught up: 1 session archived") || strings.Count(text, "\n") != 1 {
		t.Errorf("the daemon says: %s", text)
	}
	if s, _ := only(); !s.Pinned || len(s.Tags) != 5 {
		t.Errorf("after the daemon: pinned %t, tags %q", s.Pinned, s.Tags)
	}
}
