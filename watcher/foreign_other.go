//go:build !linux

package watcher

// ForeignFS names the file system of dir where its events cannot be trusted. It is known on Linux only: macOS polls
// everything, Windows is told by `poll = true`.
func ForeignFS(string) string { return "" }
