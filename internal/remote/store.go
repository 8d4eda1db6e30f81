package remote

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"
)

// Errors of a Store.
var (
	ErrAbsent   = errors.New("no such object")
	ErrConflict = errors.New("the object exists")
	ErrDenied   = errors.New("access denied")
	ErrLocked   = errors.New("the bucket keeps it")        // the error says until when
	ErrBusy     = errors.New("the store is not available") // a failure that may pass
)

// Object is an entry of a listing.
type Object struct {
	Name     string
	Size     int64
	Modified time.Time // by the store's clock
	Tag      string    // of its content; "" if the store does not say
}

// Store is a bucket, or a part of one. Its errors wrap those above.
type Store interface {
	// Get returns the first n bytes of an object, or all for n < 0, and the tag of its content.
	Get(ctx context.Context, name string, n int64) (data []byte, tag string, err error)
	// Put writes an object in one request. If create is set, it fails with ErrConflict if there is one with that name.
	Put(ctx context.Context, name string, data []byte, create bool) error
	// List yields the objects whose names begin with prefix, in order; only those after prefix+after.
	List(ctx context.Context, prefix, after string) iter.Seq2[Object, error]
	// Delete removes an object with all its versions; one that does not exist is no error. The error wraps ErrLocked for
	// one under Object Lock.
	Delete(ctx context.Context, name string) error
}

// Patience limits how long one request may take and how often it is tried.
type Patience struct {
	Tries int
	Pause time.Duration // before the second try; doubled for each further one, with a random part
	Limit time.Duration // of one try of a small object
	Rate  int64         // bytes per second that a try may count on

	Say func(format string, args ...any) // called before the third and each further try; nil: not
}

// DefaultPatience gives up after about two minutes.
var DefaultPatience = Patience{Tries: 8, Pause: time.Second / 2, Limit: 30 * time.Second, Rate: 64 << 10}

// patient tries requests again that failed for reasons that may pass.
type patient struct {
	Store
	p Patience
}

// Patient returns a store whose requests have a deadline and are tried again after ErrBusy. A Put whose answer was lost
// may then fail with ErrConflict although it has written.
func Patient(s Store, p Patience) Store { return patient{s, p} }

func (s patient) try(ctx context.Context, size int64, do func(context.Context) error) (err error) {
	pause := s.p.Pause
	for n := 1; ; n++ {
		limited, cancel := context.WithTimeout(ctx, s.p.Limit+time.Duration(size/max(s.p.Rate, 1))*time.Second)
		err = do(limited)
		late := limited.Err() != nil && ctx.Err() == nil
		cancel()
		if late {
			err = fmt.Errorf("%w within its time limit: %w", ErrBusy, err)
		}
		if !errors.Is(err, ErrBusy) || ctx.Err() != nil {
			return err
		}
		if n >= s.p.Tries {
			return fmt.Errorf("after %d tries: %w", n, err)
		}
		next := pause/2 + time.Duration(rand.Int64N(int64(pause)+1))
		if s.p.Say != nil && n > 1 {
			s.p.Say("try %d of %d in %s: %v", n+1, s.p.Tries, next.Round(100*time.Millisecond), err)
		}
		wait := time.NewTimer(next)
		select {
		case <-ctx.Done():
			wait.Stop()
			return context.Cause(ctx)
		case <-wait.C:
		}
		pause *= 2
	}
}

// Get implements Store.
func (s patient) Get(ctx context.Context, name string, n int64) (data []byte, tag string, err error) {
	err = s.try(ctx, max(n, fullPack), func(ctx context.Context) (err error) {
		data, tag, err = s.Store.Get(ctx, name, n)
		return err
	})
	return data, tag, err
}

// Put implements Store.
func (s patient) Put(ctx context.Context, name string, data []byte, create bool) error {
	return s.try(ctx, int64(len(data)), func(ctx context.Context) error { return s.Store.Put(ctx, name, data, create) })
}

// List implements Store. A listing that fails begins again, without the objects that it has yielded.
func (s patient) List(ctx context.Context, prefix, after string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		seen, stopped := map[string]bool{}, false
		err := s.try(ctx, fullPack, func(ctx context.Context) error {
			for o, err := range s.Store.List(ctx, prefix, after) {
				if err != nil {
					return err
				}
				if seen[o.Name] {
					continue
				}
				seen[o.Name] = true
				if stopped = !yield(o, nil); stopped {
					return nil
				}
			}
			return nil
		})
		if err != nil && !stopped {
			yield(Object{}, err)
		}
	}
}

// Delete implements Store.
func (s patient) Delete(ctx context.Context, name string) error {
	return s.try(ctx, 0, func(ctx context.Context) error { return s.Store.Delete(ctx, name) })
}
