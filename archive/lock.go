package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"
	"time"

	"ccd/internal/ownfile"
)

// A lock is the archive's file, open and locked: shared for a reader, exclusive for a writer.
//
// Every process first takes archive.lock, the gate, then locks the file, then leaves the gate. So new readers wait behind
// a writer and cannot starve it. A waiter that held the gate for gateTimeout leaves it and tries again if others could pass
// meanwhile, so a stopped process does not block them.
//
// No call blocks in flock(2): it has no deadline, ignores signals, and a thread left in it would take the lock later.
// Instead flock is tried again after short pauses.
type lock struct {
	data  *os.File // the archive's file
	info  os.FileInfo
	brake *Brake
}

const (
	maxWait     = 4 * time.Second        // after which a wait ends with a LockedError
	gateTimeout = 500 * time.Millisecond // for which a waiter keeps the gate; ten times as long as a reader may hold the lock
)

// behindEnd is the byte of the archive's file that is locked where locks are of bytes: no archive is so large.
const behindEnd = 1 << 62

// errHeld is returned if another process holds a lock, or has replaced the file meanwhile, or if this process is about to
// be stopped: try later.
var errHeld = errors.New("locked")

func lockPath(path string) string { return strings.TrimSuffix(path, ".db") + ".lock" }

// wait is one call's wait for the lock.
type wait struct {
	a        *Archive
	write    bool
	begun    time.Time
	reported time.Time
	onWait   func(*LockedError) // nil: the wait ends after maxWait
	brake    *Brake
}

// lock locks and opens the archive's file; a writer creates it first with create. It returns errAbsent if there is
// none. A reader that finds no lock file, or cannot lock it (a copied archive, a read-only file system), only locks the
// archive's file.
func (a *Archive) lock(ctx context.Context, write bool, create func() error) (lock, error) {
	w := wait{a: a, write: write, begun: time.Now(), brake: brakeOf(ctx)}
	if gaveUp := a.gaveUp.Load(); gaveUp != nil && time.Since(*gaveUp) < time.Second {
		w.begun = w.begun.Add(-maxWait) // after one timeout, do not make the same command wait again
	}
	w.onWait, _ = ctx.Value(waitKey).(func(*LockedError))
	w.reported = w.begun
	defer func() {
		if w.reported != w.begun {
			w.onWait(nil)
		}
	}()
	for outside := gateTimeout / 2; ; outside = min(2*outside, 4*gateTimeout) {
		l, err := w.attempt(ctx, create)
		if !errors.Is(err, errHeld) {
			return l, err
		}
		if err := w.pause(ctx, outside); err != nil {
			return lock{}, err
		}
	}
}

// attempt tries to lock, and fails with errHeld if others could have the lock meanwhile.
func (w *wait) attempt(ctx context.Context, create func() error) (l lock, err error) {
	if err := w.brake.enter(ctx); err != nil {
		return lock{}, err
	}
	l.brake = w.brake
	defer func() {
		if err != nil {
			l.release()
			l = lock{}
		}
	}()
	gate, err := w.enter(ctx)
	if err != nil {
		return l, err
	}
	defer ownfile.Unlock(gate)
	if create != nil {
		if err := create(); err != nil {
			return l, wrapFull(fmt.Errorf("create archive: %w", err))
		}
	}
	return l, w.open(ctx, &l)
}

// enter takes the gate. A writer creates the lock file if necessary; a reader gets nil if there is none, or if it cannot be
// locked.
func (w *wait) enter(ctx context.Context) (*os.File, error) {
	flag := os.O_RDONLY
	if w.write {
		flag = os.O_RDWR | os.O_CREATE
	}
	gate, err := ownfile.Open(lockPath(w.a.path), flag, 0o600)
	if w.write && errors.Is(err, fs.ErrPermission) {
		gate, err = ownfile.Open(lockPath(w.a.path), os.O_RDONLY, 0)
	}
	if err == nil {
		if err = w.try(ctx, math.MaxInt64, func() (bool, error) { return ownfile.TryLock(gate, true, 0) }); err == nil {
			return gate, nil
		}
		gate.Close()
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, errHeld) || errors.As(err, new(*LockedError)):
		return nil, err
	case !w.write:
		return nil, nil
	}
	return nil, fmt.Errorf("lock archive: %w", err)
}

// open opens the archive's file and locks it, so that exactly this file is read or mapped, and no ccd changes it
// meanwhile.
func (w *wait) open(ctx context.Context, l *lock) (err error) {
	flag := os.O_RDONLY
	if w.write {
		flag = os.O_RDWR
	}
	l.data, err = ownfile.Open(w.a.path, flag, 0)
	if err != nil {
		_, absent := w.a.stat()
		switch {
		case absent != nil:
			err = absent
		case errors.Is(err, fs.ErrNotExist): // it has just been made
			return errHeld
		default:
			err = fmt.Errorf("open archive: %w", err)
		}
	}
	for err == nil {
		err = w.try(ctx, gateTimeout, func() (bool, error) {
			got, err := ownfile.TryLock(l.data, w.write, behindEnd)
			if err != nil {
				err = fmt.Errorf("lock %s: %w", w.a.path, err)
			}
			return got, err
		})
		if !errors.Is(err, errHeld) || w.brake.isPulled() || w.blockedByReaders(l.data) {
			break
		}
		err = nil
	}
	if err == nil {
		l.info, err = l.data.Stat()
	}
	if now, statErr := os.Stat(w.a.path); err == nil && (statErr != nil || !os.SameFile(now, l.info)) {
		return errHeld
	}
	w.a.recordFile(l.info, err)
	return err
}

// blockedByReaders reports whether only readers keep a writer from the lock, so that other readers could have it.
func (w *wait) blockedByReaders(data *os.File) bool {
	if !w.write {
		return false
	}
	shared, err := ownfile.TryLock(data, false, behindEnd)
	return shared || err != nil // closing the file releases it
}

func (w *wait) pause(ctx context.Context, d time.Duration) error {
	err := w.try(ctx, d, func() (bool, error) { return false, nil })
	if errors.Is(err, errHeld) {
		err = nil
	}
	return err
}

// try calls get until it succeeds, or fails with errHeld after limit. Each pause is an eighth of the time spent, so
// short waits stay short and long ones use little CPU.
func (w *wait) try(ctx context.Context, limit time.Duration, get func() (bool, error)) error {
	for begun := time.Now(); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		got, err := get()
		if got || err != nil {
			return err
		}
		spent := time.Since(begun)
		if spent >= limit || w.brake.isPulled() {
			return errHeld
		}
		if err := w.report(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(max(spent/8, 50*time.Microsecond), 10*time.Millisecond)):
		}
	}
}

// report calls onWait about once a second with the processes that hold the lock. Without onWait it fails with a
// LockedError after maxWait.
func (w *wait) report() error {
	switch {
	case w.onWait == nil && time.Since(w.begun) > maxWait:
		now := time.Now()
		w.a.gaveUp.Store(&now)
		return w.a.lockedError(w.begun)
	case w.onWait != nil && time.Since(w.reported) > time.Second:
		w.reported = time.Now()
		w.onWait(w.a.lockedError(w.begun))
	}
	return nil
}

// release unlocks and closes the files.
func (l lock) release() {
	ownfile.Unlock(l.data) // bbolt may have closed it, or have left a mapping that cannot be undone
	l.brake.exit()
}
