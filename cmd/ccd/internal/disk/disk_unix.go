//go:build unix

package disk

import "golang.org/x/sys/unix"

// Writable fails if this user cannot create files in dir; with EROFS if its file system is read-only. It writes
// nothing to find out.
func Writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }

// Readable fails if this user cannot read the file at path.
func Readable(path string) error { return unix.Access(path, unix.R_OK) }
