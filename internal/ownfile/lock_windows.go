package ownfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// TryLock tries to lock the byte at an offset, shared or exclusive, without waiting. Others cannot read a locked byte, so it
// may be behind the end of the file. The lock ends with Unlock, or with the process. It fails where files cannot be locked.
func TryLock(f *os.File, exclusive bool, at int64) (bool, error) {
	var flags uint32 = windows.LOCKFILE_FAIL_IMMEDIATELY
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{Offset: uint32(at), OffsetHigh: uint32(at >> 32)})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// Unlock closes the file, which may be nil or closed, and so ends the lock.
func Unlock(f *os.File) { f.Close() }
