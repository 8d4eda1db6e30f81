//go:build !linux

package watcher

// EventlessFS always returns "". macOS polls everything, and on Windows users can set `poll = true`.
func EventlessFS(string) string { return "" }
