//go:build !linux

package watcher

// foreignFS is known on Linux only: macOS polls everything, Windows is told by `poll = true`.
func foreignFS(string) string { return "" }
