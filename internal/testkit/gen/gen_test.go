package gen

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"ccd/internal/testkit"
)

// TestTheBytesStayTheSame pins them, because figures measured on them are compared between versions and machines. A deliberate
// change of the generator changes the sums too, and needs new measurements.
func TestTheBytesStayTheSame(t *testing.T) {
	const size = 6 << 20
	dir, all := t.TempDir(), sha256.New()
	for _, agent := range []string{Claude, Codex} {
		testkit.Must(t, Write(all, agent, 1, 1<<20))
	}
	testkit.Must(t, Tree(dir, 4, size))
	bytes := int64(0)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(all, "%s %x %d\n", filepath.ToSlash(rel), sha256.Sum256(data), info.ModTime().UnixMilli())
		bytes += int64(len(data))
		return err
	})
	testkit.Must(t, err)
	if got := fmt.Sprintf("%.8x", all.Sum(nil)); got != "d3c3a2ad218dd40b" {
		t.Errorf("the sum is %s", got)
	}
	if bytes < size || bytes > size+size/8 {
		t.Errorf("%d bytes, want %d to an eighth more", bytes, size)
	}
	if err := Tree(dir, 4, size); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second tree over the first: %v", err)
	}
}

var home = flag.String("home", "", "write a home of 50 MB to this `directory`")

// TestHome writes a home for figures that are measured by hand.
func TestHome(t *testing.T) {
	if *home == "" {
		t.Skip("no -home")
	}
	testkit.Must(t, Tree(*home, 1, 50_000_000))
}
