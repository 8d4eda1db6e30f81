//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestForgottenByReaders: after the next pull, no command of a reader finds what the machine has forgotten, nor does the
// pulled archive have its bytes.
func TestForgottenByReaders(t *testing.T) {
	s := startServer(t)
	reader, desk := newHome(t, s, "reader"), newHome(t, s, "desk")
	desk.join(reader.reader())
	desk.talk(id(1), 10)
	desk.talk(id(2), 10)
	desk.ok("remote", "push")
	reader.ok("remote", "pull")
	var hits []struct{ ID string }
	must(t, json.Unmarshal([]byte(desk.ok("search", "--json", "--limit", "1", "needle-"+id(1))), &hits))
	commands := [][]string{
		{"restore", hits[0].ID},
		{"restore", "--machine", "desk", "--session", id(1)},
		{"restore", "--machine", "desk", id(1) + "#1"},
		{"show", "--machine", "desk", id(1)},
		{"search", "--everywhere", "needle-" + id(1)},
		{"search", "--machine", "desk", "needle-" + id(1)},
		{"resume", "--machine", "desk", "--dry-run", id(1)},
		{"timeline", "--machine", "desk", id(1)},
		{"export", "--machine", "desk", id(1)},
	}
	for _, c := range commands {
		reader.ok(c...) // the control
	}
	desk.ok("archive", "forget", "--yes", id(1))
	desk.ok("remote", "push")
	reader.ok("remote", "pull")
	for _, c := range commands {
		if out, talk, code := reader.run(c...); code != 3 {
			t.Errorf("ccd %s: exit %d: %.200s%s", strings.Join(c, " "), code, out, talk)
		}
	}
	if out := reader.ok("ls", "--everywhere"); strings.Contains(out, id(1)) || !strings.Contains(out, id(2)) {
		t.Error(out)
	}
}

// TestPullRepairs: a damaged archive of another machine is only a copy, so a pull reads it again.
func TestPullRepairs(t *testing.T) {
	s := startServer(t)
	reader, desk := newHome(t, s, "reader"), newHome(t, s, "desk")
	desk.join(reader.reader())
	desk.talk(id(1), 10)
	desk.ok("remote", "push")
	reader.ok("remote", "pull")
	desk.same(reader)
	files, err := filepath.Glob(filepath.Join(reader.state(), "machines", "*.db"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	must(t, os.WriteFile(files[0], bytes.Repeat([]byte("damage "), 10000), 0o600))
	if _, _, code := reader.run("ls", "--machine", "desk"); code != 4 {
		t.Error("the control: exit", code)
	}
	if out := reader.ok("remote", "pull", "--json"); !strings.Contains(out, `"repaired": true`) {
		t.Error(out)
	}
	desk.same(reader)
}
