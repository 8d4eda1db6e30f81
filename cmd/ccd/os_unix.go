//go:build unix

package main

import (
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// access fails where this user may not make files in dir, or the file system is read-only.
func access(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }

// readable fails where this user may not read the file at path.
func readable(path string) error { return unix.Access(path, unix.R_OK) }

// screen returns the width of a terminal in characters and its height in lines, 0 where they cannot be told.
func screen(f *os.File) (columns, lines int) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(size.Col), int(size.Row)
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

// ownerOf names the owner of a file; mine is true where that is this user, or this user is root and may do as the owner.
func ownerOf(info fs.FileInfo) (name string, mine bool) {
	st, known := info.Sys().(*syscall.Stat_t)
	if !known || os.Geteuid() == 0 || int(st.Uid) == os.Geteuid() {
		return "", true
	}
	name = strconv.Itoa(int(st.Uid))
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	return name, false
}
