package remote

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Errors of a Store.
var (
	ErrAbsent   = errors.New("no such object")
	ErrConflict = errors.New("the object exists")
	ErrDenied   = errors.New("access denied")
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
	// Delete removes an object with all its versions; one that does not exist is no error.
	Delete(ctx context.Context, name string) error
}
