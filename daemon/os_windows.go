package daemon

import (
	"os"

	"golang.org/x/sys/windows"
)

// flock locks the file without waiting. The lock ends when the file is closed, also by a crash.
func flock(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, new(windows.Overlapped))
}

// unlock closes the file, which ends the lock.
func unlock(f *os.File) { f.Close() }
