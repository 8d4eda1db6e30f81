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

// Owner names the owner of a file that is not this user's, "" for this user's own.
func Owner(info fs.FileInfo) (name string) {
	st, known := info.Sys().(*syscall.Stat_t)
	if !known || int(st.Uid) == os.Geteuid() {
		return ""
	}
	name = strconv.Itoa(int(st.Uid))
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	return name
}
