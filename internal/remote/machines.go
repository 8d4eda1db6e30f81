package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"ccd/archive"
	"ccd/internal/remote/pulled"
)

// IsMachine reports whether a text can be a machine's name.
func IsMachine(name string) bool { return machineName().MatchString(name) }

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
