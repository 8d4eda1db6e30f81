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

// logFile is the file of log.file, rotated when full. If it cannot be written, ccd continues and says so once on stderr.
type logFile struct {
	stderr io.Writer
	out    *lumberjack.Logger
	broken sync.Once
}

// openLogFile creates the file with mode 0600 if it is missing, and directs panics to it.
func openLogFile(path string, stderr io.Writer) *logFile {
	l := &logFile{stderr: stderr, out: &lumberjack.Logger{Filename: path, MaxSize: logMegabytes, MaxBackups: logsKept}}
	if err := takePanics(path); err != nil {
		l.out = nil
		l.said(path, err)
	}
	return l
}

func takePanics(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	return errors.Join(f.Chmod(0o600), debug.SetCrashOutput(f, debug.CrashOptions{}))
}

// Write implements io.Writer. It never returns an error.
func (l *logFile) Write(line []byte) (int, error) {
	if l.out != nil {
		if _, err := l.out.Write(line); err != nil {
			l.said(l.out.Filename, err)
		}
	}
	return len(line), nil
}

func (l *logFile) said(path string, err error) {
	l.broken.Do(func() { fmt.Fprintf(l.stderr, "ccd: write log file %s: %v\n", path, err) })
}
