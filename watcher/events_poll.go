//go:build !linux && !windows

package watcher

// openEvents fails: with kqueue, fsnotify keeps every watched directory and every file in it open, which are thousands
// here. Recent files and directories are polled instead.
func openEvents() (*stream, error) {
	return nil, errNoEvents
}
