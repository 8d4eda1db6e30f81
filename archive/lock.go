package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"ccd/internal/ownfile"
)

// A lock is a held lock on archive.lock (shared for readers, exclusive for writers) together with the archive's file,
// open and locked too. The lock on the file alone would be enough, and is all there is before the lock files exist, but
// a busy writer would starve the others.
//
// Every process first takes archive.gate, then the lock, then releases the gate. So new readers wait behind a writer
// and cannot starve it. A waiter that held the gate for gateTimeout releases it and retries, so a stopped process does
// not block others.
//
// No call blocks in flock(2): it has no deadline, ignores signals, and a thread left in it would take the lock later.
// Instead flock is tried again after short pauses. Only the process that holds the gate tries for the lock.
type lock struct {
	file  *os.File // archive.lock; nil if there is none
	data  *os.File // the archive's file
	info  os.FileInfo
	brake *Brake
	since time.Time
}

const (
	maxWait     = 4 * time.Second        // after which a wait ends with a LockedError
	gateTimeout = 500 * time.Millisecond // for which a waiter keeps the gate; ten times as long as a reader may hold the lock
)

// errHeld is returned if another process holds a lock, or this process is about to be stopped: try later.
var errHeld = errors.New("locked")

// backoff lets readers in between a writer's transactions: if someone waits at the gate, the writer stays away as long
// as it last held the lock.
type backoff struct {
	held     atomic.Int64 // nanoseconds of the last exclusive lock
	released atomic.Int64 // unix nanoseconds
}

func lockPaths(path string) (lock, gate string) {
	base := strings.TrimSuffix(path, ".db")
	return base + ".lock", base + ".gate"
}

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
// none. A reader that finds no lock files, or cannot lock them (a copied archive, a read-only file system), only locks
// the archive's file.
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

// attempt tries to lock, and returns errHeld if the lock was not free within gateTimeout.
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
	if l.file, err = w.enter(ctx); err != nil {
		return l, err
	}
	l.since = time.Now()
	if create != nil {
		if err := create(); err != nil {
			return l, wrapFull(fmt.Errorf("create archive: %w", err))
		}
	}
	return l, w.open(ctx, &l)
}

// enter locks archive.lock while holding the gate.
func (w *wait) enter(ctx context.Context) (*os.File, error) {
	lockPath, gatePath := lockPaths(w.a.path)
	gate, err := w.openLock(gatePath)
	if err != nil {
		return nil, err
	}
	defer gate.Close() // a nil file has nothing to close
	if err := w.gate(ctx, gate); err != nil {
		return nil, err
	}
	f, err := w.openLock(lockPath)
	if err != nil {
		return nil, err
	}
	for {
		err := w.take(ctx, f, w.write, gateTimeout)
		if errors.Is(err, errHeld) && !w.brake.isPulled() && !w.blockedByReaders(f) {
			continue
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	}
}

// blockedByReaders reports whether only readers keep a writer from the lock, so that other readers could have it.
func (w *wait) blockedByReaders(f *os.File) bool {
	if !w.write {
		return false
	}
	shared, err := tryFlock(f, false)
	return shared || err != nil // closing f releases it
}

// openLock opens a lock file. A writer creates it if necessary; a reader gets nil if there is none.
func (w *wait) openLock(path string) (*os.File, error) {
	if !w.write {
		f, _ := ownfile.Open(path, os.O_RDONLY, 0)
		return f, nil
	}
	f, err := ownfile.Open(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrPermission) {
		f, err = ownfile.Open(path, os.O_RDONLY, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	return f, nil
}

// gate takes the gate. If it is busy, another process waits for the lock that this one may just have released, so a
// writer pauses first.
func (w *wait) gate(ctx context.Context, gate *os.File) error {
	if w.write {
		err := w.take(ctx, gate, true, 0)
		if !errors.Is(err, errHeld) {
			return err
		}
		p := &w.a.backoff
		back := time.Until(time.Unix(0, p.released.Load()+p.held.Load()))
		if err := w.pause(ctx, min(back, time.Second)); err != nil {
			return err
		}
	}
	return w.take(ctx, gate, true, math.MaxInt64)
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
		if _, absent := w.a.stat(); absent != nil {
			err = absent
		} else {
			err = fmt.Errorf("open archive: %w", err)
		}
	}
	if err == nil {
		err = w.try(ctx, gateTimeout, func() (bool, error) {
			got, err := lockData(l.data, w.write)
			if err != nil {
				err = fmt.Errorf("lock %s: %w", w.a.path, err)
			}
			return got, err
		})
	}
	if err == nil {
		l.info, err = l.data.Stat()
	}
	w.a.recordFile(l.info, err)
	return err
}

// take locks f within limit. If locking is impossible, a reader continues without the lock.
func (w *wait) take(ctx context.Context, f *os.File, exclusive bool, limit time.Duration) error {
	if f == nil {
		return nil
	}
	return w.try(ctx, limit, func() (bool, error) {
		got, err := tryFlock(f, exclusive)
		switch {
		case err == nil:
			return got, nil
		case !w.write:
			return true, nil
		}
		return false, fmt.Errorf("lock %s: %w", f.Name(), err)
	})
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

// recordHold stores how long the exclusive lock was held.
func (p *backoff) recordHold(l lock) {
	now := time.Now()
	p.held.Store(int64(now.Sub(l.since)))
	p.released.Store(now.UnixNano())
}

// release unlocks and closes the files.
func (l lock) release() {
	if l.data != nil { // bbolt may have closed it
		unlock(l.data) // a mapping that could not be undone keeps the file open, and with it the lock
		l.data.Close()
	}
	l.file.Close() // a nil file has nothing to close
	l.brake.exit()
}
