//go:build unix

package setup

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ccd/internal/testkit"
)

func TestLogFileIsBounded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	path := filepath.Join(dir, "ccd.log")
	var said bytes.Buffer
	l := openLogFile(path, &said)
	defer l.(io.Closer).Close()
	line := append(bytes.Repeat([]byte("x"), 64<<10-1), '\n')
	for range 16 * 32 { // 32 MB
		if _, err := l.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if said.Len() > 0 {
		t.Errorf("said: %s", said.String())
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() == 0 || info.Size() > 2<<20 || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	testkit.Eventually(t, "five older ones are kept", func() bool {
		kept, err := filepath.Glob(filepath.Join(dir, "ccd-*.log"))
		for _, k := range kept {
			if info, err := os.Stat(k); err == nil && (info.Mode().Perm() != 0o600 || info.Size() > 2<<20) {
				t.Errorf("%s: %v, %d bytes", k, info.Mode(), info.Size())
			}
		}
		return err == nil && len(kept) == logsKept
	})
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestLogFileThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, dir, filepath.Join(dir, "file", "ccd.log")} {
		var said bytes.Buffer
		l := openLogFile(path, &said)
		for range 5 {
			if n, err := l.Write([]byte("a line\n")); n != 7 || err != nil {
				t.Errorf("%s: %d, %v", path, n, err)
			}
		}
		if strings.Count(said.String(), "\n") != 1 || !strings.Contains(said.String(), path) {
			t.Errorf("%s: said %q", path, said.String())
		}
	}
}
