package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccd/internal/ownfile"
)

// A lock is the archive's file, open and locked: shared for a reader, exclusive for a writer.
//
// Every process first takes archive.lock, the gate, then locks the file, then leaves the gate. So new readers wait behind
// a writer and cannot starve it. Who has waited at the gate for gateTimeout leaves it for as long and tries again, so that
// a stopped process keeps away only those that its lock excludes.
//
// No call blocks in flock(2): it has no deadline, ignores signals, and a thread left in it would take the lock later.
// Instead flock is tried again after short pauses.
type lock struct {
	data *os.File // the archive's file
	info os.FileInfo
}

const (
	maxWait     = 4 * time.Second        // after which a wait ends with a LockedError, unless the context says otherwise
	gateTimeout = 500 * time.Millisecond // ten times as long as a reader may hold the lock
)

// behindEnd is the byte of the archive's file that is locked where locks are of bytes: no archive is so large.
const behindEnd = 1 << 62

// errHeld is returned if another process holds a lock, or has replaced the file meanwhile: try later.
var errHeld = errors.New("locked")

func lockPath(path string) string { return strings.TrimSuffix(path, ".db") + ".lock" }

type waitKey struct{}

// WaitForLock returns a context whose calls wait for the archive's lock until ctx ends. onWait is called about once a
// second with the processes that hold the lock, by the waiting goroutine, and with nil when the wait is over.
func WaitForLock(ctx context.Context, onWait func(*LockedError)) context.Context {
	return context.WithValue(ctx, waitKey{}, onWait)
}

// lock locks and opens the archive's file; a writer creates it first with create. It returns errAbsent if there is
// none. A reader that finds no lock file, or cannot lock it (a copied archive, a read-only file system), only locks the
// archive's file.
func (a *Archive) lock(ctx context.Context, write bool, create func() error) (lock, error) {
	onWait, _ := ctx.Value(waitKey{}).(func(*LockedError))
	begun, waited := time.Now(), false
	if gaveUp := a.gaveUp.Load(); gaveUp != nil && time.Since(*gaveUp) < time.Second {
		begun = begun.Add(-maxWait) // after one timeout, do not make the same command wait again
	}
	for {
		l, err := a.attempt(ctx, write, create)
		if waited && !errors.Is(err, errHeld) {
			onWait(nil)
		}
		switch {
		case !errors.Is(err, errHeld):
			return l, err
		case onWait != nil:
			waited = true
			onWait(a.lockedError(begun))
		case time.Since(begun) > maxWait:
			now := time.Now()
			a.gaveUp.Store(&now)
			return lock{}, a.lockedError(begun)
		}
		if err := poll(ctx, func() (bool, error) { return false, nil }); !errors.Is(err, errHeld) {
			return lock{}, err
		}
	}
}

// attempt tries to lock for gateTimeout at the gate, and as long at the file.
func (a *Archive) attempt(ctx context.Context, write bool, create func() error) (l lock, err error) {
	gate, err := a.enter(ctx, write)
	if err != nil {
		return l, err
	}
	defer ownfile.Unlock(gate)
	if create != nil {
		if err := create(); err != nil {
			return l, wrapFull(fmt.Errorf("create archive: %w", err))
		}
	}
	if err = a.openData(ctx, write, &l); err != nil {
		ownfile.Unlock(l.data)
		l = lock{}
	}
	return l, err
}

// enter takes the gate. A writer creates the lock file if necessary; a reader gets nil if there is none, or if it cannot be
// locked.
func (a *Archive) enter(ctx context.Context, write bool) (*os.File, error) {
	flag := os.O_RDONLY
	if write {
		flag = os.O_RDWR | os.O_CREATE
	}
	gate, err := ownfile.Open(lockPath(a.path), flag, 0o600)
	if write && errors.Is(err, fs.ErrPermission) {
		gate, err = ownfile.Open(lockPath(a.path), os.O_RDONLY, 0)
	}
	if err == nil {
		if err = poll(ctx, func() (bool, error) { return ownfile.TryLock(gate, true, 0) }); err == nil {
			return gate, nil
		}
		gate.Close()
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, errHeld):
		return nil, err
	case !write:
		return nil, nil
	}
	return nil, fmt.Errorf("lock archive: %w", err)
}

// openData opens the archive's file and locks it, so that exactly this file is read or mapped, and no ccd changes it
// meanwhile.
func (a *Archive) openData(ctx context.Context, write bool, l *lock) (err error) {
	flag := os.O_RDONLY
	if write {
		flag = os.O_RDWR
	}
	if l.data, err = ownfile.Open(a.path, flag, 0); err != nil {
		if _, absent := a.stat(); absent != nil {
			return absent
		}
		if errors.Is(err, fs.ErrNotExist) { // it has just been made
			return errHeld
		}
		return fmt.Errorf("open archive: %w", err)
	}
	err = poll(ctx, func() (bool, error) {
		got, err := ownfile.TryLock(l.data, write, behindEnd)
		if err != nil {
			err = fmt.Errorf("lock %s: %w", a.path, err)
		}
		return got, err
	})
	if err == nil {
		l.info, err = l.data.Stat()
	}
	if err != nil {
		return err
	}
	if now, err := os.Stat(a.path); err != nil || !os.SameFile(now, l.info) {
		return errHeld
	}
	if write && l.info.Mode().Perm()&0o077 != 0 { // a copy put in the archive's place may have another mode, or the file another owner
		_ = l.data.Chmod(l.info.Mode().Perm() & 0o700)
	}
	return nil
}

// poll calls get until it succeeds, or fails with errHeld after gateTimeout. Each pause is an eighth of the time spent, so
// short waits stay short and long ones use little CPU.
func poll(ctx context.Context, get func() (bool, error)) error {
	for begun := time.Now(); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if got, err := get(); got || err != nil {
			return err
		}
		spent := time.Since(begun)
		if spent >= gateTimeout {
			return errHeld
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(max(spent/8, 50*time.Microsecond), 10*time.Millisecond)):
		}
	}
}

// release unlocks and closes the file: bbolt may have closed it, or have left a mapping that cannot be undone.
func (l lock) release() { ownfile.Unlock(l.data) }

// LockedError is returned if other processes held the archive's lock for too long.
type LockedError struct {
	Waited  time.Duration // so far
	path    string        // of the archive
	holders []holder
}

// holder is a process that holds a lock.
type holder struct {
	pid, name string // such as "ccd restore"
	stopped   bool   // by Ctrl-Z or SIGSTOP
}

// Error includes the processes.
func (e *LockedError) Error() string {
	if len(e.holders) == 0 {
		return "archive is locked by another process"
	}
	var names []string
	for _, h := range e.holders {
		names = append(names, fmt.Sprintf("%s (%s)", h.pid, h.name))
	}
	return "archive is locked by process " + strings.Join(names, ", ")
}

// Hint returns what to do about it.
func (e *LockedError) Hint() string {
	for _, h := range e.holders {
		if h.stopped {
			return "process " + h.pid + " is stopped; resume it: kill -CONT " + h.pid
		}
	}
	if len(e.holders) == 0 {
		return "try again; find the process: lsof " + e.path
	}
	return "try again, or stop that process"
}

// lockedError names the processes that hold the archive's lock, according to the kernel. One at the gate waits itself, unless
// it is stopped there.
func (a *Archive) lockedError(begun time.Time) *LockedError {
	e := &LockedError{Waited: time.Since(begun), path: a.path}
	locks, _ := os.ReadFile("/proc/locks") // Linux only
	for i, file := range []string{a.path, lockPath(a.path)} {
		info, err := os.Stat(file)
		if err != nil {
			continue
		}
		end := ":" + strconv.FormatUint(ownfile.Inode(info), 10)
		for line := range strings.Lines(string(locks)) {
			f := strings.Fields(line) // "1: FLOCK ADVISORY WRITE 4711 00:2e:131090 0 EOF"; a waiting process has "->" in the second field
			if len(f) < 6 || f[1] != "FLOCK" || !strings.HasSuffix(f[5], end) {
				continue
			}
			if h := newHolder(f[4]); (i == 0 || h.stopped || len(e.holders) == 0) && !slices.Contains(e.holders, h) {
				e.holders = append(e.holders, h)
			}
		}
	}
	return e
}

func newHolder(pid string) holder {
	line, _ := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
	program, rest, _ := strings.Cut(string(line), "\x00")
	verb, _, _ := strings.Cut(rest, "\x00") // leave out the arguments: they may contain search words
	name := filepath.Base(cmp.Or(program, "?"))
	if name == "ccd" && verb != "" && verb[0] != '-' {
		name += " " + verb
	}
	stat, _ := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	_, state, _ := strings.Cut(string(stat), ") ") // "4711 (ccd) T 1 ..."
	return holder{pid, name, strings.HasPrefix(state, "T")}
}
