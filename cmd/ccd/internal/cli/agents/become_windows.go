package agents

import (
	"errors"
	"fmt"
)

// become fails, because the line is for a Unix shell.
func become(line string, _ []string) error {
	return fmt.Errorf("run %s: %w", line, errors.ErrUnsupported)
}
