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
