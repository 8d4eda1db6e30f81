package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"ccd/internal/ownfile"
)

// A lock is archive.lock held: shared to read, exclusive to write. bbolt's own lock would serve, but a waiter for it
// polls, and starves beside a busy writer.
//
// Everybody first takes archive.gate, exclusively, and lets go of it as soon as the lock is held. So whoever waits for
// the lock keeps later ones behind him: readers that come and come cannot starve a writer.
type lock struct {
	file  *os.File // nil where there is nothing to lock
	since time.Time
}

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

// lockShared waits for a shared lock. Where the lock files are absent or of no use (a copied archive, a read-only
// file system that cannot lock) it returns a lock of nothing: bbolt's own lock on the file still holds.
// The wait cannot be interrupted; it is short, since every holder does one bounded transaction. ctx is checked before
// and after.
func lockShared(ctx context.Context, path string) (lock, error) {
	if err := ctx.Err(); err != nil {
		return lock{}, err
	}
	lockPath, gatePath := lockPaths(path)
	gate, err := ownfile.Open(gatePath, os.O_RDONLY, 0)
	if err == nil {
		defer gate.Close()
		if flock(gate, true) != nil {
			return lock{}, ctx.Err()
		}
	}
	f, err := ownfile.Open(lockPath, os.O_RDONLY, 0)
	if err != nil {
		return lock{}, ctx.Err()
	}
	if flock(f, false) != nil {
		f.Close()
		return lock{}, ctx.Err()
	}
	l := lock{file: f}
	if err := ctx.Err(); err != nil {
		l.release()
		return lock{}, err
	}
	return l, nil
}

// lockExclusive waits for the exclusive lock, making the lock files where needed.
func lockExclusive(ctx context.Context, path string, p *politeness) (lock, error) {
	if err := ctx.Err(); err != nil {
		return lock{}, err
	}
	lockPath, gatePath := lockPaths(path)
	gate, err := openLock(gatePath)
	if err != nil {
		return lock{}, err
	}
	defer gate.Close()
	if err := p.enter(ctx, gate); err != nil {
		return lock{}, err
	}
	f, err := openLock(lockPath)
	if err != nil {
		return lock{}, err
	}
	if err := flock(f, true); err != nil {
		f.Close()
		return lock{}, fmt.Errorf("lock %s: %w", lockPath, err)
	}
	l := lock{file: f, since: time.Now()}
	if err := ctx.Err(); err != nil {
		l.release()
		return lock{}, err
	}
	return l, nil
}

func openLock(path string) (*os.File, error) {
	f, err := ownfile.Open(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrPermission) {
		f, err = ownfile.Open(path, os.O_RDONLY, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	return f, nil
}

// enter takes the gate. Where it is not free at once, somebody waits for the lock that this process may just have
// let go of, and the writer stands back first.
func (p *politeness) enter(ctx context.Context, gate *os.File) error {
	free, err := tryFlock(gate)
	if err != nil {
		return fmt.Errorf("lock %s: %w", gate.Name(), err)
	}
	if free {
		return nil
	}
	back := time.Until(time.Unix(0, p.released.Load()+p.held.Load()))
	if back > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(back, time.Second)):
		}
	}
	if err := flock(gate, true); err != nil {
		return fmt.Errorf("lock %s: %w", gate.Name(), err)
	}
	return nil
}

// left notes for how long the exclusive lock was held.
func (p *politeness) left(l lock) {
	now := time.Now()
	p.held.Store(int64(now.Sub(l.since)))
	p.released.Store(now.UnixNano())
}

func (l lock) release() {
	if l.file != nil {
		l.file.Close() // closing lets go of the lock
	}
}
