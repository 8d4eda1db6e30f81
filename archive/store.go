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

// patience bounds the wait for bbolt's own lock, which only programs that know nothing of archive.lock make us do.
const patience = 10 * time.Second

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
	file   *os.File // db's own
	lock   lock
	write  bool
	stats  bool // db counts free pages
	info   os.FileInfo
	schema int  // of the file
	broken bool // a panic left db in a state that cannot be closed in order
}

// view runs fn in one read transaction. Where there is no archive yet it returns errAbsent.
func (a *Archive) view(ctx context.Context, fn func(tx *bolt.Tx) error) error {
	return a.viewStore(ctx, func(_ *store, tx *bolt.Tx) error { return fn(tx) })
}

// viewStore is view that shows the open file too.
func (a *Archive) viewStore(ctx context.Context, fn func(s *store, tx *bolt.Tx) error) error {
	l, err := lockShared(ctx, a.path)
	if err != nil {
		return fmt.Errorf("lock archive: %w", err)
	}
	s, err := a.open(l, false)
	if err != nil {
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
	l, err := lockExclusive(ctx, a.path, &a.polite)
	if err != nil {
		return nil, fmt.Errorf("lock archive: %w", err)
	}
	if err := a.create(); err != nil {
		l.release()
		return nil, full(fmt.Errorf("create archive: %w", err))
	}
	s, err := a.open(l, true)
	if err == nil && s.schema < newest { // Upgrade keeps a copy first, which takes longer than a write may
		s.close()
		err = &SchemaError{Path: a.path, Found: s.schema, Known: newest}
	}
	if err != nil {
		return nil, err
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

// open opens the file under l, which it takes over: on an error l is released.
func (a *Archive) open(l lock, write bool) (*store, error) {
	s := &store{a: a, lock: l, write: write}
	if err := s.open(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *store) open() (err error) {
	s.info, err = s.a.stat()
	s.a.see(s.info, err)
	if err != nil {
		return err
	}
	if s.info.Size() == 0 { // bbolt would make a database of it
		return s.a.damage("the file is empty; if it never held anything, remove it")
	}
	if err := s.a.preflight(s.info); err != nil {
		return err
	}
	err = s.guard(func() error {
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
		return fmt.Errorf("open archive: another program holds %s: %w", a.path, err)
	}
	return fmt.Errorf("open archive: %w", err)
}

func (s *store) options() *bolt.Options {
	return &bolt.Options{
		Timeout:      patience,
		ReadOnly:     !s.write,
		FreelistType: bolt.FreelistMapType,
		MaxSize:      int(s.a.o.MaxSize),
		NoStatistics: !s.stats,

		PreLoadFreelist: s.stats,
		OpenFile: func(name string, flag int, perm os.FileMode) (*os.File, error) {
			// bbolt creates what it does not find; an archive vanishing here must not become an empty one.
			f, err := os.OpenFile(name, flag&^os.O_CREATE, perm)
			s.file = f
			return f, err
		},
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
	db, err := bolt.Open(tmp, 0o600, &bolt.Options{Timeout: patience, FreelistType: bolt.FreelistMapType})
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
				s.a.condemn(s.info, err)
			}
		}
	}()
	return fn()
}

// close closes the file and lets go of the lock.
func (s *store) close() {
	switch {
	case s.broken && s.file != nil:
		s.file.Close() // its mapping stays behind: see condemn
	case s.db != nil && !s.broken:
		if s.guard(s.db.Close) != nil {
			s.file.Close()
		}
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
