//go:build unix

package disk

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOwners tests that what belongs to somebody else is told; only root can make such a file.
func TestOwners(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
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
