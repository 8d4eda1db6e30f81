//go:build unix

package install

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file that root replaced back to whom it belonged to.
func keepOwner(path string, old fs.FileInfo) error {
	was, ok := old.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	if err := os.Chown(path, int(was.Uid), int(was.Gid)); err != nil {
		return fmt.Errorf("keep owner of file: %w", err)
	}
	return nil
}
