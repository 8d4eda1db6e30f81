// Package ownfile opens files of ccd's own, and nothing that only has such a file's name.
//
// Its invariant: no FIFO, device or directory put in a file's place makes an open wait, or a read go on for ever. It knows
// nothing of what files hold.
package ownfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrIrregular is wrapped by the error for what is a FIFO, a device, a directory or another thing that is no regular file.
var ErrIrregular = errors.New("not a regular file")

// Open is os.OpenFile for a regular file, which symlinks may lead to.
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

// Read is os.ReadFile for a regular file of at most so many bytes.
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
