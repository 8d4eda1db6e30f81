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

// ownerOf is not known on Windows: who may read a file is not told by its owner.
func ownerOf(fs.FileInfo) (uid int, known bool) { return 0, false }

// links is not told by a directory listing on Windows.
func links(fs.FileInfo) int { return 1 }

func exhausted(error) bool { return true }
