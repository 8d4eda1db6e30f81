//go:build unix

package daemon

import (
	"os"
	"syscall"
)

// flock locks the file without waiting. The lock ends when the file is closed, also by a crash.
func flock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
