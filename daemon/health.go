package daemon

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ccd/archive"
	"ccd/internal/atomicfile"
	"ccd/internal/mark"
	"ccd/internal/ownfile"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// RunInfo is the status of a running daemon, written to STATE/run.json. It is replaced when it changes, at most every
// five seconds.
type RunInfo struct {
	Pid      int            `json:"pid"`
	Version  string         `json:"version"`
	Start    time.Time      `json:"start"`            // of the process
	Config   string         `json:"config"`           // path of the configuration file, "" for none
	Archive  string         `json:"archive"`          // path of the file
	Locked   string         `json:"locked,omitempty"` // the process that holds the archive's lock, while the daemon waits for it
	LastPass time.Time      `json:"last_pass"`        // end of the last scan of all roots
	Sessions int            `json:"sessions"`
	Failing  int            `json:"failing"` // transcripts that fail now
	Errors   []Failure      `json:"errors"`  // of these transcripts, newest last, at most 20
	Watch    watcher.Health `json:"watch"`
	CatchUp  *Progress      `json:"catch_up,omitempty"` // with the files that a scan found, nil if it has dealt with all
	Killed   int            `json:"-"`                  // set by ReadRun: the pid of a daemon that was killed, since which none ran
	Stale    bool           `json:"-"`                  // set by ReadRun: the running daemon could not write run.json; nothing else is known
}

// Failure is a transcript that could not be brought up to date.
type Failure struct {
	Path  string    `json:"path"`
	Error string    `json:"error"`
	Time  time.Time `json:"time"`
}

func failureOf(path string, err error) Failure {
	text, damage := err.Error(), (*archive.DamageError)(nil)
	switch { // the same for all files
	case errors.Is(err, archive.ErrFull):
		text = text[max(0, strings.Index(text, archive.ErrFull.Error())):]
	case errors.As(err, &damage) && damage.Session == transcript.Key{} && damage.ID == "":
		text = damage.Error()
	}
	return Failure{Path: mark.Name(path), Error: mark.Name(text), Time: time.Now().UTC()}
}

// String returns the error, preceded by the path if the error does not contain it.
func (f Failure) String() string {
	if strings.Contains(f.Error, f.Path) {
		return f.Error
	}
	return f.Path + ": " + f.Error
}

const (
	maxFailures  = 20
	maxLogged    = 20 // failures logged between two scans
	runInfoEvery = 5 * time.Second
	maxRunFile   = 16 << 20 // bytes
)

// health collects the content of run.json. The work loop fills it.
type health struct {
	mu          sync.Mutex
	info        RunInfo // without the failures
	written     time.Time
	lastWritten []byte
	writeFailed bool               // run.json could not be written
	failing     map[string]Failure // by path
	logged      int                // failures logged since the last scan
}

// failures returns what fails now, newest last.
func (h *health) failures() []Failure {
	return slices.SortedFunc(maps.Values(h.failing), func(x, y Failure) int {
		return cmp.Or(x.Time.Compare(y.Time), cmp.Compare(x.Path, y.Path))
	})
}

func runFile(stateDir string) string { return filepath.Join(stateDir, "run.json") }

// ReadRun returns the status that the daemon of a state directory last wrote, and whether that daemon runs, which means
// that run.lock is held. running is valid even if err says that run.json or run.lock cannot be read. ReadRun writes
// nothing.
func ReadRun(stateDir string) (info RunInfo, running bool, err error) {
	pid, running, err := readLock(stateDir)
	info, unread := readRunFile(stateDir)
	if err = errors.Join(err, unread); err != nil {
		err = fmt.Errorf("read run state: %w", err)
	}
	if !running {
		info.Killed = pid
		return info, false, err
	}
	if unread != nil || pid != 0 && info.Pid != pid { // run.json is of an earlier daemon, or missing
		info = RunInfo{Pid: pid, Stale: true}
	}
	return info, true, err
}

// readRunFile reads run.json. A missing file is no error.
func readRunFile(stateDir string) (info RunInfo, err error) {
	b, err := ownfile.Read(runFile(stateDir), maxRunFile)
	if errors.Is(err, fs.ErrNotExist) {
		return info, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &info)
	}
	if err == nil && info.Pid <= 0 {
		err = fmt.Errorf("%s: invalid pid %d", runFile(stateDir), info.Pid)
	}
	if err != nil {
		return RunInfo{}, err
	}
	return info, nil
}

// readLock returns the process that holds run.lock, or that was killed while it did.
func readLock(stateDir string) (pid int, held bool, err error) {
	f, err := ownfile.Open(lockFile(stateDir), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	if got, _ := ownfile.TryLock(f, true, 0); got {
		pid, _ = scanPid(f)
		ownfile.Unlock(f)
		return pid, false, nil
	}
	defer f.Close()
	return readPid(f), true, nil
}

// longWait is the wait for the archive's lock after which status reports it and Once gives up.
const longWait = 4 * time.Second

// archiveLocked records who holds the archive lock (nil: released) and feeds the watchdog, because a restart would not
// help.
func (d *Daemon) archiveLocked(locked *archive.LockedError) {
	d.heartbeat()
	now := ""
	if locked != nil {
		if locked.Waited < longWait {
			return
		}
		now = locked.Error()
	}
	d.health.mu.Lock()
	defer d.health.mu.Unlock()
	h := &d.health.info
	switch {
	case h.Locked == now:
		return
	case now == "":
		d.Log.Info("archive no longer locked")
	case h.Locked == "":
		d.Log.Warn("waiting for the archive's lock", "err", locked)
	}
	h.Locked = now
	d.writeRunInfo()
}

// report records the result of one sync. An error is logged once, and few between two scans.
func (d *Daemon) report(o watcher.Offer, err error) {
	d.heartbeat()
	d.health.mu.Lock()
	defer d.health.mu.Unlock()
	h := &d.health.info
	before := min(len(d.health.failing), maxFailures)
	if d.setFailure(o.Path, err) {
		if d.health.logged++; d.health.logged <= maxLogged {
			d.Log.Error("cannot update session", "path", o.Path, "err", err)
		} else if d.health.logged == maxLogged+1 {
			d.Log.Error("more sessions failed; not logging them until the next scan, see ccd status")
		}
	}
	waited := h.Watch.Waiting > 0
	if !d.more {
		h.Watch.Waiting = d.pool.queued()
	}
	done := waited && h.Watch.Waiting == 0
	h.CatchUp = d.progress()
	if done || time.Since(d.health.written) >= runInfoEvery || before != min(len(d.health.failing), maxFailures) {
		d.writeRunInfo()
	}
}

// setFailure lists the error of a path until a sync succeeds, and reports whether it is the first one. A sync that was skipped
// because of the pause after a failure does not count as success. The caller must hold health.mu.
func (d *Daemon) setFailure(path string, err error) (first bool) {
	_, known := d.health.failing[path]
	s := d.sessions[d.owners[path]]
	switch {
	case err != nil:
		d.health.failing[path] = failureOf(path, err)
	case s == nil || s.failures == 0:
		delete(d.health.failing, path)
	}
	return err != nil && !known
}

// scanned records the result of a scan.
func (d *Daemon) scanned(w watcher.Health) {
	d.heartbeat()
	d.health.logged = 0
	d.countFound(w.Cold)
	d.say(func(h *RunInfo) {
		h.Sessions, h.Watch, h.LastPass, h.CatchUp = d.conversations(), w, w.LastScan, d.progress()
	})
}

// conversations returns the number of archived sessions that are not attachments.
func (d *Daemon) conversations() (n int) {
	for _, s := range d.sessions {
		if s.isRead() && s.archivedPath != "" && s.Thread == "" {
			n++
		}
	}
	return n
}

// say changes what run.json says.
func (d *Daemon) say(change func(h *RunInfo)) {
	d.health.mu.Lock()
	defer d.health.mu.Unlock()
	change(&d.health.info)
	d.writeRunInfo()
}

// writeRunInfo replaces run.json if it changed. If that fails, the daemon continues, and overwrites it, which needs no more space, or
// removes it: nobody takes old figures for current ones. The caller must hold health.mu.
func (d *Daemon) writeRunInfo() {
	h := &d.health
	h.written = time.Now()
	info, failures := h.info, h.failures()
	info.Errors, info.Failing = failures[max(0, len(failures)-maxFailures):], len(failures)
	b, err := json.MarshalIndent(info, "", "  ")
	if err == nil && string(b) == string(h.lastWritten) {
		return
	}
	path := runFile(d.StateDir)
	if err == nil {
		if err = atomicfile.Write(path, 0o600, b); err != nil && overwrite(path, b) == nil {
			err = nil
		}
	}
	if err == nil {
		h.lastWritten, h.writeFailed = b, false
		return
	}
	if !h.writeFailed {
		d.Log.Error("cannot write run.json", "err", err)
	}
	_ = os.Remove(path) // needs no space
	h.lastWritten, h.writeFailed = nil, true
}

// overwrite writes over a file, and blanks over what it had more. A reader may see part of it.
func overwrite(path string, b []byte) error {
	f, err := ownfile.Open(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		blanks := max(0, int(info.Size())-len(b))
		_, err = f.WriteAt(append(bytes.Clone(b), bytes.Repeat([]byte("\n"), blanks)...), 0)
	}
	return err
}
