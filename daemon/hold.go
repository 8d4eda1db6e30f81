package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"ccd/internal/ownfile"
)

// RunningError tells that another daemon has the state directory.
type RunningError struct{ Pid int }

// Error names the process.
func (e *RunningError) Error() string {
	return fmt.Sprintf("run daemon: already running, pid %d", e.Pid)
}

// Held is run.lock of a state directory, held so that one daemon runs there. It outlives a Daemon: the one that takes
// over with another configuration runs under the same.
type Held struct {
	file  *os.File
	start time.Time
}

// Hold takes run.lock, until Release or the end of the process, and makes the state directory (mode 0700) where it is
// missing. It fails with *RunningError where another process holds it.
func Hold(stateDir string) (*Held, error) {
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return nil, fmt.Errorf("make state directory: %w", err)
	}
	f, err := ownfile.Open(lockFile(stateDir), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open run lock: %w", err)
	}
	if err := flock(f); err != nil {
		defer f.Close()
		return nil, &RunningError{Pid: holder(f)}
	}
	if err := sign(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("write run lock: %w", err)
	}
	return &Held{file: f, start: time.Now().UTC()}, nil
}

// Release gives the lock back.
func (h *Held) Release() { h.file.Close() }

func lockFile(stateDir string) string { return filepath.Join(stateDir, "run.lock") }

// sign writes this process's number into the lock that it holds.
func sign(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := fmt.Fprintln(f, os.Getpid())
	return err
}

// holder reads the number of the process that holds the lock. It may have taken it a moment ago and not signed yet.
func holder(f *os.File) (pid int) {
	for range 50 {
		b := make([]byte, 32)
		n, _ := f.ReadAt(b, 0)
		if _, err := fmt.Sscanln(string(b[:n]), &pid); err == nil {
			return pid
		}
		<-time.After(10 * time.Millisecond)
	}
	return 0
}

// begin takes run.lock, unless Options.Held has it already, and begins run.json anew. The returned function gives back
// what it took.
func (d *Daemon) begin() (func(), error) {
	held, release := d.Held, func() {}
	if held == nil {
		var err error
		if held, err = Hold(d.StateDir); err != nil {
			return nil, err
		}
		release = held.Release
	}
	if err := d.Archive.Restrict(); err != nil { // on a file system that keeps no modes, or as another's
		d.Log.Warn("others may be able to read the archive", "err", err)
	}
	d.health.mu.Lock()
	defer d.health.mu.Unlock()
	d.health.info = RunInfo{
		Pid: os.Getpid(), Version: d.Version, Start: held.start, Errors: []Failure{}, Reload: d.Reload,
		Config: d.Config, Archive: d.Archive.Path(),
	}
	d.tell()
	return release, nil
}
