package setup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"gopkg.in/natefinch/lumberjack.v2"
)

const (
	logMegabytes = 2 // per file
	logsKept     = 5 // rotated files
)

// openLogFile returns the file of log.file, with mode 0600 and rotated when full, and directs panics to it. If it cannot be written, ccd
// says so and continues.
func openLogFile(path string, stderr io.Writer) io.Writer {
	if err := takePanics(path); err != nil {
		fmt.Fprintf(stderr, "ccd: write log file %s: %v\n", path, err)
		return io.Discard
	}
	return &lumberjack.Logger{Filename: path, MaxSize: logMegabytes, MaxBackups: logsKept}
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
