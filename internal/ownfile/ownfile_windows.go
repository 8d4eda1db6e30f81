package ownfile

import (
	"io/fs"

	"golang.org/x/sys/windows"
)

const noWait = 0

// Inode returns 0, because directory listings on Windows do not include it: changes are detected by size and time.
func Inode(fs.FileInfo) uint64 { return 0 }

// Owner returns -1: on Windows the owner does not decide who may read a file.
func Owner(fs.FileInfo) int { return -1 }

// Links is 1, because directory listings on Windows do not include the number.
func Links(fs.FileInfo) int { return 1 }

// Free returns the bytes that this user can still write on dir's volume. It fails if dir does not exist.
func Free(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return int64(free), err
}
