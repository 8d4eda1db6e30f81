package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ccd/internal/words"
)

// screenText collects what a program writes to a terminal.
type screenText struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
	end  chan struct{} // closed when no process has the terminal open
}

// watchScreen reads the terminal until it is closed.
func watchScreen(screen *os.File) *screenText {
	s := &screenText{more: make(chan struct{}, 1), end: make(chan struct{})}
	go func() {
		defer close(s.end)
		buf := make([]byte, 4096)
		for {
			n, err := screen.Read(buf)
			s.mu.Lock()
			s.text.Write(buf[:n])
			s.mu.Unlock()
			select {
			case s.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	return s
}

func (s *screenText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// shows waits for text and discards everything up to now.
func (s *screenText) shows(t *testing.T, text string) {
	t.Helper()
	s.has(t, text)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Reset()
}

// has waits for text.
func (s *screenText) has(t *testing.T, text string) {
	t.Helper()
	late := time.After(20 * time.Second)
	for !strings.Contains(s.String(), text) {
		select {
		case <-s.more:
		case <-late:
			t.Fatalf("%q is not shown: %.2000q", text, s.String())
		}
	}
}

// startOnTerminal starts ccd on a terminal. If out is not nil, stdout goes there.
func startOnTerminal(t *testing.T, home string, columns, lines uint16, env []string, out *bytes.Buffer, args ...string) (*exec.Cmd, *os.File, *screenText) {
	t.Helper()
	master, slave := terminalPair(t, columns, lines)
	c := ccdCommand(t, home, args...)
	c.Dir = home
	c.Env = append(c.Env, env...)
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	if out != nil {
		c.Stdout = out
	}
	// When the leader of a terminal's session ends, Linux drops what it wrote last and nobody has read. A picker needs no
	// controlling terminal, because it reads Ctrl-C as a key.
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: out == nil}
	must(t, c.Start())
	t.Cleanup(func() { c.Process.Kill() })
	slave.Close()
	return c, master, watchScreen(master)
}

func typeKeys(t *testing.T, screen *os.File, keys string) {
	t.Helper()
	if _, err := screen.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// exitOf waits for the end of a command and of its output.
func exitOf(t *testing.T, c *exec.Cmd, seen *screenText) int {
	t.Helper()
	err := c.Wait()
	select {
	case <-seen.end:
	case <-time.After(20 * time.Second):
		t.Error("something has the terminal open")
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return words.ExitDone
}

// TestPickByNumber: a terminal gets a list and a question for a number.
func TestPickByNumber(t *testing.T) {
	home := chooseHome(t, 3*time.Hour, 2*time.Hour, time.Hour)
	for keys, want := range map[string]string{"2\n": chosenB, "9\nx\n3\n": chosenA, "\n": "", "\x04": ""} {
		var out bytes.Buffer
		cmd, screen, seen := startOnTerminal(t, home, 80, 10, []string{"TERM=xterm"}, &out, "restore", "--session", ".", "--info", "--json")
		seen.shows(t, "Number of a session (1-3), empty to cancel: ")
		typeKeys(t, screen, keys)
		code := exitOf(t, cmd, seen)
		if want == "" && code != words.ExitInterrupted || want != "" && (code != words.ExitDone || !strings.Contains(out.String(), want)) {
			t.Errorf("%q: exit %d: %s", keys, code, out.String())
		}
		if strings.Contains(seen.String(), "\x1b") {
			t.Errorf("the terminal is steered: %q", seen.String())
		}
	}
}
