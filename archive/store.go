package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

var (
	bucketMeta        = []byte("meta")        // "schema" -> version, "id" -> 16 random bytes
	bucketSessions    = []byte("sessions")    // agent, 0, id -> sessionRecord
	bucketGenerations = []byte("generations") // stream -> generationRecord
	bucketState       = []byte("state")       // agent, 0, id -> the caller's bytes
	bucketManifest    = []byte("manifest")    // stream, offset -> block
	bucketFrames      = []byte("frames")      // id, chunk -> up to chunkSize bytes of a frame
	bucketTail        = []byte("tail")        // id, chunk -> the same of a tail piece
	bucketHash        = []byte("hash")        // SHA-256 of a frame's raw bytes -> its id
	bucketIDs         = []byte("ids")         // hash, shape -> pointerRecord
	bucketSummaries   = []byte("summaries")   // hash of an input -> Summary
	keySchema         = []byte("schema")
	keyID             = []byte("id")
)

var errAbsent = errors.New("there is no archive yet")

// store is the archive file, open and locked for one operation.
type store struct {
	a      *Archive
	db     *bolt.DB
	lock   lock
	write  bool
	stats  bool // db counts free pages
	schema int  // of the file
	broken bool // a panic left db in a state that cannot be closed in order
}

// view runs fn in one read transaction. Where there is no archive yet it returns errAbsent.
func (a *Archive) view(ctx context.Context, fn func(tx *bolt.Tx) error) error {
	return a.viewStore(ctx, func(_ *store, tx *bolt.Tx) error { return fn(tx) })
}

// viewStore is view that shows the open file too.
func (a *Archive) viewStore(ctx context.Context, fn func(s *store, tx *bolt.Tx) error) error {
	s := &store{a: a}
	if err := s.open(ctx, nil); err != nil {
		return err
	}
	defer s.close()
	return s.view(func(tx *bolt.Tx) error { return fn(s, tx) })
}

// update runs fn in one write transaction; it is durable at return.
func (a *Archive) update(ctx context.Context, need int64, fn func(tx *bolt.Tx) error) error {
	s, err := a.openWrite(ctx, need)
	if err != nil {
		return err
	}
	defer s.close()
	return s.update(fn)
}

// openWrite returns the store locked exclusively, made if need be. need is the bytes that are about to be written.
func (a *Archive) openWrite(ctx context.Context, need int64) (*store, error) {
	if a.o.ReadOnly {
		return nil, ErrReadOnly
	}
	dir := filepath.Dir(a.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make archive directory: %w", err)
	}
	if err := a.space(dir, need); err != nil {
		return nil, err
	}
	s := &store{a: a, write: true}
	if err := s.open(ctx, a.create); err != nil {
		return nil, err
	}
	if s.schema < newest { // Upgrade keeps a copy first, which takes longer than a write may
		s.close()
		return nil, &SchemaError{Path: a.path, Found: s.schema, Known: newest}
	}
	return s, nil
}

// space fails where writing need bytes would leave less than MinFree.
func (a *Archive) space(dir string, need int64) error {
	if a.o.MinFree <= 0 {
		return nil
	}
	free, err := freeSpace(dir)
	if err != nil {
		return fmt.Errorf("ask for free space: %w", err)
	}
	if free-need < a.o.MinFree {
		return fmt.Errorf("%w: %d bytes free on its file system, %d to write, %d must stay free", ErrFull, free, need, a.o.MinFree)
	}
	return nil
}

// open locks and opens the file, which a writer makes first by create. On an error nothing is left open.
func (s *store) open(ctx context.Context, create func() error) (err error) {
	if s.lock, err = s.a.lock(ctx, s.write, create); err != nil {
		return err
	}
	if err = s.openLocked(); err != nil {
		s.close()
	}
	return err
}

func (s *store) openLocked() error {
	if s.lock.info.Size() == 0 { // bbolt would make a database of it
		return s.a.damage("the file is empty; if it never held anything, remove it")
	}
	if err := s.a.preflight(s.lock.data, s.lock.info); err != nil {
		return err
	}
	err := s.guard(func() error {
		s.broken = true // a panic inside bolt.Open leaves nothing to close but the file
		db, err := bolt.Open(s.a.path, 0o600, s.options())
		s.db, s.broken = db, false
		return err
	})
	if err != nil {
		return s.a.openError(err)
	}
	return s.view(s.checkSchema)
}

// stat returns errAbsent only where nothing stands at the archive's path. A link that leads nowhere tells of an archive
// on a disk that is not there now: it is neither absent nor to be replaced by an empty one.
func (a *Archive) stat() (os.FileInfo, error) {
	info, err := os.Stat(a.path)
	if !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			err = fmt.Errorf("open archive: %w", err)
		}
		return info, err
	}
	if _, linked := os.Lstat(a.path); errors.Is(linked, fs.ErrNotExist) {
		return nil, errAbsent
	}
	to, err := os.Readlink(a.path)
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	return nil, fmt.Errorf("open archive: %s is a link to %s, which is not there: is its disk mounted?", a.path, to)
}

// see remembers the file as it stands at the archive's path, and whether it is another one than before. A file of the
// same number that is shorter is another one: an archive never shrinks.
func (a *Archive) see(now os.FileInfo, err error) {
	if err != nil && !errors.Is(err, errAbsent) {
		return // it cannot be told
	}
	before := a.used.Load()
	if before != nil && (err != nil || !os.SameFile(*before, now) || now.Size() < (*before).Size()) {
		a.moved.Store(true)
	}
	if a.used.Store(nil); err == nil {
		a.used.Store(&now)
	}
}

// Moved reports whether another file, or none, stands where the one stood that this Archive read or wrote before. What
// a caller remembers to be archived is not, then. It tells once.
func (a *Archive) Moved() bool {
	a.see(a.stat())
	return a.moved.Swap(false)
}

// openError gives bbolt's errors our names.
func (a *Archive) openError(err error) error {
	switch {
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch):
		return &DamageError{Path: a.path, Err: err}
	case errors.Is(err, berrors.ErrTimeout):
		return a.lockedError(time.Now().Add(-turn))
	}
	return fmt.Errorf("open archive: %w", err)
}

func (s *store) options() *bolt.Options {
	return &bolt.Options{
		Timeout:      turn, // where lockData does not lock
		ReadOnly:     !s.write,
		FreelistType: bolt.FreelistMapType,
		MaxSize:      int(s.a.o.MaxSize),
		NoStatistics: !s.stats,

		PreLoadFreelist: s.stats,
		OpenFile:        func(string, int, os.FileMode) (*os.File, error) { return s.lock.data, nil },
	}
}

// create makes an empty archive where there is none: whole, then renamed into place, since the first initialisation is bbolt's one
// weakness in a power cut. The caller holds the exclusive lock.
func (a *Archive) create() error {
	info, err := a.stat()
	a.see(info, err)
	if !errors.Is(err, errAbsent) {
		return err
	}
	tmp := a.path + ".tmp"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	defer os.Remove(tmp)
	db, err := bolt.Open(tmp, 0o600, &bolt.Options{Timeout: turn, FreelistType: bolt.FreelistMapType})
	if err != nil {
		return err
	}
	err = errors.Join(db.Update(initialise), db.Sync(), db.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, a.path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(a.path))
}

// view runs fn in a read transaction of the open store.
func (s *store) view(fn func(tx *bolt.Tx) error) error { return s.run(false, fn) }

// update runs fn in a write transaction of the open store and makes it durable.
func (s *store) update(fn func(tx *bolt.Tx) error) error { return full(s.run(true, fn)) }

func (s *store) run(write bool, fn func(tx *bolt.Tx) error) error {
	return s.guard(func() error {
		s.broken = true // Begin and Commit take locks that a panic would leave locked
		tx, err := s.db.Begin(write)
		if err != nil {
			s.broken = false
			return err
		}
		defer func() {
			_ = tx.Rollback() // an error after Commit: it is closed
			s.broken = false
		}()
		if err := fn(tx); err != nil || !write {
			return err
		}
		return tx.Commit()
	})
}

// guard runs fn so that a damaged page ends in a DamageError: bbolt panics on what it cannot read, and a page number
// beyond the file faults.
func (s *store) guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = s.a.damage("%v", p)
			if s.broken {
				s.a.condemn(s.lock.info, err)
			}
		}
	}()
	return fn()
}

// close closes the file and lets go of the lock.
func (s *store) close() {
	if s.db != nil && !s.broken { // of a broken one the mapping stays behind: see condemn
		_ = s.guard(s.db.Close) // what it leaves open is closed with the lock
	}
	if s.write {
		s.a.polite.left(s.lock)
	}
	s.lock.release()
}

// full gives the system's and bbolt's ways to say "full" our name.
func full(err error) error {
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
