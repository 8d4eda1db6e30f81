//go:build unix

package hook

import "syscall"

func pipe(path string) error { return syscall.Mkfifo(path, 0o600) }
