package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"ccd/internal/ownfile"
)

// RunningError is returned if another daemon uses the state directory.
type RunningError struct{ Pid int }

// Error includes the pid.
func (e *RunningError) Error() string {
	return fmt.Sprintf("run daemon: already running, pid %d", e.Pid)
}

// RunLock is the locked run.lock of a state directory: only one daemon runs there. It outlives a Daemon, so that
// the next one keeps the lock.
type RunLock struct {
	file  *os.File
	start time.Time
}

// LockRun locks run.lock until Release or the end of the process, and creates the state directory (mode 0700) if it is
// missing. It fails with *RunningError if another process has the lock.
func LockRun(stateDir string) (*RunLock, error) {
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return nil, fmt.Errorf("make state directory: %w", err)
	}
	f, err := ownfile.Open(lockFile(stateDir), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open run lock: %w", err)
	}
	for try := 1; ; try++ {
		if got, _ := ownfile.TryLock(f, true, 0); got {
			break
		}
		if try == 20 { // ReadRun holds it for less than a millisecond
			defer f.Close()
			return nil, &RunningError{Pid: readPid(f)}
		}
		<-time.After(time.Millisecond)
	}
	if _, err := f.WriteAt(line(strconv.Itoa(os.Getpid())), 0); err != nil {
		ownfile.Unlock(f)
		return nil, fmt.Errorf("write run lock: %w", err)
	}
	return &RunLock{file: f, start: time.Now().UTC()}, nil
}

// Release removes the pid and releases the lock. A pid that is left means that its process was killed.
func (h *RunLock) Release() {
	_, _ = h.file.WriteAt(line(""), 0) // what fails leaves a pid of a process that ended
	ownfile.Unlock(h.file)
}

func lockFile(stateDir string) string { return filepath.Join(stateDir, "run.lock") }

// line is what the lock file has. Its length stays, so that a start on a full disk needs no space.
func line(pid string) []byte { return fmt.Appendf(nil, "%-20s\n", pid) }

// readPid reads the pid of the process that holds the lock. It retries, because that process may not have written its
// pid yet.
func readPid(f *os.File) (pid int) {
	for range 50 {
		if pid, ok := scanPid(f); ok {
			return pid
		}
		<-time.After(10 * time.Millisecond)
	}
	return 0
}

// scanPid reads the pid that stands in a lock file.
func scanPid(f *os.File) (pid int, ok bool) {
	b := make([]byte, 32)
	n, _ := f.ReadAt(b, 0)
	_, err := fmt.Sscanln(string(b[:n]), &pid)
	return pid, err == nil
}

// start starts a new run.json, and removes what a crash has left.
func (d *Daemon) start(ctx context.Context) {
	d.say(func(h *RunInfo) {
		*h = RunInfo{Pid: os.Getpid(), Version: d.Version, Start: d.Lock.start, Config: d.Config, Archive: d.Archive.Path()}
	})
	d.cleanUp(ctx)
}
