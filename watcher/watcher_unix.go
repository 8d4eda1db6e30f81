//go:build unix

package watcher

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openFlags keep an open from blocking on a FIFO and from following a symlink put in a transcript's place.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOFOLLOW | syscall.O_CLOEXEC

// dirFlags make the open fail if the path is no longer a directory, or is a symlink.
const dirFlags = os.O_RDONLY | syscall.O_DIRECTORY | syscall.O_NOFOLLOW | syscall.O_CLOEXEC

const errNotADirectory = syscall.ENOTDIR

// ownerOf returns the uid of a file's owner.
func ownerOf(info fs.FileInfo) (uid int, known bool) {
	st, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	return int(st.Uid), true
}

// watchLimitReached reports whether err means that the system allows no further watches.
func watchLimitReached(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}
