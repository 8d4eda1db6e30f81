package setup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	"gopkg.in/natefinch/lumberjack.v2"
)

const (
	logMegabytes = 2 // per file
	logsKept     = 5 // rotated files
)

// logFile is the file of log.file: mode 0600, rotated when full. Panics are printed there too. If it cannot be written,
// ccd continues and says so once on stderr, again after the next recovery.
type logFile struct {
	path   string
	stderr io.Writer

	mu     sync.Mutex
	out    *lumberjack.Logger
	broken bool
	crash  fs.FileInfo // the file that gets panics
}

func openLogFile(path string, stderr io.Writer) *logFile {
	l := &logFile{path: path, stderr: stderr}
	l.out = &lumberjack.Logger{Filename: path, MaxSize: logMegabytes, MaxBackups: logsKept}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said(l.prepare())
	return l
}

// Write implements io.Writer. It never returns an error.
func (l *logFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.prepare()
	if err == nil {
		_, err = l.out.Write(line)
	}
	if err == nil {
		err = l.prepare() // Write may have rotated the file
	}
	l.said(err)
	return len(line), nil
}

func (l *logFile) said(err error) {
	if err != nil && !l.broken {
		fmt.Fprintf(l.stderr, "ccd: write log file %s: %v\n", l.path, err)
	}
	l.broken = err != nil
}

// prepare creates the file if it is missing, and directs panics to it.
func (l *logFile) prepare() error {
	info, err := os.Stat(l.path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return errors.New("not a regular file")
	case err == nil && l.crash != nil && os.SameFile(info, l.crash):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	l.out.Close() // the open file is not the one with this name
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if l.crash, err = f.Stat(); err == nil {
		err = f.Chmod(0o600)
	}
	if err == nil {
		err = debug.SetCrashOutput(f, debug.CrashOptions{})
	}
	return err
}
