package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"ccd/archive"
	"ccd/internal/atomicfile"
	"ccd/internal/mark"
	"ccd/internal/ownfile"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// RunInfo is what a running daemon tells of itself, in STATE/run.json. It is replaced when it changes, at most every
// five seconds.
type RunInfo struct {
	Pid      int            `json:"pid"`
	Version  string         `json:"version"`
	Start    time.Time      `json:"start"`            // of the process
	Reload   *Reload        `json:"reload,omitempty"` // the last one, nil where there was none
	Config   string         `json:"config"`           // the file that it was configured by, "" for none
	Archive  string         `json:"archive"`          // path of the file
	Locked   string         `json:"locked,omitempty"` // who holds the archive's lock, while the daemon waits for it
	LastPass time.Time      `json:"last_pass"`        // end of the last scan of all roots
	Sessions int            `json:"sessions"`
	Failing  int            `json:"failing"` // transcripts that fail now
	Errors   []Failure      `json:"errors"`  // of them, newest last, at most 20
	Watch    watcher.Health `json:"watch"`
	Stale    bool           `json:"-"` // ReadRun: the daemon that runs could not write it, so it tells of before
}

// Reload is what became of reading the configuration anew.
type Reload struct {
	Time  time.Time `json:"time"`
	Error string    `json:"error,omitempty"` // why it was refused: the one before stays in force
	Note  string    `json:"note,omitempty"`  // what is left to be done for it to hold
}

// Failure is a transcript that could not be brought up to date.
type Failure struct {
	Path  string    `json:"path"`
	Error string    `json:"error"`
	Time  time.Time `json:"time"`
}

const (
	maxFailures = 20
	maxLogged   = 20 // failures logged between two scans
	tellEvery   = 5 * time.Second
	maxRunFile  = 16 << 20 // bytes

	heartbeatSlack = time.Second // that run.lock may be touched after run.json was written
)

// health is what run.json is made from. The work loop fills it; a refused reload comes from elsewhere, also while the
// loop hangs.
type health struct {
	mu      sync.Mutex
	info    RunInfo
	told    time.Time
	last    []byte
	untold  bool            // run.json could not be written
	failing map[string]bool // paths
	logged  int             // failures logged since the last scan
}

func runFile(stateDir string) string { return filepath.Join(stateDir, "run.json") }

// ReadRun returns what the daemon of a state directory last told of itself, and whether it runs: whether run.lock is
// held. Whether it runs is told also beside an error, which says that run.json or run.lock cannot be read. It writes
// nothing.
func ReadRun(stateDir string) (info RunInfo, running bool, err error) {
	pid, touched, running, err := readLock(stateDir)
	info, told, unread := readRunFile(stateDir)
	if err = errors.Join(err, unread); err != nil {
		err = fmt.Errorf("read run state: %w", err)
	}
	if !running {
		return info, false, err
	}
	if unread != nil || pid != 0 && info.Pid != pid { // of a daemon before
		info = RunInfo{Pid: pid, Stale: true}
	}
	info.Stale = info.Stale || touched.Sub(told) > heartbeatSlack
	return info, true, err
}

// readRunFile reads run.json, and when it was written. That there is none is no error.
func readRunFile(stateDir string) (info RunInfo, told time.Time, err error) {
	b, err := ownfile.Read(runFile(stateDir), maxRunFile)
	if errors.Is(err, fs.ErrNotExist) {
		return info, told, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &info)
	}
	if err == nil && info.Pid <= 0 {
		err = fmt.Errorf("%s: no daemon wrote this: its pid is %d", runFile(stateDir), info.Pid)
	}
	if err != nil {
		return RunInfo{}, told, err
	}
	if file, err := os.Stat(runFile(stateDir)); err == nil {
		told = file.ModTime()
	}
	return info, told, nil
}

// readLock tells who holds run.lock, if anybody does, and when it was last touched.
func readLock(stateDir string) (pid int, touched time.Time, held bool, err error) {
	f, err := ownfile.Open(lockFile(stateDir), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, touched, false, nil
	}
	if err != nil {
		return 0, touched, false, err
	}
	defer f.Close()
	if flock(f) == nil {
		return 0, touched, false, nil
	}
	if file, err := f.Stat(); err == nil {
		touched = file.ModTime()
	}
	return holder(f), touched, true, nil
}

// longWait is the wait for the archive's lock that status tells of, and that ends a pass of Once.
const longWait = 4 * time.Second

// waits records who holds the archive lock (nil: released) and feeds the watchdog, because a restart would not help.
func (d *Daemon) waits(locked *archive.LockedError) {
	d.alive()
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
		d.Log.Warn("waiting", "err", locked)
	}
	h.Locked = now
	d.tell()
}

// Refused has run.json tell of a reload that changed nothing. It may be called from any goroutine while Run runs.
func (d *Daemon) Refused(r Reload) {
	d.health.mu.Lock()
	defer d.health.mu.Unlock()
	d.health.info.Reload = &r
	d.tell()
}

// note takes the outcome of one sync into account: errors are logged once and told until they are mended. A session that
// was left alone, because what failed is not to be tried again yet, is not mended by that.
func (d *Daemon) note(o watcher.Offer, err error, paused bool) {
	d.alive()
	d.health.mu.Lock()
	defer d.health.mu.Unlock()
	h := &d.health.info
	before := len(h.Errors)
	if err != nil || !paused {
		d.fail(o.Path, err)
	}
	done := !o.More && h.Watch.Waiting > 0
	if done {
		h.Watch.Waiting = 0
	}
	if done || time.Since(d.health.told) >= tellEvery || before != len(h.Errors) {
		d.tell()
	}
}

// fail lists what is wrong with a path, or that nothing is (nil). It is logged once until it is mended; where very many
// fail, status tells how many. The caller holds health.mu.
func (d *Daemon) fail(path string, err error) {
	h := &d.health
	h.info.Errors = slices.DeleteFunc(h.info.Errors, func(f Failure) bool { return f.Path == path })
	known := h.failing[path]
	if err == nil {
		delete(h.failing, path)
		h.info.Failing = len(h.failing)
		return
	}
	if h.failing == nil {
		h.failing = map[string]bool{}
	}
	h.failing[path] = true
	h.info.Failing = len(h.failing)
	h.info.Errors = append(h.info.Errors, Failure{Path: mark.Name(path), Error: mark.Name(err.Error()), Time: time.Now().UTC()})
	h.info.Errors = last(h.info.Errors, maxFailures)
	if known {
		return
	}
	if h.logged++; h.logged <= maxLogged {
		d.Log.Error("not brought up to date", "path", path, "err", err)
	} else if h.logged == maxLogged+1 {
		d.Log.Error("more are not brought up to date; no further one is logged until the next scan, see ccd status")
	}
}

func last(all []Failure, n int) []Failure { return all[max(0, len(all)-n):] }

// scanned takes a scan's end into account.
func (d *Daemon) scanned(w watcher.Health) {
	d.alive()
	d.health.mu.Lock()
	defer d.health.mu.Unlock()
	h := &d.health.info
	d.health.logged = 0
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

// tell replaces run.json where it changed. That it cannot be written stops nothing: it only tells. Then run.lock is
// touched, which needs no space on a full disk: newer than run.json, it says that run.json is old. The caller holds
// health.mu.
func (d *Daemon) tell() {
	h := &d.health
	h.told = time.Now()
	b, err := json.MarshalIndent(h.info, "", "  ")
	if err == nil && string(b) == string(h.last) && !h.untold {
		return
	}
	if err == nil {
		err = atomicfile.Write(runFile(d.StateDir), 0o600, b)
	}
	if err == nil {
		h.last, h.untold = b, false
		return
	}
	if !h.untold {
		d.Log.Error("run state not written", "err", err)
	}
	_ = os.Chtimes(lockFile(d.StateDir), h.told, h.told)
	h.untold = true
}
