// Package ownfile opens ccd's own files.
// If a FIFO, device or directory has such a file's name, opening or reading it fails instead of blocking forever. The
// package does not know what the files contain.
package ownfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
)

// ErrIrregular is wrapped by the error for anything that is not a regular file, such as a FIFO, a device or a
// directory.
var ErrIrregular = errors.New("not a regular file")

// Open calls os.OpenFile. It fails with ErrIrregular if path, with symlinks followed, is not a regular file.
func Open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag|noWait, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrIrregular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Same reports whether two paths lead to the same file.
func Same(a, b string) bool {
	x, err := os.Stat(a)
	y, missing := os.Stat(b)
	return err == nil && missing == nil && os.SameFile(x, y)
}

// Read reads a regular file. It fails with ErrIrregular, or if the file has more than most bytes.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("over %d bytes", most)}
	}
	return text, err
}

// Append adds a line to a log of limited size: a full log is first renamed to path.1, replacing an older one. It
// ignores errors, so that no caller fails because of a log. It writes nothing into a directory without the owner's
// write permission, not even as root.
func Append(path string, line []byte, most int64) {
	if dir, err := os.Stat(filepath.Dir(path)); err != nil || dir.Mode().Perm()&0o200 == 0 {
		return
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist), err == nil && !info.Mode().IsRegular():
		return
	case err == nil && info.Size()+int64(len(line)) > most:
		if os.Rename(path, path+".1") != nil {
			return
		}
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(line)
	_ = f.Close()
}

// Lines yields the lines of a log of Append, those of the older one first. It ignores errors.
func Lines(path string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, name := range []string{path + ".1", path} {
			text, err := os.ReadFile(name)
			if err != nil {
				continue
			}
			for line := range bytes.Lines(text) {
				if !yield(line) {
					return
				}
			}
		}
	}
}
