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

// Inode returns 0, because directory listings on Windows do not include it: changes are detected by size and time.
func Inode(fs.FileInfo) uint64 { return 0 }

// ownerOf returns false: on Windows the owner does not decide who may read a file.
func ownerOf(fs.FileInfo) (uid int, known bool) { return 0, false }

// links is 1, because directory listings on Windows do not include the number.
func links(fs.FileInfo) int { return 1 }

func watchLimitReached(error) bool { return true }
