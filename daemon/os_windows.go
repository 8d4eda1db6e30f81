package daemon

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// flock takes the file's lock without waiting; it is given back when the file is closed, also by a crash.
func flock(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, new(windows.Overlapped))
}

// gone reports whether err says for certain that there is no such file.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func inode(fs.FileInfo) uint64 { return 0 }
