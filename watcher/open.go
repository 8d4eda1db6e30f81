package watcher

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

// openTranscript opens the file of s for reading. Below a root no symlink leads out of the root; what is not a
// regular file is refused before and after it is opened, so that nothing put in its place meanwhile is read.
func openTranscript(s transcript.Session) (*os.File, error) {
	look, open := os.Lstat, os.OpenFile
	path := s.Path
	if s.Root != "" && s.Path != s.Root && within(s.Path, s.Root) {
		root, err := os.OpenRoot(s.Root)
		if err != nil {
			return nil, err
		}
		defer root.Close()
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
	if err := same(f, before); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func same(f *os.File, before fs.FileInfo) error {
	after, err := f.Stat()
	if err == nil && (!after.Mode().IsRegular() || !os.SameFile(before, after)) {
		return ErrIrregular
	}
	return err
}
