package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"ccd/archive"
	"ccd/internal/remote/pulled"
)

// IsMachine reports whether a text can be a machine's name.
func IsMachine(name string) bool { return machineName.MatchString(name) }

// ForgetMachine deletes a machine's objects, its head first, because a head must not name what does not exist. Only if the
// store deletes all of them, it also removes what was pulled of the machine to dir. Called again, it continues.
func ForgetMachine(ctx context.Context, s Store, dir, machine string) (c Collected, err error) {
	for _, prefix := range []string{headsPrefix + machine, prefixOf(machine)} {
		for o, err := range s.List(ctx, prefix, "") {
			if err != nil {
				return c, fmt.Errorf("list objects: %w", err)
			}
			if more, err := c.delete(ctx, s, o); err != nil || !more {
				return c, err
			}
		}
		if c.Refused > 0 { // if it is the head, all that it names stays too
			return c, nil
		}
	}
	return c, removePulled(dir, machine, pulled.File(dir, machine))
}

// removePulled removes a machine's pulled archive, and other files.
func removePulled(dir, machine string, others ...string) error {
	files, err := archive.Files(pulled.Archive(dir, machine))
	if err != nil {
		return err
	}
	for _, file := range append(files, others...) {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove what was pulled: %w", err)
		}
	}
	return nil
}
