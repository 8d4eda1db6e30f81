package archive

import (
	"context"
	"sync/atomic"
	"time"
)

// Brake keeps a process from being stopped (Ctrl-Z) with the archive's lock in its hands. The zero Brake is ready for use.
type Brake struct {
	pulled atomic.Bool
	inside atomic.Int32 // calls that hold a lock, or ask for one
}

// brakePause is how often one looks whether the other side has come to its end.
const brakePause = time.Millisecond

// Bind returns a context whose archive calls wait while the brake is pulled.
func (b *Brake) Bind(ctx context.Context) context.Context {
	return context.WithValue(ctx, braked, b)
}

func brakeOf(ctx context.Context) *Brake {
	b, _ := ctx.Value(braked).(*Brake)
	return b
}

// Pull lets no call take a lock from now on until the returned function is called, and waits for those that hold one, for
// limit at the longest: a transaction takes some milliseconds.
func (b *Brake) Pull(limit time.Duration) (release func()) {
	b.pulled.Store(true)
	for end := time.Now().Add(limit); b.inside.Load() > 0 && time.Now().Before(end); {
		time.Sleep(brakePause)
	}
	return func() { b.pulled.Store(false) }
}

func (b *Brake) isPulled() bool { return b != nil && b.pulled.Load() }

// enter waits while the brake is pulled, and counts a call in.
func (b *Brake) enter(ctx context.Context) error {
	for b != nil {
		b.inside.Add(1) // before the look: Pull looks in the other order
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

func (b *Brake) leave() {
	if b != nil {
		b.inside.Add(-1)
	}
}
