//go:build linux || windows

package watcher

func openEvents() (*stream, error) { return openNotify() }
