package archive

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// LockedError is returned if other processes held the archive's lock for more than 4 seconds.
type LockedError struct {
	Holders []Holder      // of the lock, if known; if some are stopped, only those
	Waited  time.Duration // so far
	path    string        // of the archive
}

// Holder is a process that holds a lock.
type Holder struct {
	Pid     int
	Name    string // such as "ccd restore", "" if unknown
	Stopped bool   // by Ctrl-Z or SIGSTOP
}

// Error includes the processes.
func (e *LockedError) Error() string {
	if len(e.Holders) == 0 {
		return "archive is locked by another process"
	}
	var names []string
	for _, h := range e.Holders {
		names = append(names, fmt.Sprintf("%d (%s)", h.Pid, cmp.Or(h.Name, "?")))
	}
	return "archive is locked by process " + strings.Join(names, ", ")
}

// Hint returns what to do about it.
func (e *LockedError) Hint() string {
	switch {
	case len(e.Holders) == 0:
		return "try again; find the process: lsof " + e.path
	case e.Holders[0].Stopped:
		return fmt.Sprintf("the process is stopped; resume it: kill -CONT %d", e.Holders[0].Pid)
	}
	return "try again, or stop that process"
}

type key int

const (
	waitKey  key = iota // func(*LockedError)
	brakeKey            // *Brake
)

// WaitForLock returns a context whose calls wait for the archive's lock until ctx ends. onWait is called about once a
// second with the processes that hold the lock, by the waiting goroutine, and with nil when the wait is over.
func WaitForLock(ctx context.Context, onWait func(*LockedError)) context.Context {
	return context.WithValue(ctx, waitKey, onWait)
}

func (a *Archive) lockedError(begun time.Time) *LockedError {
	return &LockedError{Holders: holders("/proc", a.path, lockPath(a.path)), Waited: time.Since(begun), path: a.path}
}

// holders returns the processes that hold a lock on one of the files, according to the kernel: only stopped ones if
// there are any, otherwise those of the first file that is locked.
func holders(proc string, files ...string) (all []Holder) {
	text, err := os.ReadFile(filepath.Join(proc, "locks"))
	if err != nil {
		return nil
	}
	var stopped []Holder
	told := map[string]bool{}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			continue
		}
		var here []Holder
		for _, pid := range lockedBy(string(text), inode(info)) {
			if told[pid] {
				continue
			}
			told[pid] = true
			h := newHolder(proc, pid)
			if here = append(here, h); h.Stopped {
				stopped = append(stopped, h)
			}
		}
		if len(all) == 0 {
			all = here
		}
	}
	if len(stopped) > 0 {
		return stopped
	}
	return all
}

// lockedBy returns the pids that hold a lock on the file with this inode.
func lockedBy(locks string, inode uint64) (pids []string) {
	end := ":" + strconv.FormatUint(inode, 10)
	for line := range strings.Lines(locks) {
		f := strings.Fields(line) // "1: FLOCK ADVISORY WRITE 4711 00:2e:131090 0 EOF"; a waiting process has "->" in the second field
		if len(f) >= 6 && f[1] == "FLOCK" && strings.HasSuffix(f[5], end) {
			pids = append(pids, f[4])
		}
	}
	return pids
}

func newHolder(proc, pid string) (h Holder) {
	h.Pid, _ = strconv.Atoi(pid)
	line, _ := os.ReadFile(filepath.Join(proc, pid, "cmdline"))
	program, rest, _ := strings.Cut(string(line), "\x00")
	if program != "" {
		h.Name = filepath.Base(program)
	}
	verb, _, _ := strings.Cut(rest, "\x00") // leave out the arguments: they may contain search words
	if h.Name == "ccd" && verb != "" && verb[0] != '-' {
		h.Name += " " + verb
	}
	stat, _ := os.ReadFile(filepath.Join(proc, pid, "stat"))
	_, state, _ := strings.Cut(string(stat), ") ") // "4711 (ccd) T 1 ..."
	h.Stopped = strings.HasPrefix(state, "T")
	return h
}
