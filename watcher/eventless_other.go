//go:build !linux

package watcher

// EventlessFS always returns "": only on Linux are there events.
func EventlessFS(string) string { return "" }
