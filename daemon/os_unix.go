//go:build unix

package daemon

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// flock locks the file without waiting. The lock ends when the file is closed, also by a crash.
func flock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// gone reports whether err means that the file certainly does not exist.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

func inode(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
