//go:build !windows

package archive

import (
	"errors"

	"golang.org/x/sys/unix"
)

// isFull reports whether err means that a disk or a quota is full.
func isFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }
