package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ccd/cmd/ccd/internal/status"
	"ccd/internal/testkit"
	"ccd/internal/words"
)

// TestOneSize: every command shows the same size for a session, also if its model reports none.
func TestOneSize(t *testing.T) {
	testkit.Long(t, "it asks each command")
	home := t.TempDir()
	reported := bytes.ReplaceAll(bytes.Join(newStory().lines, nil), []byte("2026-01-15T"), []byte(time.Now().AddDate(0, 0, 1).Format("2006-01-02T"))) // live
	estimated := regexp.MustCompile(`,"usage":\{[^}]*\}`).ReplaceAll(reported, nil)
	sizes := map[string]string{"aaaa1111-0000-4000-8000-00000000000a": `^[0-9]+K, [0-9]+%$`, "bbbb2222-0000-4000-8000-00000000000b": `^about [0-9]+K, [0-9]+%$`}
	for id, text := range map[string][]byte{"aaaa1111-0000-4000-8000-00000000000a": reported, "bbbb2222-0000-4000-8000-00000000000b": estimated} {
		path := filepath.Join(home, ".claude", "projects", "-p", id+".jsonl")
		put(t, path, string(text))
	}
	ask := func(args ...string) string {
		t.Helper()
		code, out, said := ccdIn(home, "", args...)
		if code != words.ExitDone {
			t.Fatalf("ccd %s: exit %d, %s", strings.Join(args, " "), code, said)
		}
		return out + said
	}
	ask("run", "--once", "-q")
	for line := range strings.Lines(ask("ls")) {
		cells := strings.Split(line, "\t")
		want, listed := sizes[cells[0]]
		if !listed {
			continue
		}
		if !regexp.MustCompile(want).MatchString(cells[4]) {
			t.Errorf("ls: size %q, want %s", cells[4], want)
		}
		sizes[cells[0]] = cells[4]
	}
	for id, size := range sizes {
		for _, args := range [][]string{
			{"status"}, {"status", "--totals"}, {"compact", "--dry-run", id}, {"compact", id}, {"compact", "--stdout", id}, {"resume", "--dry-run", id},
		} {
			if out := ask(args...); !strings.Contains(out, size) {
				t.Errorf("ccd %s: no %q in\n%.2000s", strings.Join(args, " "), size, out)
			}
		}
	}
	var all []status.Session
	must(t, json.Unmarshal([]byte(ask("ls", "--json")), &all))
	for _, s := range all {
		if got := (status.Size{Tokens: s.Tokens, About: s.Converted, Window: s.Window}).String(); got != sizes[s.Session] {
			t.Errorf("ls --json: %q, want %q", got, sizes[s.Session])
		}
	}
}
