package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"ccd/internal/ownfile"
)

var (
	keySchema = []byte("schema")
	keyID     = []byte("id")
	keyFile   = []byte("file")
	keyBase   = []byte("base")
)

var errAbsent = fmt.Errorf("%w: there is no archive yet", ErrNotFound)

// store is the archive file, open and locked for one operation.
type store struct {
	a      *Archive
	db     *bolt.DB
	lock   lock
	write  bool
	stats  bool // db counts free pages
	broken bool // a panic left db in a state that cannot be closed
}

// view runs fn in a read transaction. It returns errAbsent if there is no archive yet.
func (a *Archive) view(ctx context.Context, fn func(tx *bolt.Tx) error) error {
	return a.use(ctx, &store{a: a}, func(s *store) error { return s.view(fn) })
}

// viewAny is view, but does nothing if there is no archive yet.
func (a *Archive) viewAny(ctx context.Context, fn func(tx *bolt.Tx) error) error {
	if err := a.view(ctx, fn); !errors.Is(err, errAbsent) {
		return err
	}
	return nil
}

// use runs fn with a store that it opens for reading, or with the held one.
func (a *Archive) use(ctx context.Context, s *store, fn func(s *store) error) error {
	if a.held != nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		return fn(a.held)
	}
	if err := s.open(ctx, nil); err != nil {
		return err
	}
	defer s.close()
	return fn(s)
}

// Held calls fn with an archive whose calls use one opening of the file. Writers wait meanwhile, so fn must be short.
// It fails if the file cannot be opened, or as fn does.
func (a *Archive) Held(ctx context.Context, fn func(*Archive) error) error {
	return a.use(ctx, &store{a: a}, func(s *store) error { return fn(s.hold()) })
}

// heldBytes is how much a call of Held reads at most, in bytes. To open the file takes as long as to read some 100 KB.
const heldBytes = 2 << 20

// Batches divides what is to be read into runs for a call of Held each, by their sizes in bytes. What is too large for that is a run
// of its own, and to be read without Held.
func Batches[T any](all []T, size func(T) int64) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for len(all) > 0 {
			n, bytes := 1, size(all[0])
			for n < len(all) && bytes+size(all[n]) <= heldBytes {
				bytes += size(all[n])
				n++
			}
			if !yield(all[:n]) {
				return
			}
			all = all[n:]
		}
	}
}

// hold returns an archive whose calls use the open store.
func (s *store) hold() *Archive {
	return &Archive{path: s.a.path, codec: s.a.codec, held: s}
}

// update runs fn in a write transaction, and notes tips that fn has filled. It is durable when update returns.
func (a *Archive) update(ctx context.Context, need int64, fn func(tx *bolt.Tx) error, tips ...*landed) error {
	if a.held != nil { // nothing waits for a lock, so nothing else looks at the context
		if err := ctx.Err(); err != nil {
			return err
		}
		return a.held.update(fn)
	}
	s, err := a.openWrite(ctx, need)
	if err != nil {
		return err
	}
	defer s.close()
	id := ""
	err = s.update(func(tx *bolt.Tx) error {
		id, _ = getID(tx) // a damaged one is not known
		return fn(tx)
	})
	if err != nil {
		return err
	}
	return s.note(ctx, id, tips)
}

// openWrite opens the store with an exclusive lock, and creates it if necessary. need is the number of bytes to be
// written.
func (a *Archive) openWrite(ctx context.Context, need int64) (*store, error) {
	if a.o.ReadOnly {
		return nil, ErrReadOnly
	}
	dir := filepath.Dir(a.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make archive directory: %w", err)
	}
	if err := a.checkSpace(dir, need); err != nil {
		return nil, err
	}
	s := &store{a: a, write: true}
	if err := s.open(ctx, a.create); err != nil {
		return nil, err
	}
	return s, nil
}

// checkSpace fails if writing need bytes would leave less than MinFree.
func (a *Archive) checkSpace(dir string, need int64) error {
	if a.o.MinFree <= 0 {
		return nil
	}
	free, err := ownfile.Free(dir)
	if err != nil {
		return fmt.Errorf("get free space: %w", err)
	}
	if free-need < a.o.MinFree {
		return fmt.Errorf("%w: %s free on its disk, and %s must stay free (archive.min_free)", ErrFull, humanize.Bytes(uint64(max(0, free))), humanize.Bytes(uint64(a.o.MinFree)))
	}
	return nil
}

// open locks and opens the file. A writer creates it first with create. After an error nothing is left open.
func (s *store) open(ctx context.Context, create func() error) (err error) {
	if s.lock, err = s.a.lock(ctx, s.write, create); err != nil {
		return err
	}
	if err = s.openLocked(); err != nil {
		s.close()
	}
	return err
}

func (s *store) openLocked() (err error) {
	defer func() {
		if d := (*DamageError)(nil); errors.As(err, &d) {
			d.closed = true
		}
	}()
	if s.lock.info.Size() == 0 { // bbolt would turn it into a database
		return s.a.damage("the file is empty; remove it if it was never used")
	}
	if s.lock.info.Size() < 2*4096 { // bbolt fails with an error that is no damage
		return s.a.damage("the file is too short to be an archive")
	}
	err = s.a.guard(func() (err error) {
		s.broken = true // a panic inside bolt.Open leaves only the file to close
		s.db, err = bolt.Open(s.a.path, 0o600, s.options())
		s.broken = false
		return err
	})
	if err != nil {
		return s.a.openError(err)
	}
	s.db.AllocSize = int(max(minGrow, s.lock.info.Size()/32))
	return s.view(func(tx *bolt.Tx) error {
		if tx.Size() > s.lock.info.Size() {
			return s.a.damage("the file is truncated")
		}
		return s.checkSchema(tx)
	})
}

// stat returns errAbsent only if there is nothing at the archive's path. A dangling symlink is an error, because the
// archive may be on a disk that is not mounted: it must not be replaced by an empty one.
func (a *Archive) stat() (os.FileInfo, error) {
	info, err := os.Stat(a.path)
	if !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			err = fmt.Errorf("open archive: %w", err)
		}
		return info, err
	}
	to, err := os.Readlink(a.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errAbsent
	case err != nil: // no link: another process has just created the archive
		if info, err = os.Stat(a.path); err != nil {
			return nil, fmt.Errorf("open archive: %w", err)
		}
		return info, nil
	}
	return nil, fmt.Errorf("open archive: %s links to %s, which does not exist: is its disk mounted?", a.path, to)
}

// FileReplaced reports whether the archive's file was replaced or removed since the last call, so that what the caller believes
// to be archived is not. A file with the same inode that is shorter was replaced too, because an archive never shrinks.
func (a *Archive) FileReplaced() bool {
	now, err := a.stat()
	if err != nil && !errors.Is(err, errAbsent) {
		return false // unknown
	}
	before := a.lastFile.Load()
	if a.lastFile.Store(nil); err == nil {
		a.lastFile.Store(&now)
	}
	return before != nil && (err != nil || !os.SameFile(*before, now) || now.Size() < (*before).Size())
}

// openError translates bbolt's errors.
func (a *Archive) openError(err error) error {
	switch {
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch):
		return &DamageError{Path: a.path, Err: err}
	case errors.Is(err, berrors.ErrTimeout):
		return a.lockedError(time.Now().Add(-gateTimeout))
	}
	return fmt.Errorf("open archive: %w", err)
}

// minGrow is the least by which the file grows, in bytes. A larger file grows by 3 percent; bbolt's own step is 16 MB.
const minGrow = 256 << 10

func (s *store) options() *bolt.Options {
	return &bolt.Options{
		Timeout:      gateTimeout, // for bbolt's own lock, which only another program can hold
		ReadOnly:     !s.write,
		FreelistType: bolt.FreelistMapType,
		MaxSize:      int(s.a.o.MaxSize),
		NoStatistics: !s.stats,

		PreLoadFreelist: s.stats,
		OpenFile:        func(string, int, os.FileMode) (*os.File, error) { return s.lock.data, nil },
	}
}

// create makes an empty archive if there is none. It writes a temporary file and renames it, because bbolt does not
// survive a power cut during its own initialization. The caller must hold the exclusive lock.
func (a *Archive) create() error {
	if _, err := a.stat(); !errors.Is(err, errAbsent) {
		return err
	}
	return a.putInPlace(a.path, func(tmp string) error {
		return a.build(tmp, func(*Archive) error { return nil })
	})
}

// view runs fn in a read transaction of the open store.
func (s *store) view(fn func(tx *bolt.Tx) error) error { return s.run(false, fn) }

// update runs fn in a write transaction of the open store and makes it durable.
func (s *store) update(fn func(tx *bolt.Tx) error) error { return wrapFull(s.run(true, fn)) }

func (s *store) run(write bool, fn func(tx *bolt.Tx) error) error {
	return s.a.guard(func() error {
		s.broken = true // a panic in Begin or Commit leaves their locks locked
		tx, err := s.db.Begin(write)
		if err != nil {
			s.broken = false
			return err
		}
		defer func() {
			_ = tx.Rollback() // fails after Commit
			s.broken = false
		}()
		if err := fn(tx); err != nil || !write {
			return err
		}
		return tx.Commit()
	})
}

// guard runs fn and turns a panic into a DamageError: bbolt panics on damaged pages, and a page number outside the file
// causes a fault.
func (a *Archive) guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = a.damage("%v", p)
		}
	}()
	return fn()
}

// close closes the file and releases the lock.
func (s *store) close() {
	if s.db != nil && !s.broken { // the mapping of a broken one cannot be undone
		_ = s.a.guard(s.db.Close) // release closes the file in any case
	}
	s.lock.release()
}

// isFull reports whether err means that a disk or a quota is full.
func isFull(err error) bool {
	const diskFull, handleDiskFull = syscall.Errno(112), syscall.Errno(39) // Windows has numbers of its own
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || runtime.GOOS == "windows" && (errors.Is(err, diskFull) || errors.Is(err, handleDiskFull))
}

// wrapFull makes errors about a full disk or archive wrap ErrFull.
func wrapFull(err error) error {
	if err == nil || errors.Is(err, ErrFull) {
		return err
	}
	if isFull(err) || errors.Is(err, berrors.ErrMaxSizeReached) || strings.Contains(err.Error(), "no space left") {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

func (a *Archive) damage(format string, args ...any) *DamageError {
	return &DamageError{Path: a.path, Err: fmt.Errorf(format, args...)}
}
