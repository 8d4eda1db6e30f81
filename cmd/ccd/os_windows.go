package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// access fails where dir is not there; permissions of Windows are told only by trying.
func access(dir string) error {
	_, err := os.Stat(dir)
	return err
}

// freeSpace returns the bytes that this user may still write on dir's volume.
func freeSpace(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return int64(free), err
}

// inotifyLimit reads one of the kernel's limits; Windows has none.
func inotifyLimit(string) (n int, ok bool) { return 0, false }
