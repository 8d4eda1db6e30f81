//go:build unix

package packaging

import (
	"io/fs"
	"syscall"
)

// ownedBy reports whether a file is a user's.
func ownedBy(info fs.FileInfo, uid int) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == uid
}
