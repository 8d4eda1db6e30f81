package watcher

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

// Open opens the file of s for reading. Below a root no symlink leads out of the root; what is not a
// regular file is refused before and after it is opened, so that nothing put in its place meanwhile is read, and so is
// a file of another user.
func Open(s transcript.Session) (*os.File, error) {
	look, open := os.Lstat, os.OpenFile
	path := s.Path
	var top fs.FileInfo // the root, where there is one
	if s.Root != "" && s.Path != s.Root && within(s.Path, s.Root) {
		root, err := os.OpenRoot(s.Root)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		if top, err = root.Stat("."); err != nil {
			return nil, err
		}
		look, open = root.Lstat, root.OpenFile
		path = strings.TrimLeft(s.Path[len(s.Root):], string(filepath.Separator))
	}
	before, err := look(path)
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
	if err := same(f, before, top); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func same(f *os.File, before, root fs.FileInfo) error {
	after, err := f.Stat()
	if err == nil && (!after.Mode().IsRegular() || !os.SameFile(before, after)) {
		return ErrIrregular
	}
	if err == nil && root != nil {
		return checkOwner(after, root)
	}
	return err
}

// ErrOwner is wrapped by the errors for a file that belongs neither to its root's owner nor to the user that ccd runs as.
var ErrOwner = errors.New("owned by a different user than its directory root")

// ErrName is wrapped by the errors for a file or directory that is passed over for its name.
var ErrName = errors.New("its name has control characters")

// checkOwner refuses what another user put below a root, a hard link to a file of theirs for instance. How many names a
// file has says nothing: backup programs make hard links.
func checkOwner(info, root fs.FileInfo) error {
	uid, known := ownerOf(info)
	if of, _ := ownerOf(root); !known || uid == of || uid == os.Geteuid() {
		return nil
	}
	return fmt.Errorf("%w (uid %d)", ErrOwner, uid)
}
