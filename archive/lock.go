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

// A lock is archive.lock held, shared to read, exclusive to write, and the archive's file open and locked itself. The lock of
// the file alone would be enough, and is all there is where nobody has made the lock files yet, but a writer that comes back
// again and again would starve the others.
//
// Every process first takes archive.gate, then the lock, then releases the gate. So new readers wait behind a writer and
// cannot starve it. A waiter that held the gate for `turn` releases it and retries, so a stopped process does not block
// others.
//
// No call blocks in flock(2): it has no deadline, ignores signals, and a thread left in it would take the lock later.
// Instead flock is tried again after short pauses. Only the process that holds the gate tries for the lock.
type lock struct {
	file  *os.File // archive.lock; nil where there is none
	data  *os.File // the archive's file
	info  os.FileInfo
	brake *Brake
	since time.Time
}

const (
	patience = 4 * time.Second        // after which a wait ends with a LockedError
	turn     = 500 * time.Millisecond // for which a waiter keeps the gate, ten times what a reader may hold the lock
)

// errHeld tells that another process holds a lock, or that this process is to be stopped: try later.
var errHeld = errors.New("locked")

// politeness is how a writer lets readers in between its transactions: where somebody waits at the gate, it stays away
// for as long as it last held the lock.
type politeness struct {
	held     atomic.Int64 // nanoseconds, of the last exclusive lock
	released atomic.Int64 // unix nanoseconds
}

func lockPaths(path string) (lock, gate string) {
	base := strings.TrimSuffix(path, ".db")
	return base + ".lock", base + ".gate"
}

// wait is the wait of one call for the archive.
type wait struct {
	a     *Archive
	write bool
	begun time.Time
	told  time.Time
	tell  func(*LockedError) // nil: the wait ends with patience
	brake *Brake
}

// lock locks the archive's file and opens it; a writer makes it first by create. Where there is none it returns errAbsent.
// Where a reader finds no lock files, or none that can be locked (a copied archive, a read-only file system), the lock of
// the archive's file is all it takes.
func (a *Archive) lock(ctx context.Context, write bool, create func() error) (lock, error) {
	w := wait{a: a, write: write, begun: time.Now(), brake: brakeOf(ctx)}
	if gaveUp := a.gaveUp.Load(); gaveUp != nil && time.Since(*gaveUp) < time.Second {
		w.begun = w.begun.Add(-patience) // a command that makes do without one answer does not wait for the next one
	}
	w.tell, _ = ctx.Value(patient).(func(*LockedError))
	w.told = w.begun
	defer func() {
		if w.told != w.begun {
			w.tell(nil)
		}
	}()
	for outside := turn / 2; ; outside = min(2*outside, 4*turn) {
		l, err := w.once(ctx, create)
		if !errors.Is(err, errHeld) {
			return l, err
		}
		if err := w.pause(ctx, outside); err != nil {
			return lock{}, err
		}
	}
}

// once tries to lock, and gives up with errHeld where the lock is held for longer than turn.
func (w *wait) once(ctx context.Context, create func() error) (l lock, err error) {
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
			return l, full(fmt.Errorf("create archive: %w", err))
		}
	}
	return l, w.open(ctx, &l)
}

// enter takes archive.lock by way of the gate.
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
		err := w.take(ctx, f, w.write, turn)
		if errors.Is(err, errHeld) && !w.brake.isPulled() && !w.excluded(f) {
			continue
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	}
}

// excluded reports whether a writer is kept from the lock by readers alone, so that other readers could have it.
func (w *wait) excluded(f *os.File) bool {
	if !w.write {
		return false
	}
	shared, err := tryFlock(f, false)
	return shared || err != nil // given back when f is closed
}

// openLock opens a lock file. A writer makes it where needed; a reader goes on without one, nil.
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

// gate takes the gate. Where it is not free at once, somebody waits for the lock that this process may just have let go
// of, and a writer stands back first.
func (w *wait) gate(ctx context.Context, gate *os.File) error {
	if w.write {
		err := w.take(ctx, gate, true, 0)
		if !errors.Is(err, errHeld) {
			return err
		}
		p := &w.a.polite
		back := time.Until(time.Unix(0, p.released.Load()+p.held.Load()))
		if err := w.pause(ctx, min(back, time.Second)); err != nil {
			return err
		}
	}
	return w.take(ctx, gate, true, math.MaxInt64)
}

// open opens the archive's file and locks it: what is read or mapped from here on is this very file, and no ccd changes it
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
		err = w.try(ctx, turn, func() (bool, error) {
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
	w.a.see(l.info, err)
	return err
}

// take locks f within limit. A lock file that cannot be locked keeps no reader out.
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

// try tries until it gets what it wants, for limit at the longest: then it fails with errHeld. Each pause is an eighth of
// the wait so far: who waits for little loses little, and who waits for long costs little.
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

// report calls tell about once a second with who holds the lock. Without tell it fails with a LockedError after patience.
func (w *wait) report() error {
	switch {
	case w.tell == nil && time.Since(w.begun) > patience:
		now := time.Now()
		w.a.gaveUp.Store(&now)
		return w.a.lockedError(w.begun)
	case w.tell != nil && time.Since(w.told) > time.Second:
		w.told = time.Now()
		w.tell(w.a.lockedError(w.begun))
	}
	return nil
}

// left notes for how long the exclusive lock was held.
func (p *politeness) left(l lock) {
	now := time.Now()
	p.held.Store(int64(now.Sub(l.since)))
	p.released.Store(now.UnixNano())
}

// release closes the files: that lets go of their locks.
func (l lock) release() {
	l.data.Close() // bbolt may have closed it; a nil file has nothing to close
	l.file.Close()
	l.brake.leave()
}
