//go:build unix

package watcher

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openFlags: a FIFO put in a transcript's place cannot make an open hang, nor a symlink lead it elsewhere.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOFOLLOW | syscall.O_CLOEXEC

// dirFlags: what is no directory any more, or a symlink to one, is not listed.
const dirFlags = os.O_RDONLY | syscall.O_DIRECTORY | syscall.O_NOFOLLOW | syscall.O_CLOEXEC

const errNotADirectory = syscall.ENOTDIR

func inode(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}

// ownerOf is the user whose file it is.
func ownerOf(info fs.FileInfo) (uid int, known bool) {
	st, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	return int(st.Uid), true
}

// links is how many names a file has.
func links(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
}

// exhausted reports whether err means that the system allows no further watches.
func exhausted(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}
