//go:build unix

package ownfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// TryLock tries to lock a whole file, shared or exclusive, without waiting. A read-only descriptor is sufficient. at is of no
// meaning here. The lock ends with Unlock, or with the process. It fails where files cannot be locked.
func TryLock(f *os.File, exclusive bool, at int64) (bool, error) {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, err
		}
	}
}

// Unlock ends a lock and closes the file, which may be nil or closed. Closing is not enough: a mapping of the file keeps the
// lock, and so does a process that is being started, until it executes its program.
func Unlock(f *os.File) {
	if f != nil {
		_ = unix.Flock(int(f.Fd()), unix.LOCK_UN) // fails if f is closed
		f.Close()
	}
}
