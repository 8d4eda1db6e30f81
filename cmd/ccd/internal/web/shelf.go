package web

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"

	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/view"
	"ccd/internal/transcript"
)

const (
	maxIndexes = 8       // sessions of which the index is kept
	freedBytes = 8 << 20 // indexed at once, after which memory is given back
)

// shelf keeps what was read of the archive until it changes: the sessions, and the indexes of those looked at last.
type shelf struct {
	mu      sync.Mutex
	library *reader.Library // replaced when it is read again
	indexes []*index        // the last used first

	glances  map[transcript.Key]glance
	week     *weekly // nil until it was added up
	weighing bool

	start    func(do func(context.Context)) // runs do until the server ends
	indexing sync.WaitGroup
}

// load returns the sessions as they are now. Each caller gets its own copy of the Library, because looking up an original
// may load it again.
func (s *shelf) load(ctx context.Context) (*reader.Library, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	l := *s.library
	return &l, nil
}

// refresh reads the archive if it has changed since.
func (s *shelf) refresh(ctx context.Context) error {
	changed, replaced := s.library.Changed()
	if !changed {
		return nil
	}
	l := *s.library
	if err := l.Load(ctx); err != nil {
		return err
	}
	if s.library = &l; replaced { // sessions and generations may be other ones, or lack texts
		s.indexes = nil
	}
	return nil
}

// index is the index of one session.
type index struct {
	key transcript.Key

	mu sync.Mutex // a view.Index is used by one at a time
	view.Index
}

// index returns the index of a session, which may be empty.
func (s *shelf) index(k transcript.Key) *index {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := &index{key: k}
	if i := slices.IndexFunc(s.indexes, func(one *index) bool { return one.key == k }); i >= 0 {
		one = s.indexes[i]
		s.indexes = slices.Delete(s.indexes, i, i+1)
	}
	s.indexes = slices.Insert(s.indexes, 0, one)
	s.indexes = s.indexes[:min(len(s.indexes), maxIndexes)]
	return one
}

// use indexes what is new of a session and calls do.
func (s *shelf) use(ctx context.Context, l *reader.Library, e *reader.Entry, do func(one *view.Index) error) error {
	one := s.index(e.Key)
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.Records == 0 && e.Tip().Offset > freedBytes {
		defer debug.FreeOSMemory() // indexing leaves many times what the index takes, and the page may now be idle for hours
	}
	if err := one.Grow(ctx, l, e); err != nil {
		return err
	}
	return do(&one.Index)
}
