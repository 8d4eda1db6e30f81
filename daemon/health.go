package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ccd/internal/atomicfile"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// RunInfo is what a running daemon tells of itself, in STATE/run.json. It is replaced when it changes, at most every
// five seconds.
type RunInfo struct {
	Pid      int            `json:"pid"`
	Version  string         `json:"version"`
	Start    time.Time      `json:"start"`
	LastPass time.Time      `json:"last_pass"` // end of the last scan of all roots
	Sessions int            `json:"sessions"`
	Errors   []Failure      `json:"errors"` // what fails now, newest last, at most 20
	Watch    watcher.Health `json:"watch"`
}

// Failure is a transcript that could not be brought up to date.
type Failure struct {
	Path  string    `json:"path"`
	Error string    `json:"error"`
	Time  time.Time `json:"time"`
}

// RunningError tells that another daemon has the state directory.
type RunningError struct{ Pid int }

// Error names the process.
func (e *RunningError) Error() string {
	return fmt.Sprintf("run daemon: already running, pid %d", e.Pid)
}

const (
	maxFailures = 20
	tellEvery   = 5 * time.Second
)

// health is what run.json is made from.
type health struct {
	info RunInfo
	told time.Time
	last []byte
}

func runFile(stateDir string) string  { return filepath.Join(stateDir, "run.json") }
func lockFile(stateDir string) string { return filepath.Join(stateDir, "run.lock") }

// lock takes run.lock for life, so that one daemon runs in a state directory. The returned function gives it back.
func (d *Daemon) lock() (func(), error) {
	if err := os.MkdirAll(d.StateDir, 0o700); err != nil {
		return nil, fmt.Errorf("make state directory: %w", err)
	}
	f, err := os.OpenFile(lockFile(d.StateDir), os.O_CREATE|os.O_RDWR, 0o600)
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
	d.health.info = RunInfo{Pid: os.Getpid(), Version: d.Version, Start: time.Now().UTC(), Errors: []Failure{}}
	d.tell()
	return func() { f.Close() }, nil
}

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

// ReadRun returns what the daemon of a state directory last told of itself, and whether it runs: whether run.lock is
// held. It writes nothing.
func ReadRun(stateDir string) (RunInfo, bool, error) {
	var info RunInfo
	b, err := os.ReadFile(runFile(stateDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return info, false, fmt.Errorf("read run state: %w", err)
	}
	if err == nil {
		if err := json.Unmarshal(b, &info); err != nil {
			return info, false, fmt.Errorf("read run state: %w", err)
		}
	}
	f, err := os.Open(lockFile(stateDir))
	if err != nil {
		return info, false, nil
	}
	defer f.Close()
	return info, flock(f) != nil, nil
}

// note takes the outcome of one sync into account: errors are logged once and told until they are mended.
func (d *Daemon) note(o watcher.Offer, err error) {
	d.notify("WATCHDOG=1")
	h := &d.health.info
	before := len(h.Errors)
	d.fail(o.Path, err)
	done := !o.More && h.Watch.Waiting > 0
	if done {
		h.Watch.Waiting = 0
	}
	if done || time.Since(d.health.told) >= tellEvery || before != len(h.Errors) {
		d.tell()
	}
}

// fail lists what is wrong with a path, logged once, or that nothing is (nil).
func (d *Daemon) fail(path string, err error) {
	h := &d.health.info
	before := len(h.Errors)
	h.Errors = slices.DeleteFunc(h.Errors, func(f Failure) bool { return f.Path == path })
	if err == nil {
		return
	}
	if len(h.Errors) == before {
		d.Log.Error("not brought up to date", "path", path, "err", err)
	}
	h.Errors = append(h.Errors, Failure{Path: path, Error: err.Error(), Time: time.Now().UTC()})
	h.Errors = last(h.Errors, maxFailures)
}

func last(all []Failure, n int) []Failure { return all[max(0, len(all)-n):] }

// scanned takes a scan's end into account.
func (d *Daemon) scanned(w watcher.Health) {
	d.notify("WATCHDOG=1")
	h := &d.health.info
	h.Sessions, h.Watch, h.LastPass = d.conversations(), w, w.LastScan
	d.tell()
}

// conversations counts the sessions that are not attachments.
func (d *Daemon) conversations() (n int) {
	for _, s := range d.sessions {
		if s.Class != transcript.Attachment && s.state.Skipped == "" {
			n++
		}
	}
	return n
}

// tell replaces run.json where it changed. That it cannot be written stops nothing: it only tells.
func (d *Daemon) tell() {
	d.health.told = time.Now()
	b, err := json.MarshalIndent(d.health.info, "", "  ")
	if err == nil && string(b) == string(d.health.last) {
		return
	}
	if err == nil {
		err = atomicfile.Write(runFile(d.StateDir), 0o600, b)
	}
	if err != nil {
		d.Log.Error("run state not written", "err", err)
		return
	}
	d.health.last = b
}
