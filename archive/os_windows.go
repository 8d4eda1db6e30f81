package archive

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// inode returns 0: there is no list of locks to compare it with.
func inode(os.FileInfo) uint64 { return 0 }

// links returns 1: the number of names is not known.
func links(os.FileInfo) uint64 { return 1 }

// freeSpace returns the bytes that this user may still write below dir.
func freeSpace(dir string) (int64, error) {
	p, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(p, &free, nil, nil); err != nil {
		return 0, err
	}
	return int64(free), nil
}

// isFull reports whether err means that a disk is full.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// syncDir does nothing: flushing the file makes the rename durable.
func syncDir(string) error { return nil }
