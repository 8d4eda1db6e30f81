//go:build unix

package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ccd/cmd/ccd/internal/account"
)

// journalFile returns a file and the value of $JOURNAL_STREAM for it.
func journalFile(t *testing.T) (*os.File, string) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	dev, inode, ok := identity(f)
	if !ok {
		t.Fatal("a file without an inode")
	}
	return f, fmt.Sprintf("JOURNAL_STREAM=%d:%d", dev, inode)
}

func TestJournalPriorities(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		f, stream := journalFile(t)
		a := &app{std: std{err: f, out: os.Stdout}, Env: account.Env{Vars: []string{stream}}}
		if !a.journalled(f) || a.journalled(os.Stdout) || a.journalled(&bytes.Buffer{}) {
			t.Fatal("the journal is what the variable names, and nothing else")
		}
		log := slog.New(logHandler(journal{f}, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: untimed}, format)).With("a", 1).WithGroup("g")
		log.Error("broken", "n", 1)
		log.Warn("worn")
		log.Info("told\nagain")
		log.Debug("seen")
		fmt.Fprint(a.talk(f, priorityError), "ccd: one\nhint: two\n")
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		want := []string{"<3>", "<4>", "<6>", "<7>", "<3>ccd: one", "<3>hint: two"}
		if len(lines) != len(want) {
			t.Fatalf("%s: %d lines, want %d: %s", format, len(lines), len(want), b)
		}
		for i, w := range want {
			if !strings.HasPrefix(lines[i], w) {
				t.Errorf("%s: %q does not begin with %s", format, lines[i], w)
			}
		}
		if strings.Contains(string(b), "time") {
			t.Errorf("%s: the journal has a time of its own: %s", format, b)
		}
	}
}

// A failed start is an error in the journal; on other outputs it has no priority.
func TestFailedStartInTheJournal(t *testing.T) {
	for _, journalled := range []bool{true, false} {
		f, stream := journalFile(t)
		home := t.TempDir()
		configure(t, home, "[watch]\nsettel = \"1s\"\n")
		env := []string{stream, "HOME=" + home}
		if !journalled {
			env[0] = "JOURNAL_STREAM=1:1"
		}
		if code := run(t.Context(), []string{"run"}, std{strings.NewReader(""), f, f}, env); code != exitFailed {
			t.Errorf("exit code %d", code)
		}
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if strings.HasPrefix(line, "<3>") != journalled {
				t.Errorf("journal %v: %q", journalled, line)
			}
		}
		if !strings.Contains(string(b), "watch.settel") {
			t.Errorf("said: %s", b)
		}
	}
}

func TestLogFileIsBounded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	path := filepath.Join(dir, "ccd.log")
	var said bytes.Buffer
	l := openLogFile(path, &said)
	defer l.close()
	line := append(bytes.Repeat([]byte("x"), 64<<10-1), '\n')
	for n := range 16 * 32 { // 32 MB
		if n == 200 { // another program renames it
			if err := os.Rename(path, path+".old"); err != nil {
				t.Fatal(err)
			}
		}
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
	eventually(t, "five older ones are kept", func() bool {
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
	if !os.SameFile(info, l.crash) {
		t.Error("panics would be printed into a file that was moved aside")
	}
}

func TestLogFileThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "file"), "")
	for _, path := range []string{fifo, dir, filepath.Join(dir, "file", "ccd.log")} {
		var said bytes.Buffer
		l := openLogFile(path, &said)
		for range 5 {
			if n, err := l.Write([]byte("a line\n")); n != 7 || err != nil {
				t.Errorf("%s: %d, %v", path, n, err)
			}
		}
		l.close()
		if strings.Count(said.String(), "\n") != 1 || !strings.Contains(said.String(), path) {
			t.Errorf("%s: said %q", path, said.String())
		}
	}
}

// The log file gets the panic that ends the process, and errors of the reload that set it.
func TestLogFileOfTheDaemon(t *testing.T) {
	t.Parallel()
	home, b := t.TempDir(), listening(t)
	c := spawnWith(t, home, []string{"NOTIFY_SOCKET=" + b.addr, "GOTRACEBACK="}, "run")
	eventually(t, "it is ready", func() bool { return b.count("READY=1") == 1 })
	path := filepath.Join(home, "logs", "ccd.log")
	configure(t, home, "[log]\nlevel = \"info\"\nfile = \""+path+"\"\n")
	c.signal(t, syscall.SIGHUP)
	eventually(t, "the reload is logged", logs(path, "configuration reloaded"))
	configure(t, home, "[log]\nfile = \""+filepath.Dir(transcriptPath(home, 1))+"/ccd.log\"\n")
	c.signal(t, syscall.SIGHUP)
	eventually(t, "a log among transcripts is refused", logs(path, "is below the watched root"))
	if !logs(path, "config.toml:2")() {
		t.Error("the place in the configuration is not named")
	}
	c.signal(t, syscall.SIGABRT)
	c.ends(t, -1, 5*time.Second) // by the signal, see TestAbortedUnderAManagerEndsByTheSignal
	if !logs(path, "SIGABRT")() {
		t.Errorf("how it ended is not in its log; stderr: %s", c.stderr.String())
	}
}

func logs(path, text string) func() bool {
	return func() bool {
		b, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(b), text)
	}
}
