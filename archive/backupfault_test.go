//go:build linux

package archive

import (
	"os"
	"path/filepath"
	"testing"

	"ccd/internal/mark"
	"ccd/internal/testkit"
)

// TestBackupFailsAtAnyStep lets a system call of a backup fail, or be the last thing that the process does. Then the
// earlier backup stands there or the later one, whole; only a process that was killed leaves its temporary file.
func TestBackupFailsAtAnyStep(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "archive.db")
	a, file := openAt(t, path, Options{}), copyBeside(path)
	makeSome(t, a)
	backup(t, a, file)
	earlier, sum := bytesOf(t, file), contentsOf(t, file)
	fill(t, a, session("later"), 1, noise(1, 1<<20), whole)
	want := contentsOf(t, path)
	counts := map[mark.Hash]int{}
	all := failures([]string{"pwrite64", "ftruncate", "fsync", "renameat", "flock"}, []string{"error=EIO", "error=ENOSPC", sigkill}, 1, 2, 5)
	// The first and the last of those that are always tried leave the earlier backup and the later one.
	cases := append(testkit.Sample(t, all, 1), failure{"renameat", "error=EIO", 1}, failure{"renameat", "error=EIO", 5})
	for _, f := range cases {
		must(t, os.WriteFile(file, []byte(earlier), 0o600))
		_, err := f.strike(t, "backup", path)
		got := contentsOf(t, file)
		if counts[got]++; got != sum && got != want {
			t.Errorf("%v: neither the earlier backup nor the later", f)
		}
		sound(t, openAt(t, file, Options{ReadOnly: true}))
		if err == nil && got != want {
			t.Errorf("%v: it says that it is done", f)
		}
		left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".ccd-*.tmp"))
		if len(left) > 0 && f.fault != sigkill {
			t.Errorf("%v: left behind: %v", f, left)
		}
		for _, l := range left {
			_ = os.Remove(l) // as atomicfile.Clean does once it is old
		}
	}
	if contentsOf(t, path) != want {
		t.Error("the archive has changed")
	}
	t.Logf("%d runs with a fault: %d times the earlier one, %d times the later", len(cases), counts[sum], counts[want])
	if counts[sum] == 0 || counts[want] == 0 {
		t.Error("the faults came too early or too late")
	}
}
