//go:build linux

package archive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestUpgradeFailsAtAnyStep lets each system call of an upgrade fail, or be the last thing that the process does. The
// archive is then as it was, or upgraded with a whole copy beside it, and the next upgrade ends it.
func TestUpgradeFailsAtAnyStep(t *testing.T) {
	if testing.Short() {
		t.Skip("96 upgrades under strace; the race detector makes each of them five times as long")
	}
	inject := straced(t)
	old, upgraded, failed := 0, 0, 0
	for _, call := range []string{"write", "pwrite64", "fdatasync", "ftruncate", "fsync", "renameat", "unlinkat", "flock"} {
		for _, fault := range []string{"error=EIO", "error=ENOSPC", "signal=SIGKILL"} {
			for when := 1; when <= 4; when++ {
				path := schema1(t, t.TempDir())
				before := contentsOf(t, path)
				out, err := inject("upgrade", path, call, fault, when).Output()
				if err != nil && len(out) == 0 && strings.Contains(fmt.Sprint(err), "status 1") && fault != "signal=SIGKILL" && call != "write" {
					t.Skip("strace may not trace here")
				}
				at := fmt.Sprintf("%s, %s at %d", call, fault, when)
				switch schemaAt(t, path) {
				case 1:
					old++
					if contentsOf(t, path) != before {
						t.Errorf("%s: neither as it was nor upgraded", at)
					}
				case newest:
					upgraded++
					if all := Backups(path); len(all) != 1 || contentsOf(t, all[0]) != before {
						t.Errorf("%s: upgraded, and the copies are %v", at, all)
					}
				}
				if fault != "signal=SIGKILL" && schemaAt(t, path) == 1 {
					failed++
				}
				if _, err := openAt(t, path, Options{}).Upgrade(context.Background(), nil); err != nil {
					t.Errorf("%s: the next one: %v", at, err)
				}
				if all := Backups(path); len(all) != 1 || contentsOf(t, all[0]) != before {
					t.Errorf("%s: in the end the copies are %v", at, all)
				}
				if left, _ := filepath.Glob(path + "*.tmp"); len(left) > 0 {
					t.Errorf("%s: left behind: %v", at, left)
				}
				holdsOld(t, path)
			}
		}
	}
	t.Logf("%d times as it was, %d of them by an error, %d times upgraded", old, failed, upgraded)
	if old == 0 || upgraded == 0 || failed == 0 {
		t.Error("the faults came too early or too late")
	}
}

func TestUpgradeOnAFullDisk(t *testing.T) {
	dir := disk(t, 32<<20)
	path := schema1(t, dir)
	before := bytesOf(t, path)
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 31<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	a := openAt(t, path, Options{})
	if _, err := a.Upgrade(context.Background(), nil); !errors.Is(err, ErrFull) {
		t.Errorf("seen beforehand: %v", err)
	}
	leftAlone(t, path, before)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	_, err := a.Upgrade(context.Background(), func(int64, int64) { // somebody else fills it meanwhile
		if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, "size=102400"); err != nil {
			t.Error(err)
		}
	})
	if !errors.Is(err, ErrFull) {
		t.Errorf("met on the way: %v", err)
	}
	leftAlone(t, path, before)
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Upgrade(context.Background(), nil); err != nil {
		t.Error(err)
	}
	holdsOld(t, path)
}

func TestProcessesUpgradeAtOnce(t *testing.T) {
	path := schema1(t, t.TempDir())
	var started []*exec.Cmd
	for range 4 {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command(exe)
		c.Env = []string{childEnv + "=upgrade " + path + " 1", "HOME=" + t.TempDir()}
		var out strings.Builder
		c.Stdout, c.Stderr = &out, &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		started = append(started, c)
	}
	said := ""
	for _, c := range started {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
		said += c.Stdout.(*strings.Builder).String()
	}
	if strings.Count(said, "copy archive.db.schema1.bak <nil>") != 1 || strings.Count(said, "copy . <nil>") != 3 {
		t.Errorf("they say\n%s", said)
	}
	if all := Backups(path); len(all) != 1 {
		t.Errorf("the copies are %v", all)
	}
	holdsOld(t, path)
}
