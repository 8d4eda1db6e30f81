package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"ccd/archive"
	"ccd/internal/remote/pulled"
)

// removePulled removes a machine's pulled archive.
func removePulled(dir, machine string) error {
	files, err := archive.Files(pulled.Archive(dir, machine))
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove what was pulled: %w", err)
		}
	}
	return nil
}
