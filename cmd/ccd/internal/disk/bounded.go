package disk

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Patience is how long a command waits for a file system, or for a lock that another process keeps.
const Patience = 5 * time.Second

// SlowError reports that something took too long and was given up.
type SlowError struct{ After time.Duration }

// Error says how long.
func (e SlowError) Error() string { return fmt.Sprintf("no response within %s", e.After) }

// Slow reports whether err is a SlowError.
func Slow(err error) bool { return errors.As(err, new(SlowError)) }

// Bounded returns what do returns, or a SlowError: a system call that hangs cannot be interrupted, only left behind. A panic
// of do is an error. do must not change what it shares with others.
func Bounded[T any](ctx context.Context, limit time.Duration, do func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	ctx, stop := context.WithTimeoutCause(ctx, limit, SlowError{limit})
	defer stop()
	c := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil { // what it says may be of a transcript
				o.err = errors.New("internal error in ccd")
			}
			c <- o
		}()
		o.value, o.err = do(ctx)
	}()
	select {
	case o := <-c:
		if cause := context.Cause(ctx); o.err != nil && Slow(cause) {
			o.err = cause
		}
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
