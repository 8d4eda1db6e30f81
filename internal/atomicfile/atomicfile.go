// Package atomicfile replaces files so that a reader, or the next start after a power cut, finds the old one whole or
// the new one whole and never a mixture.
//
// It owns the order of steps: a temporary file in the same directory, write, fsync, rename, fsync of the directory.
// Its invariant is that a failure at any step leaves the target as it was and no temporary file behind (a crash may
// leave one; Clean removes it). It never follows a symlink at the target, never widens the permissions of what it
// replaces, and knows nothing of what it writes.
package atomicfile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	tempPrefix = ".ccd-"
	tempSuffix = ".tmp"
	tempRandom = 8         // bytes
	staleAfter = time.Hour // a writer that needs longer than this is dead
)

// ErrIrregular is wrapped by the error for a target that is a symlink, a directory or another thing that is not a
// regular file: it is never replaced.
var ErrIrregular = errors.New("not a regular file")

// Write replaces the file at path, or makes it, with data. A new file gets perm less the umask; one that stands there
// keeps no permission that perm does not have, and gets none that it did not have. The directory must exist.
func Write(path string, perm fs.FileMode, data []byte) error {
	p, err := Prepare(path, perm, data)
	if err != nil {
		return err
	}
	return p.Commit()
}

// WriteNew makes the file at path with data. Where something of that name stands already, it is left as it is and the
// error wraps fs.ErrExist.
func WriteNew(path string, perm fs.FileMode, data []byte) error {
	p, err := Prepare(path, perm, data)
	if err != nil {
		return err
	}
	return p.CommitNew()
}

// Clean removes the temporary files of this package in dir that are older than an hour: what a crash left. A dir that
// does not exist is clean.
func Clean(dir string) error {
	return clean(dir, time.Now().Add(-staleAfter))
}

// CleanAll removes the temporary files of this package in dir, however new: for a caller that knows of no writer there.
func CleanAll(dir string) error {
	return clean(dir, time.Now().Add(staleAfter))
}

func clean(dir string, before time.Time) error {
	root, names, err := stale(dir, before)
	if root == nil {
		return wrapClean(dir, err)
	}
	defer root.Close()
	for _, name := range names {
		err = errors.Join(err, root.Remove(name))
	}
	return wrapClean(dir, err)
}

func wrapClean(dir string, err error) error {
	if err != nil {
		return fmt.Errorf("clean %s: %w", dir, err)
	}
	return nil
}

// Stale returns the names of the files in dir that Clean would remove. A dir that does not exist has none.
func Stale(dir string) ([]string, error) {
	root, names, err := stale(dir, time.Now().Add(-staleAfter))
	if root != nil {
		root.Close()
	}
	if err != nil {
		return names, fmt.Errorf("look for temporary files in %s: %w", dir, err)
	}
	return names, nil
}

// stale opens dir (nil where it is not there, or cannot be opened) and finds our temporary files in it.
func stale(dir string, before time.Time) (*os.Root, []string, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var names []string
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		if !isTemp(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		if info, err := root.Lstat(e.Name()); err == nil && info.ModTime().Before(before) && owned(info) {
			names = append(names, e.Name())
		}
	}
	return root, names, err
}

func tempName() string {
	var b [tempRandom]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return tempPrefix + hex.EncodeToString(b[:]) + tempSuffix
}

// isTemp reports whether name is one that tempName makes; files that only look alike are not ours to remove.
func isTemp(name string) bool {
	middle, ok := strings.CutPrefix(name, tempPrefix)
	if !ok {
		return false
	}
	middle, ok = strings.CutSuffix(middle, tempSuffix)
	if !ok {
		return false
	}
	b, err := hex.DecodeString(middle)
	return err == nil && len(b) == tempRandom
}

func split(path string) (dir, base string, err error) {
	base = filepath.Base(path)
	if path == "" || base == "." || base == ".." || base == string(filepath.Separator) {
		return "", "", fmt.Errorf("%q is no file name", path)
	}
	return filepath.Dir(path), base, nil
}
