package disk

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestBounded tests that what hangs is left behind, and what panics is an error.
func TestBounded(t *testing.T) {
	ctx := context.Background()
	end := make(chan struct{})
	defer close(end)
	_, err := Bounded(ctx, time.Millisecond, func(context.Context) (int, error) { <-end; return 1, nil })
	if !Slow(err) {
		t.Errorf("hangs: %v", err)
	}
	if n, err := Bounded(ctx, time.Minute, func(context.Context) (int, error) { return 7, nil }); n != 7 || err != nil {
		t.Errorf("returns: %d, %v", n, err)
	}
	if _, err := Bounded(ctx, time.Minute, func(context.Context) (int, error) { panic("x") }); err == nil || Slow(err) {
		t.Errorf("panics: %v", err)
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := Bounded(stopped, time.Minute, func(context.Context) (int, error) { <-end; return 1, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}
