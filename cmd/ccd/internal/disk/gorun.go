package disk

import (
	"path/filepath"
	"regexp"
	"strings"
)

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
