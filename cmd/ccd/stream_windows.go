package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// screen returns the columns and lines of a console, or 0 if unknown.
func screen(f *os.File) (columns, lines int) {
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info) != nil {
		return 0, 0
	}
	return int(info.Window.Right-info.Window.Left) + 1, int(info.Window.Bottom-info.Window.Top) + 1
}

// become fails, because the line is for a Unix shell.
func become(line string, _ []string) error {
	return fmt.Errorf("run %s: %w", line, errors.ErrUnsupported)
}
