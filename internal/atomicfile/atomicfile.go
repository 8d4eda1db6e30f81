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
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"time"

	"ccd/internal/ownfile"
)

// staleAfter is the age at which a temporary file's writer must be dead.
const staleAfter = time.Hour

// ErrIrregular is wrapped by the error for a target that is not a regular file, such as a symlink or a directory. It is
// not replaced.
var ErrIrregular = errors.New("not a regular file")

// Write creates or replaces the file at path. A new file gets perm less the umask; an existing file keeps the
// permissions that are also in perm. The directory must exist. It fails as Prepare and Commit do.
func Write(path string, perm fs.FileMode, data []byte) error {
	p, err := Prepare(path, perm, data)
	if err != nil {
		return err
	}
	return p.Commit()
}

// Clean removes temporary files of this package in dir that are older than an hour, left by a crash. It ignores a
// missing dir. It fails if one cannot be removed.
func Clean(dir string) error {
	return clean(dir, time.Now().Add(-staleAfter))
}

// CleanAll removes all temporary files of this package in dir. The caller must know that there is no writer. It fails as Clean does.
func CleanAll(dir string) error {
	return clean(dir, time.Now().Add(staleAfter))
}

func clean(dir string, before time.Time) error {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		defer root.Close()
		err = remove(root, before)
	}
	if err != nil {
		return fmt.Errorf("remove leftover temporary files in %s: %w", dir, err)
	}
	return nil
}

func remove(root *os.Root, before time.Time) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		if !temporary.MatchString(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		if info, lost := root.Lstat(e.Name()); lost == nil && info.ModTime().Before(before) && slices.Contains([]int{-1, os.Geteuid()}, ownfile.Owner(info)) {
			err = errors.Join(err, root.Remove(e.Name()))
		}
	}
	return err
}

// SyncDir makes a rename in the directory durable, or fails. Windows has no fsync of a directory, and NTFS journals its names.
func SyncDir(dir *os.Root) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func tempName() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return fmt.Sprintf(".ccd-%x.tmp", b)
}

// temporary matches the names of tempName only, so that other files are kept.
var temporary = regexp.MustCompile(`^\.ccd-[0-9a-f]{16}\.tmp$`)

func split(path string) (dir, base string, err error) {
	base = filepath.Base(path)
	if path == "" || base == "." || base == ".." || base == string(filepath.Separator) {
		return "", "", fmt.Errorf("%q is not a file name", path)
	}
	return filepath.Dir(path), base, nil
}
