package main

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ccd/internal/testkit"
	"ccd/internal/words"
)

// TestWriteErrorIsPrintedOnce: output that cannot be written is one error.
func TestWriteErrorIsPrintedOnce(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	must(t, err)
	defer full.Close()
	var said bytes.Buffer
	code := run(t.Context(), []string{"version"}, std(strings.NewReader(""), full, &said), []string{"HOME=" + t.TempDir()})
	if code != words.ExitFailed || strings.Count(said.String(), "no space left") != 1 {
		t.Errorf("exit %d: %s", code, said.String())
	}
}

// What fails on a full disk is told, there and after the daemon was killed; without a run.json, no old figures are shown as current.
func TestStatusOfADaemonOnAFullDisk(t *testing.T) {
	testkit.Long(t, "it fills a disk")
	if os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	home := t.TempDir()
	dir := stateOf(t, home)
	must(t, os.MkdirAll(dir, 0o700))
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
		t.Skipf("mount tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	configure(t, home, "[watch]\nscan_interval = \"1s\"\n[archive]\nmin_free = \"0\"\n")
	put(t, transcriptPath(home, 1), aLine)
	c := spawn(t, home, "run")
	testkit.Eventually(t, "all is well", func() bool {
		o, code := statusOf(t, home)
		return o.Running && o.LastPass != nil && code == words.ExitDone
	})
	f, err := os.Create(filepath.Join(dir, "filler"))
	must(t, err)
	defer f.Close()
	fill := func() {
		for err = nil; err == nil; {
			_, err = f.Write(bytes.Repeat([]byte("x"), 512))
		}
	}
	fill()
	noise := make([]byte, 2<<20)
	rand.Read(noise)
	put(t, transcriptPath(home, 2), aLine+fmt.Sprintf("%x\n", noise))
	told := func(running bool) func() bool {
		return func() bool {
			fill()
			o, code := statusOf(t, home)
			return o.Running == running && !o.Stale && code == words.ExitFailed && strings.Contains(strings.Join(o.Degraded, "\n"), "1 file could not be archived")
		}
	}
	testkit.Eventually(t, "status says what fails", told(true))
	c.signal(t, syscall.SIGKILL)
	_ = c.Wait()
	testkit.Eventually(t, "status says what failed", told(false))

	c = spawn(t, home, "run") // the full disk has room for its pid
	testkit.Eventually(t, "status says what fails again", told(true))
	testkit.Eventually(t, "status says that it is not current", func() bool {
		if err := os.Remove(filepath.Join(dir, "run.json")); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		fill() // what run.json leaves
		o, code := statusOf(t, home)
		return o.Running && o.Pid == c.Process.Pid && o.Stale && code == words.ExitFailed && strings.Contains(strings.Join(o.Degraded, "\n"), "cannot write")
	})
	if out, _, _ := outputs(t, home, "status"); strings.Contains(string(out), "last scan") || !strings.Contains(string(out), "running, pid ") {
		t.Errorf("told as current:\n%s", out)
	}
	must(t, os.Remove(f.Name()))
	must(t, f.Close())
	must(t, os.Remove(transcriptPath(home, 2)))
	testkit.Eventually(t, "all is well again", func() bool {
		o, code := statusOf(t, home)
		return o.Running && !o.Stale && code == words.ExitDone
	})
	c.signal(t, syscall.SIGTERM)
	c.ends(t, words.ExitDone, 20*time.Second)
}
