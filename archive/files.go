package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ownPaths returns the paths of the archive at path and of the files beside it that have fixed names.
func ownPaths(path string) []string {
	return []string{path, path + ".tmp", tombstonesPath(path), tipsPath(path), lockPath(path)}
}

// Files returns the existing files of the archive at path: the archive, its lock, the tombstones, the tips, damaged
// files that were set aside, and the temporary file of a process that was killed while
// writing a new archive. It does not follow symlinks. It fails if the directory cannot be read.
func Files(path string) ([]string, error) {
	var all []string
	aside, err := filesAside(path)
	if err != nil {
		return nil, err
	}
	for _, p := range append(ownPaths(path), aside...) {
		info, err := os.Lstat(p)
		switch {
		case err == nil && !info.IsDir():
			all = append(all, p)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("find archive: %w", err)
		}
	}
	return all, nil
}

// filesAside returns the damaged files that Repair has kept.
func filesAside(path string) (all []string, err error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("find archive: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+asideSuffix) {
			all = append(all, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	return all, nil
}

// Path returns the path passed to Open.
func (a *Archive) Path() string { return a.path }
