//go:build unix

package ownfile

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// noWait makes opening a FIFO without a writer return at once.
const noWait = syscall.O_NONBLOCK

// Inode returns the inode number of a file, 0 if that is unknown.
func Inode(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}

// Owner returns the number of a file's owner, -1 if that is unknown.
func Owner(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

// Links returns the number of names of a file, 1 if that is unknown.
func Links(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
}

// Free returns the bytes that this user can still write on dir's file system. It fails if dir does not exist.
func Free(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(uint64(st.Bavail) * uint64(st.Bsize)), nil
}
