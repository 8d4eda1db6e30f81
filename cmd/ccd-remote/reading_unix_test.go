//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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
		{"restore", "--session", id(1)},
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

// TestPullIsInterrupted kills a pull at each of its requests: what was stored stays, and the next pull continues.
func TestPullIsInterrupted(t *testing.T) {
	s := startServer(t)
	reader := newHome(t, s, "reader")
	recipient := reader.reader()
	desk := newHome(t, s, "desk")
	desk.join(recipient)
	for n := range 3 {
		desk.talk(id(n), 10)
		desk.ok("remote", "push") // a pack
	}
	for at := 1; ; at++ {
		must(t, os.RemoveAll(filepath.Join(reader.state(), "machines")))
		c := reader.command("remote", "pull")
		hit := false
		s.inject(func(n int, w http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
			if n != at {
				forward(w, r)
				return
			}
			hit = true
			forward(httptest.NewRecorder(), r)
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
			cut(w)
		})
		must(t, c.Start())
		err := c.Wait()
		n := s.n
		s.inject(nil)
		if !hit {
			if err != nil || n != 6 { // two lists, the head, three packs
				t.Errorf("not killed: %v, %d requests", err, n)
			}
			break
		}
		if out, talk, code := reader.run("ls", "--everywhere"); code != 0 {
			t.Errorf("killed at request %d: ls: exit %d: %s%s", at, code, out, talk)
		}
		reader.ok("remote", "pull")
		if got, want := s.requests(), map[int]string{5: "[GET:5]", 6: "[GET:3]"}[at]; want != "" && got != want {
			t.Errorf("killed at request %d: the next pull: %s, want %s", at, got, want) // stored packs are not read again
		}
		desk.same(reader)
	}
}
