// Package disk reports what a file system says of a path: whether it exists, where it leads, who may use it, what is free.
//
// It changes nothing on disk and knows nothing of what files hold.
package disk

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Exists reports whether something has that path, a dangling link too.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Same reports whether two paths are the same file.
func Same(a, b string) bool {
	x, err := os.Stat(a)
	y, missing := os.Stat(b)
	return err == nil && missing == nil && os.SameFile(x, y)
}

// Existing returns the nearest directory above dir that exists, dir itself if it does.
func Existing(dir string) string {
	for dir != filepath.Dir(dir) && !Exists(dir) {
		dir = filepath.Dir(dir)
	}
	return dir
}

// Absolute makes a path absolute; one that cannot be is left as it is, and whatever opens it fails.
func Absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// Real returns path as an absolute one with its symlinks followed, as far as it exists.
func Real(path string) string {
	path = Absolute(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if path == filepath.Dir(path) {
		return path
	}
	return filepath.Join(Real(filepath.Dir(path)), filepath.Base(path))
}

// Within reports whether path is dir or lies below it, by their names alone.
func Within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return path != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// cached is the directory of an executable in Go's cache, wherever that is: two digits of a hash, then the hash with -d.
var cached = regexp.MustCompile(`/[0-9a-f]{2}/[0-9a-f]{64}-d/`)

// InGoCache reports whether the executable at path is in a cache of Go, which Go empties.
func InGoCache(path string) bool {
	path = filepath.ToSlash(path)
	return strings.Contains(path, "/go-build/") || cached.MatchString(path)
}

// FromGoRun reports whether `go run` built the executable at path.
func FromGoRun(path string) bool {
	return InGoCache(path) || strings.Contains(filepath.ToSlash(path), "/go-build")
}
