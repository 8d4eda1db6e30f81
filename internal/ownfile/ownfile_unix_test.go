//go:build unix

package ownfile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"ccd/internal/testkit"
)

// With os.Open, the test would hang.
func TestWhatIsNoFile(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	testkit.Must(t, syscall.Mkfifo(fifo, 0o600))
	link := fifo + ".link"
	testkit.Must(t, os.Symlink("/dev/zero", link))
	for _, path := range []string{fifo, link, os.DevNull} {
		if _, err := Read(path, 10); !errors.Is(err, ErrIrregular) {
			t.Errorf("%s: %v, want %v", path, err, ErrIrregular)
		}
		if _, err := Open(path, os.O_RDWR|os.O_CREATE, 0o600); !errors.Is(err, ErrIrregular) {
			t.Errorf("%s to write: %v, want %v", path, err, ErrIrregular)
		}
	}
}
