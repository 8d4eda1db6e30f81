// Package disk reports what a file system says of a path: whether it exists, where it leads, who may use it, what is free.
//
// It changes nothing on disk and knows nothing of what files hold.
package disk

import (
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"ccd/internal/lazy"
	"ccd/internal/ownfile"
)

// Exists reports whether something has that path, a dangling link too.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
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

// Owner names the owner of a file that is not this user's, "" for this user's own, and where that is not known.
func Owner(info fs.FileInfo) (name string) {
	uid := ownfile.Owner(info)
	if uid < 0 || uid == os.Geteuid() {
		return ""
	}
	name = strconv.Itoa(uid)
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	return name
}

// ofGoRun is the directory of an executable of `go run`: a temporary one, or one in Go's cache, wherever that is, of two digits of a hash
// and then the hash with -d.
var ofGoRun = lazy.Regexp(`/go-build(?:\d+/b\d+/exe)?/|/[0-9a-f]{2}/[0-9a-f]{64}-d/`)

// FromGoRun reports whether `go run` built the executable at path: it does not stay there.
func FromGoRun(path string) bool { return ofGoRun().MatchString(filepath.ToSlash(path)) }
