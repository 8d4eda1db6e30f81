//go:build unix

package main

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// identity returns the device and the inode of what f is.
func identity(f *os.File) (dev, inode uint64, ok bool) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return 0, 0, false
	}
	return uint64(st.Dev), st.Ino, true
}

// hungUp reports whether f is a terminal that is gone.
func hungUp(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return errors.Is(err, unix.EIO)
}

// screen returns the width of a terminal in characters and its height in lines, 0 where they cannot be told.
func screen(f *os.File) (columns, lines int) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(size.Col), int(size.Row)
}
