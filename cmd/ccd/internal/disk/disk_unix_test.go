//go:build unix

package disk

import (
	"os"
	"path/filepath"
	"testing"

	"ccd/internal/testkit"
)

// TestOwners tests that what belongs to somebody else is told; only root can make such a file.
func TestOwners(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	testkit.Put(t, path, "")
	info, err := os.Stat(path)
	testkit.Must(t, err)
	if _, mine := Owner(info); !mine {
		t.Error("own file")
	}
	if os.Geteuid() == 0 {
		t.Skip("NOTICE: root may do as any owner: the other half of this test needs another user")
	}
	if info, err = os.Stat("/"); err != nil {
		t.Fatal(err)
	}
	if name, mine := Owner(info); mine || name == "" {
		t.Errorf("/ belongs to %q, mine %v", name, mine)
	}
}
