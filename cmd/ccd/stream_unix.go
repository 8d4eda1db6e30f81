//go:build unix

package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// screen returns the columns and lines of a terminal, or 0 if unknown.
func screen(f *os.File) (columns, lines int) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(size.Col), int(size.Row)
}

// become replaces the process by a shell that runs line.
func become(line string, env []string) error {
	return fmt.Errorf("run %s: %w", line, unix.Exec("/bin/sh", []string{"sh", "-c", line}, env))
}
