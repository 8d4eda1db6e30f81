package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
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

// TestStatusOfAHomeThatIsAFile: no service is installed there.
func TestStatusOfAHomeThatIsAFile(t *testing.T) {
	dir := t.TempDir()
	home, config := filepath.Join(dir, "home"), filepath.Join(dir, "config.toml")
	must(t, os.WriteFile(home, nil, 0o600))
	must(t, os.WriteFile(config, nil, 0o600))
	var out bytes.Buffer
	code := run(t.Context(), []string{"status"}, std(strings.NewReader(""), &out, &out), []string{"HOME=" + home, "CCD_CONFIG=" + config})
	if code != words.ExitFailed || !strings.Contains(out.String(), "not installed") || strings.Contains(out.String(), "service is installed") {
		t.Errorf("exit %d: %s", code, out.String())
	}
}

// Status does not show old figures as current if the daemon could not replace them on a full disk.
func TestStatusOfADaemonOnAFullDisk(t *testing.T) {
	testkit.Long(t, "it fills a disk")
	if os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	home := t.TempDir()
	dir := stateOf(t, home)
	must(t, os.MkdirAll(dir, 0o700))
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=131072,mode=0700"); err != nil {
		t.Skipf("mount tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	configure(t, home, "[watch]\nscan_interval = \"1s\"\n[archive]\npath = "+strconv.Quote(filepath.Join(home, "data", "a.db"))+"\n")
	put(t, transcriptPath(home, 1), aLine)
	c := spawn(t, home, "run")
	testkit.Eventually(t, "all is well", func() bool {
		o, code := statusOf(t, home)
		return o.Running && o.LastPass != nil && code == words.ExitDone
	})
	f, err := os.Create(filepath.Join(dir, "filler"))
	must(t, err)
	for err == nil {
		_, err = f.Write(bytes.Repeat([]byte("x"), 512))
	}
	testkit.Eventually(t, "status says that it is not current", func() bool {
		for err = nil; err == nil; { // others fill what run.json leaves
			_, err = f.Write([]byte("x"))
		}
		o, code := statusOf(t, home)
		return o.Running && o.Pid == c.Process.Pid && o.Stale && code == words.ExitFailed && strings.Contains(strings.Join(o.Degraded, "\n"), "cannot write")
	})
	if out, _, _ := outputs(t, home, "status"); strings.Contains(string(out), "last scan") || !strings.Contains(string(out), "running, pid ") {
		t.Errorf("told as current:\n%s", out)
	}
	f.Close()
	must(t, os.Remove(f.Name()))
	testkit.Eventually(t, "all is well again", func() bool {
		o, code := statusOf(t, home)
		return o.Running && !o.Stale && code == words.ExitDone
	})
	c.signal(t, syscall.SIGTERM)
	c.ends(t, words.ExitDone, 20*time.Second)
}
