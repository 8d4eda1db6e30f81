package main

import (
	"bufio"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNothingSteersATerminal: questions and messages contain directory names, which others choose.
func TestNothingSteersATerminal(t *testing.T) {
	home := t.TempDir()
	configure(t, home, "[trigger]\nthreshold = 1\nmin_savings = 0\n")
	dir := filepath.Join(home, ".claude", "projects", "-p\u009b31mq\u202ex")
	put(t, filepath.Join(dir, "00000000-0000-4000-8000-000000000001.jsonl"), string(rich("")))
	once(t, home)
	master, slave := terminalPair(t, 200, 50)
	must(t, master.SetReadDeadline(time.Now().Add(time.Minute)))
	c := ccdCommand(t, home, "setup", "--undo", "-v")
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must(t, c.Start())
	defer c.Process.Kill()
	slave.Close()
	in, seen := bufio.NewReader(master), ""
	for !strings.Contains(seen, "Continue? [Y/n] ") {
		b, err := in.ReadByte()
		if err != nil {
			t.Fatalf("%v after %q", err, seen)
		}
		seen += string([]byte{b})
	}
	if _, err := master.Write([]byte("no\n")); err != nil {
		t.Error(err)
	}
	if err := c.Wait(); err == nil {
		t.Errorf("an answer of no ended with %v", err)
	}
	if strings.ContainsAny(seen, "\u009b\u202e") || !strings.Contains(seen, `-p\xc2\x9b31mq\xe2\x80\xaex`) {
		t.Errorf("the terminal was given %q", seen)
	}
}
