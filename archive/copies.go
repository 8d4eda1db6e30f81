package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ccd/internal/ownfile"
)

// A copy is the file of an import or a backup that is being made, perhaps far from the archive. A process that is killed leaves it, with
// everything that is in it. So its path stands in a note beside the archive, which the process keeps locked while it lives.
const copySuffix = ".copy-"

// copyAt notes a copy that is to be made at path. The caller ends it, which removes what is still there.
func (a *Archive) copyAt(path string) (end func(), err error) {
	name := a.path + copySuffix + strings.Trim(filepath.Base(path), ".")
	note, err := ownfile.Open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil && a.o.ReadOnly { // where nothing can be written, a backup is made all the same
		return func() { _ = os.Remove(path) }, nil
	}
	if err != nil {
		return nil, fmt.Errorf("note a copy: %w", err)
	}
	end = func() {
		_ = os.Remove(path) // it has its name, as a rule
		_ = os.Remove(name)
		ownfile.Unlock(note)
	}
	got, err := ownfile.TryLock(note, true, behindEnd)
	if err == nil && !got {
		err = errHeld
	}
	if err == nil {
		_, err = note.WriteString(path)
	}
	if err != nil {
		end()
		return nil, fmt.Errorf("note a copy: %w", err)
	}
	return end, nil
}

// RemoveCopies removes what killed imports and backups have left, and does nothing for those that run. It fails if one cannot be removed.
func (a *Archive) RemoveCopies() error {
	notes, err := filesBeside(a.path, copySuffix)
	for _, name := range notes {
		note, failed := ownfile.Open(name, os.O_RDWR, 0)
		if failed != nil {
			continue // it has just ended
		}
		if got, _ := ownfile.TryLock(note, true, behindEnd); got {
			err = errors.Join(err, removeCopy(note))
		}
		ownfile.Unlock(note)
	}
	if err != nil {
		return fmt.Errorf("remove unfinished copies: %w", err)
	}
	return nil
}

const maxPath = 8 << 10 // bytes

// removeCopy removes the copy that a note is about, then the note.
func removeCopy(note *os.File) error {
	path := make([]byte, maxPath)
	n, _ := note.ReadAt(path, 0) // what cannot be read has no such name
	if path := string(path[:n]); isTemp(path) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Remove(note.Name())
}

func isTemp(path string) bool {
	base := filepath.Base(path)
	return filepath.IsAbs(path) && strings.HasPrefix(base, ".ccd-") && strings.HasSuffix(base, ".tmp")
}
