//go:build unix

package main

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// access fails where this user may not make files in dir, or the file system is read-only.
func access(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }

// readable fails where this user may not read the file at path.
func readable(path string) error { return unix.Access(path, unix.R_OK) }

// columns returns the width of a terminal in characters, 0 where it cannot be told.
func columns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// freeSpace returns the bytes that this user may still write on dir's file system.
func freeSpace(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

// inotifyLimit reads one of the kernel's limits; ok is false where there is none to read.
func inotifyLimit(name string) (n int, ok bool) {
	b, err := os.ReadFile("/proc/sys/fs/inotify/" + name)
	if err != nil {
		return 0, false
	}
	n, err = strconv.Atoi(strings.TrimSpace(string(b)))
	return n, err == nil
}
