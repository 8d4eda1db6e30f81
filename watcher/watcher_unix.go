//go:build unix

package watcher

import (
	"os"
	"syscall"
)

// openFlags keep an open from blocking on a FIFO and from following a symlink put in a transcript's place.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOFOLLOW | syscall.O_CLOEXEC

// dirFlags make the open fail if the path is no longer a directory, or is a symlink.
const dirFlags = os.O_RDONLY | syscall.O_DIRECTORY | syscall.O_NOFOLLOW | syscall.O_CLOEXEC
