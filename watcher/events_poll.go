//go:build !linux && !windows

package watcher

import "errors"

// openEvents fails: with kqueue, fsnotify keeps every watched directory and every file in it open, which are thousands
// here. Recent files and directories are polled instead.
func openEvents() (*stream, error) {
	return nil, errors.New("kqueue would keep every file open")
}
