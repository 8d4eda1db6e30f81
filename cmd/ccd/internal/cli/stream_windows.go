package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// Screen returns the columns and lines of a console, or 0 if unknown.
func Screen(f *os.File) (columns, lines int) {
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info) != nil {
		return 0, 0
	}
	return int(info.Window.Right-info.Window.Left) + 1, int(info.Window.Bottom-info.Window.Top) + 1
}
