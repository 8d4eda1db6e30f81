package archive

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRestrict has an archive put in place with the mode of a copy.
func TestRestrict(t *testing.T) {
	t.Parallel()
	if os.PathSeparator != '/' {
		t.Skip("no modes here")
	}
	path := filepath.Join(t.TempDir(), "a.db")
	a, err := Open(path, Options{})
	must(t, err)
	if err := a.MakePrivate(); err != nil {
		t.Errorf("nothing there: %v", err)
	}
	elsewhere := filepath.Join(t.TempDir(), "file")
	for file, mode := range map[string]os.FileMode{path: 0o644, path + ".mine": 0o644, filepath.Join(filepath.Dir(path), "a.lock"): 0o660, elsewhere: 0o644} {
		must(t, os.WriteFile(file, nil, 0o600))
		must(t, os.Chmod(file, mode))
	}
	must(t, os.Symlink(elsewhere, path+".tmp"))
	if err := a.MakePrivate(); err != nil {
		t.Error(err)
	}
	for file, want := range map[string]os.FileMode{path: 0o600, path + ".mine": 0o644, filepath.Join(filepath.Dir(path), "a.lock"): 0o600, elsewhere: 0o644} {
		if info, err := os.Stat(file); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", file, info.Mode(), err, want)
		}
	}
}
