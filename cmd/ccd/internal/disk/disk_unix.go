//go:build unix

package disk

import (
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Writable fails if this user cannot create files in dir; with syscall.EROFS if its file system is read-only. It writes
// nothing to find out.
func Writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }

// Readable fails if this user cannot read the file at path.
func Readable(path string) error { return unix.Access(path, unix.R_OK) }

// Owner names the owner of a file. mine is true for this user's files, and for every file if this user is root.
func Owner(info fs.FileInfo) (name string, mine bool) {
	st, known := info.Sys().(*syscall.Stat_t)
	if !known || os.Geteuid() == 0 || int(st.Uid) == os.Geteuid() {
		return "", true
	}
	name = strconv.Itoa(int(st.Uid))
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	return name, false
}

// Foreign reports whether a file is another user's, also where this user is root.
func Foreign(info fs.FileInfo) bool {
	st, known := info.Sys().(*syscall.Stat_t)
	return known && int(st.Uid) != os.Geteuid()
}
