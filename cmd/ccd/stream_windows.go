package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// identity is of use to systemd's journal alone.
func identity(*os.File) (dev, inode uint64, ok bool) { return 0, 0, false }

// hungUp reports whether f is a terminal that is gone, which none is here.
func hungUp(*os.File) bool { return false }

// screen returns the width of a console in characters and its height in lines, 0 where they cannot be told.
func screen(f *os.File) (columns, lines int) {
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info) != nil {
		return 0, 0
	}
	return int(info.Window.Right-info.Window.Left) + 1, int(info.Window.Bottom-info.Window.Top) + 1
}
