package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/words"
)

// onTerminal runs a command on a terminal, types a line, and returns everything that the terminal got.
func onTerminal(t *testing.T, home, line string, args ...string) (string, int) {
	t.Helper()
	master, slave := terminalPair(t, 200, 50)
	c := ccdCommand(t, home, args...)
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must(t, c.Start())
	slave.Close()
	late := time.AfterFunc(time.Minute, func() { c.Process.Kill() })
	defer late.Stop()
	var got strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := master.Read(buf)
		got.Write(buf[:n])
		if line != "" && strings.Contains(got.String(), "to remove all of it: ") {
			_, err := master.WriteString(line + "\n")
			must(t, err)
			line = ""
		}
		if err != nil { // EIO: the command has ended
			break
		}
	}
	_ = c.Wait()
	return got.String(), c.ProcessState.ExitCode()
}

// hostile would control a terminal: it clears the screen, sets the clipboard, a link and the title, reverses text, and
// overwrites earlier output.
const hostile = "one\ttwo\n\x1b[2J\x1b]52;c;cm0gLXJm\x07\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\u009b31m\u009d0;t\u009c rm -rf\rls   \b\b \u202egpj.\u2066\u2069 end"

// steering matches what must not reach a terminal: control characters except newline, tab and CR LF, also as single
// bytes, and bidi overrides.
var steering = regexp.MustCompile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u0080-\u009f\u202a-\u202e\u2066-\u2069]|\r[^\r\n]|\r$")

// Transcript text never controls a terminal. Pipes and --raw get the exact bytes.
func TestHostileTranscriptOnATerminal(t *testing.T) {
	home := t.TempDir()
	text, err := json.Marshal(hostile)
	must(t, err)
	line := `{"type":"user","message":{"role":"user","content":` + string(text) + `},"cwd":"/you/` + "\\u001b[2J\u202e" + `","uuid":"u1","timestamp":"2026-03-01T09:00:00.000Z","sessionId":"s"}`
	put(t, transcriptPath(home, 1), line+"\n"+strings.ReplaceAll(line, "u1", "u2")+"\n\x1b[35mno JSON \x9b2J\xff\n")
	configure(t, home, "[trigger]\nthreshold = 1\nmin_savings = 0\n")
	once(t, home)
	const id = "00000000-0000-4000-8000-000000000001"
	if !steering.MatchString(hostile) || !steering.MatchString("a\rb") || steering.MatchString("a\tb\r\n\u4e16") {
		t.Fatal("the test sees nothing")
	}
	for _, line := range testkit.Sample(t, []string{
		"restore " + id + "#1", "restore " + id + "#3", "restore --session " + id, "restore --info " + id + "#1", "show " + id,
		"show --format json " + id, "show --format messages " + id, "show --format html " + id, "search rm", "search --json rm", "timeline " + id, "timeline --json " + id,
		"ls", "ls --json", "status", "status --json", "status --totals", "archive verify", "diff " + id, "resume --dry-run " + id,
		"show --path nowhere\x1b[2J", "doctor",
	}, 5) {
		got, _ := onTerminal(t, home, "", strings.Split(line, " ")...)
		if at := steering.FindStringIndex(strings.ToValidUTF8(colours.ReplaceAllString(got, ""), "\u0080")); at != nil || got == "" {
			t.Errorf("%s: %q", line, got)
		}
	}
	seen, code := onTerminal(t, home, "", "restore", id+"#1")
	if want := mark.Visible(hostile); code != words.ExitDone || !strings.Contains(strings.ReplaceAll(seen, "\r\n", "\n"), want) || !strings.Contains(want, "one\ttwo\n\\x1b[2J") {
		t.Errorf("exit %d: %q, want %q", code, seen, want)
	}
	if out, _, _ := outputs(t, home, "restore", id+"#1"); string(out) != hostile {
		t.Errorf("a pipe got %q", out)
	}
	if found, _ := onTerminal(t, home, "", "search", "RM"); !strings.Contains(found, " \x1b[1;31mrm\x1b[0m -rf") {
		t.Errorf("search marks no match: %q", found)
	}
	if out, _, _ := outputs(t, home, "search", "RM"); bytes.ContainsRune(out, '\x1b') || !bytes.Contains(out, []byte(" rm -rf")) {
		t.Errorf("search in a pipe: %q", out)
	}
	if raw, _ := onTerminal(t, home, "", "restore", "--raw", id+"#3"); !strings.HasPrefix(raw, "\x1b[35mno JSON \x9b2J\xff") {
		t.Errorf("--raw on a terminal got %q", raw)
	}
}

// colours matches ccd's own colors in search and doctor, and the clearing of its progress bar.
var colours = regexp.MustCompile("\x1b\\[(1;31|3[1239]|0)m|\r[a-z: ]*(\\[[# ]*\\] )?[0-9]*%?\x1b\\[K|\r\x1b\\[K")
