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
