package ownfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"ccd/internal/testkit"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	testkit.Must(t, os.WriteFile(path, []byte("four"), 0o600))
	if got, err := Read(path, 4); string(got) != "four" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Read(path, 3); err == nil {
		t.Error("a file over the limit was read")
	}
	if _, err := Read(path+"x", 3); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := Read(dir, 3); err == nil {
		t.Error("a directory was read")
	}
}
