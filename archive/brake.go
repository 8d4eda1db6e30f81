package archive

import (
	"context"
	"sync/atomic"
	"time"
)

// Brake keeps a process from being stopped (Ctrl-Z) while it holds the archive's lock. The zero Brake is ready for use.
type Brake struct {
	pulled atomic.Bool
	inside atomic.Int32 // calls that hold the lock or wait for it
}

// brakePause is how often each side checks the other.
const brakePause = time.Millisecond

// Bind returns a context whose archive calls wait while the brake is pulled.
func (b *Brake) Bind(ctx context.Context) context.Context {
	return context.WithValue(ctx, brakeKey, b)
}

func brakeOf(ctx context.Context) *Brake {
	b, _ := ctx.Value(brakeKey).(*Brake)
	return b
}

// Pull prevents calls from taking a lock until release is called. It waits up to limit for those that hold one: a
// transaction takes a few milliseconds.
func (b *Brake) Pull(limit time.Duration) (release func()) {
	b.pulled.Store(true)
	for end := time.Now().Add(limit); b.inside.Load() > 0 && time.Now().Before(end); {
		time.Sleep(brakePause)
	}
	return func() { b.pulled.Store(false) }
}

func (b *Brake) isPulled() bool { return b != nil && b.pulled.Load() }

// enter waits while the brake is pulled, and counts the call.
func (b *Brake) enter(ctx context.Context) error {
	for b != nil {
		b.inside.Add(1) // before loading pulled; Pull uses the opposite order
		if !b.pulled.Load() {
			break
		}
		b.inside.Add(-1)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(brakePause):
		}
	}
	return ctx.Err()
}

func (b *Brake) exit() {
	if b != nil {
		b.inside.Add(-1)
	}
}
