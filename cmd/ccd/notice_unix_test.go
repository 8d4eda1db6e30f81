//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ccd/daemon"
	"ccd/internal/testkit"
)

// turn returns a reply that reports that many tokens, and the title of the session.
func turn(n, tokens int) string {
	reply, _ := json.Marshal(map[string]any{
		"type": "assistant", "uuid": fmt.Sprint("r", n), "sessionId": "s", "cwd": "/home/you/ledger",
		"timestamp": time.Date(2026, 3, 1, 9, n, 0, 0, time.UTC),
		"message": map[string]any{
			"role": "assistant", "id": fmt.Sprint("m", n), "model": "claude-opus-4-1",
			"content": []any{map[string]any{"type": "text", "text": "The secret word is xylophone."}},
			"usage":   map[string]any{"input_tokens": tokens - 1, "output_tokens": 1},
		},
	})
	return string(reply) + "\n"
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// notices returns the notices that the command recorded.
func notices(home string) []string {
	b, _ := os.ReadFile(filepath.Join(home, "shown"))
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")[0:strings.Count(string(b), "\n")]
}

// noticeHome makes a home whose notice command appends its arguments, in brackets, to a file.
func noticeHome(t *testing.T, then string) (home, path string) {
	t.Helper()
	home = t.TempDir()
	show := filepath.Join(home, "show")
	put(t, show, "#!/bin/sh\necho \"$#[$1][$2][$3]\" >> "+filepath.Join(home, "shown")+"\n"+then)
	if err := os.Chmod(show, 0o700); err != nil {
		t.Fatal(err)
	}
	configure(t, home, "[watch]\nsettle = \"20ms\"\n[notice]\ncommand = [\""+show+"\", \"--urgent; touch x\"]\n")
	path = transcriptPath(home, 1)
	title := `{"type":"ai-title","aiTitle":"Weigh $(touch y) \u001b[31m parcels","sessionId":"s"}` + "\n"
	put(t, path, aLine+title)
	return home, path
}

func pressureOf(t *testing.T, c *child, home string) float64 {
	t.Helper()
	out, _, _ := piped(home, nil, "ls", "--json")
	var all []struct{ Pressure float64 }
	if json.Unmarshal(out, &all) != nil || len(all) == 0 {
		return -1
	}
	return all[0].Pressure
}

// There is one notice per rise of the pressure, also across a restart, without text of the session.
func TestNoticeOnceForEachRise(t *testing.T) {
	t.Parallel()
	home, path := noticeHome(t, "")
	n := 0
	var c *child
	reaches := func(tokens int, want float64) {
		t.Helper()
		n++
		appendTo(t, path, turn(n, tokens))
		eventually(t, fmt.Sprint("pressure ", want), func() bool { return pressureOf(t, c, home) == want })
	}
	shown := func(want int) {
		t.Helper()
		eventually(t, fmt.Sprint(want, " notices"), func() bool { return len(notices(home)) == want })
	}
	c = spawn(t, home, "run")
	eventually(t, "it is archived", func() bool { return pressureOf(t, c, home) >= 0 })
	reaches(100_000, 0.5)
	reaches(170_000, 0.85)
	shown(1)
	reaches(180_000, 0.9)
	reaches(20_000, 0.1)
	reaches(190_000, 0.95)
	shown(2)
	c.signal(t, syscall.SIGTERM)
	c.ends(t, exitDone, 5*time.Second)
	c = spawn(t, home, "run")
	eventually(t, "it runs", func() bool { return c.running(t) })
	reaches(184_000, 0.92)
	reaches(10_000, 0.05)
	if _, code, talk := piped(home, nil, "label", "latest", "--name", "night shift"); code != exitDone {
		t.Fatal(talk)
	}
	reaches(170_000, 0.85)
	shown(3)
	c.signal(t, syscall.SIGTERM)
	c.ends(t, exitDone, 5*time.Second)
	if got := notices(home); len(got) != 3 ||
		got[0] != `3[--urgent; touch x][ccd: context 85% full][Claude Code in ledger: Weigh $(touch y) \x1b[31m parcels]` ||
		got[2] != `3[--urgent; touch x][ccd: context 85% full][Claude Code in ledger: night shift]` {
		t.Errorf("%q", got)
	}
	for _, made := range []string{"x", "y"} {
		if _, err := os.Stat(filepath.Join(home, ".local", "state", "ccd", made)); err == nil {
			t.Error("a shell took the arguments")
		}
	}
}

// A notice command that hangs delays neither sessions nor the exit; status reports a missing one.
func TestNoticeThatHangs(t *testing.T) {
	testkit.Long(t, "it waits for a command that hangs")
	t.Parallel()
	home, path := noticeHome(t, "trap '' TERM INT HUP; echo $$ > "+"$0.pid; sleep 1000; exit\n")
	c := spawn(t, home, "run")
	eventually(t, "it is archived", func() bool { return pressureOf(t, c, home) >= 0 })
	appendTo(t, path, turn(1, 170_000))
	eventually(t, "the command runs", func() bool { return len(notices(home)) == 1 })
	appendTo(t, path, turn(2, 20_000))
	eventually(t, "sessions are followed meanwhile", func() bool { return pressureOf(t, c, home) == 0.1 })
	c.signal(t, syscall.SIGTERM)
	c.ends(t, exitDone, 3*time.Second)
	var pid int
	b, _ := os.ReadFile(filepath.Join(home, "show.pid"))
	if _, err := fmt.Sscan(string(b), &pid); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command is gone", func() bool { return syscall.Kill(pid, 0) != nil })

	configure(t, home, "[watch]\nsettle = \"20ms\"\n[notice]\ncommand = [\"/no/such/program\"]\n")
	c = spawn(t, home, "run")
	eventually(t, "it runs", func() bool { return c.running(t) })
	appendTo(t, path, turn(3, 170_000))
	eventually(t, "status tells", func() bool {
		info, _, _ := daemon.ReadRun(c.stateDir())
		return len(info.Errors) == 1 && strings.Contains(info.Errors[0].Error, "run notice.command: command not started")
	})
}
