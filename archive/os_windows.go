package archive

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryFlock tries to lock the file's first byte.
func tryFlock(f *os.File, exclusive bool) (bool, error) { return lockByte(f, exclusive, 0) }

// lockData locks a byte far behind the archive's end: a lock on its bytes would prevent others from reading them.
func lockData(f *os.File, exclusive bool) (bool, error) { return lockByte(f, exclusive, 1<<30) }

func lockByte(f *os.File, exclusive bool, high uint32) (bool, error) {
	var flags uint32 = windows.LOCKFILE_FAIL_IMMEDIATELY
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: high})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func unlock(*os.File) {} // closing a file releases its lock

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
