package watcher

import (
	"io/fs"
	"os"
	"syscall"
)

const (
	openFlags = os.O_RDONLY
	dirFlags  = os.O_RDONLY
)

const errNotADirectory = syscall.ENOTDIR

// inode is not told by a directory listing on Windows: size and time must do.
func inode(fs.FileInfo) uint64 { return 0 }

func exhausted(error) bool { return true }
