package watcher

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ccd/internal/ownfile"
	"ccd/internal/transcript"
)

// Open opens the file of s for reading. Below a root it follows no symlink that leaves the root. It refuses irregular
// files, checking both before and after opening, so that a file swapped in between is not read. It also refuses files
// of other users, with ErrIrregular or ErrOwner.
func Open(s transcript.Session) (*os.File, error) {
	lstat, open := os.Lstat, os.OpenFile
	path := s.Path
	var top fs.FileInfo // the root, if there is one
	if s.Root != "" && s.Path != s.Root && within(s.Path, s.Root) {
		root, err := os.OpenRoot(s.Root)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		if top, err = root.Stat("."); err != nil {
			return nil, err
		}
		lstat, open = root.Lstat, root.OpenFile
		path = strings.TrimLeft(s.Path[len(s.Root):], string(filepath.Separator))
	}
	before, err := lstat(path)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, ErrIrregular
	}
	f, err := open(path, openFlags, 0)
	if err != nil {
		return nil, err
	}
	if err := checkOpened(f, before, top); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func checkOpened(f *os.File, before, root fs.FileInfo) error {
	after, err := f.Stat()
	if err == nil && (!after.Mode().IsRegular() || !os.SameFile(before, after)) {
		return fmt.Errorf("%w: replaced while opening it", ErrIrregular)
	}
	if err == nil && root != nil {
		return checkOwner(after, root)
	}
	return err
}

// ErrOwner is wrapped by the errors for a file that belongs neither to its root's owner nor to the user of this
// process.
var ErrOwner = errors.New("owned by a different user than its root")

// ErrLink is wrapped by the errors for a symbolic link to a directory outside of all roots, which is not followed.
var ErrLink = errors.New("link to a directory outside of the watched ones: not followed")

// ErrName is wrapped by the errors for a file or directory that is skipped because of its name.
var ErrName = errors.New("name has control characters")

// checkOwner refuses files of other users below a root, for example hard links. The number of links proves nothing,
// because backup programs use hard links.
func checkOwner(info, root fs.FileInfo) error {
	uid := ownfile.Owner(info)
	if uid < 0 || uid == ownfile.Owner(root) || uid == os.Geteuid() {
		return nil
	}
	return fmt.Errorf("%w (uid %d)", ErrOwner, uid)
}
