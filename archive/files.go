package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Files returns the paths of what is there of the archive at path: its file, its locks, and the copies that were made
// of it before it was changed into a newer form, also those that a killed process did not finish. Symlinks among them are not followed.
func Files(path string) ([]string, error) {
	lock, gate := lockPaths(path)
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("find archive: %w", err)
	}
	var all []string
	for _, e := range entries {
		p := filepath.Join(filepath.Dir(path), e.Name())
		whole := strings.TrimSuffix(p, ".tmp")
		if (whole == path || p == lock || p == gate || schemaOf(path, whole) > 0) && !e.IsDir() {
			all = append(all, p)
		}
	}
	return all, nil
}

// Path returns the path that the archive was opened by.
func (a *Archive) Path() string { return a.path }

// Restrict takes from others the right to read what Files lists: a copy that was put in the archive's place may have
// brought another mode along. What is nobody else's to read already is left alone, and so is what a link leads to.
func (a *Archive) Restrict() error {
	all, err := Files(a.path)
	for _, path := range all {
		info, statErr := os.Lstat(path)
		if statErr != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 == 0 {
			continue
		}
		err = errors.Join(err, os.Chmod(path, info.Mode().Perm()&0o700))
	}
	if err != nil {
		return fmt.Errorf("keep archive from others: %w", err)
	}
	return nil
}
