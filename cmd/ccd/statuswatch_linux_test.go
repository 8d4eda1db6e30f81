package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"ccd/cmd/ccd/internal/status"

	"ccd/internal/testkit"
	"golang.org/x/sys/unix"
)

// TestWatchFollowsChanges: in a pipe, --watch prints a block or a line of JSON at each change and nothing between, and
// exits 130 after an interrupt.
func TestWatchFollowsChanges(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		t.Run(fmt.Sprint("json=", asJSON), func(t *testing.T) {
			home := t.TempDir()
			writeRunFile(t, home, "a")
			args := []string{"status", "--watch", "100ms"}
			if asJSON {
				args = append(args, "--json")
			}
			c := ccdCommand(t, home, args...)
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			defer c.Process.Kill()
			lines := bufio.NewReader(out)
			for _, name := range []string{"a", "b", "c"} {
				writeRunFile(t, home, name)
				if got := nextStatus(t, lines, asJSON); !strings.Contains(got, "/src/"+name+".jsonl") {
					t.Errorf("after %s: %s", name, got)
				}
			}
			ends(t, c, func() error { return c.Process.Signal(os.Interrupt) })
		})
	}
}

// nextStatus reads up to the error in the next status.
func nextStatus(t *testing.T, lines *bufio.Reader, asJSON bool) string {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if asJSON {
			var o status.Report
			if err := json.Unmarshal([]byte(line), &o); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			return line
		}
		if strings.HasPrefix(line, "error") {
			return line
		}
	}
}

// ends checks that the command exits 130 after stop.
func ends(t *testing.T, c *exec.Cmd, stop func() error) {
	t.Helper()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("ended with %v, want exit status %d", err, exitInterrupted)
	}
}

// terminalPair returns both ends of a pseudo-terminal.
func terminalPair(t *testing.T, columns, lines uint16) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("NOTICE: no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: lines})
	}
	if err == nil {
		program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skipf("NOTICE: no pseudo-terminal: %v", err)
	}
	return screen, program
}

// terminalName returns the path of the terminal whose other end is screen.
func terminalName(t *testing.T, screen *os.File) string {
	t.Helper()
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("/dev/pts/%d", n)
}

// TestWatchOnATerminal: the status is redrawn in place, within the size of the terminal, Ctrl-C exits 130, and no
// terminal mode stays changed.
func TestWatchOnATerminal(t *testing.T) {
	testkit.Long(t, "it redraws a terminal")
	home := t.TempDir()
	writeRunFile(t, home, "a")
	master, slave := terminalPair(t, 40, 6)
	c := ccdCommand(t, home, "status", "--watch", "100ms")
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	slave.Close()
	in := bufio.NewReader(master)
	var seen strings.Builder
	for frames := 0; frames < 3; { // the last byte of a frame clears the rest of the screen
		b, err := in.ReadByte()
		if err != nil {
			t.Fatalf("%v after %q", err, seen.String())
		}
		seen.WriteByte(b)
		if strings.HasSuffix(seen.String(), "\x1b[J") {
			frames++
		}
	}
	ends(t, c, func() error { _, err := master.Write([]byte{3}); return err })
	for _, f := range strings.Split(strings.TrimSuffix(seen.String(), "\x1b[J"), "\x1b[J") {
		body, home := strings.CutPrefix(f, "\x1b[H")
		lines := strings.Split(strings.TrimRight(body, "\r\n"), "\r\n")
		if !home || len(lines) > 5 || !strings.Contains(f, "more lines") {
			t.Errorf("a frame of %d lines: %q", len(lines), f)
		}
		for _, line := range lines {
			if plain := strings.Trim(strings.TrimPrefix(line, "\x1b[K"), "\r\n"); len([]rune(plain)) > 40 {
				t.Errorf("a line of %d: %q", len([]rune(plain)), plain)
			}
		}
	}
	if strings.Contains(seen.String(), "\x1b[?") {
		t.Errorf("a mode of the terminal was switched: %q", seen.String())
	}
}
