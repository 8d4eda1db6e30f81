//go:build unix

package daemon

import (
	"os"
	"syscall"
)

// flock locks the file without waiting. The lock ends when the file is closed, also by a crash.
func flock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// unlock ends the lock and closes the file. Closing is not enough: a process that is being started has the file, and with it
// the lock, until it executes its program.
func unlock(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	f.Close()
}
