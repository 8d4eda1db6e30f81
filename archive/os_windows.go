package archive

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isFull reports whether err means that a disk is full.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
