package main

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// access fails where dir is not there; permissions of Windows are told only by trying.
func access(dir string) error {
	_, err := os.Stat(dir)
	return err
}

// readable fails where this user may not read the file at path.
func readable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// screen returns the width of a console in characters and its height in lines, 0 where they cannot be told.
func screen(f *os.File) (columns, lines int) {
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info) != nil {
		return 0, 0
	}
	return int(info.Window.Right-info.Window.Left) + 1, int(info.Window.Bottom-info.Window.Top) + 1
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

// ownerOf takes every file for this user's: who may read one is not told by an owner on Windows.
func ownerOf(fs.FileInfo) (name string, mine bool) { return "", true }
