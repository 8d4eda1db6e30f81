//go:build !linux && !windows

package watcher

import "errors"

// openEvents refuses: kqueue needs an open file for every watched directory and (as fsnotify uses it) for every file
// in it, which is thousands here. Recent files and directories are polled instead.
func openEvents() (*stream, error) {
	return nil, errors.New("kqueue would hold every file open")
}
