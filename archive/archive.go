// Package archive keeps every byte of every transcript in one bbolt file, for ever, and gives it back exactly.
//
// Its invariant: what Append acknowledged is durable, and what it gives out hashes to what came in; anything else is a
// DamageError or a plain error, never wrong bytes and never a crash. It holds the file only for one bounded
// transaction at a time, under a lock that processes share as equals, so that nobody waits long for anybody.
// It knows nothing of companions, watching or what lines mean.
//
// # Layout
//
// A generation of a session is a stream of bytes. The bucket "manifest" maps (stream, offset) to a block: a frame of
// up to 2 MB, cut at line ends by content (see cutter) and stored once however often it occurs, or a piece of the tail
// that no cut has closed yet. Blocks are zstd frames in chunks of about 16 KB under sequential keys. Small records are
// sealed: eight bytes of SHA-256 over key and value, because bbolt has no checksum of data.
package archive

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Options of an archive.
type Options struct {
	ReadOnly bool  // every write fails; nothing is created
	MinFree  int64 // bytes that must stay free on the archive's file system, 0 for no limit
	MaxSize  int64 // bytes that the archive file may reach (bbolt grows it in steps of 16 MB), 0 for no limit
}

// What the archive's errors wrap.
var (
	ErrTip      = errors.New("segment does not start at the stored tip")
	ErrStale    = errors.New("session has changed since it was folded")
	ErrNotFound = errors.New("not in the archive")
	ErrFull     = errors.New("no space for the archive")
	ErrNewer    = errors.New("archive was written by a newer ccd")
	ErrOlder    = errors.New("archive was written by an older ccd and is not upgraded yet")
	ErrReadOnly = errors.New("archive is open read-only")
)

// DamageError tells that stored bytes are not what was stored. Fields that do not apply are zero.
type DamageError struct {
	Path       string // of the archive file
	Session    transcript.Key
	Generation int
	Offset     int64   // bytes, in the generation
	ID         mark.ID // of the original concerned
	Err        error   // what was seen
}

// Error names the place and the cause.
func (e *DamageError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "read archive %s", e.Path)
	if e.Session != (transcript.Key{}) {
		fmt.Fprintf(&b, ", session %s %s, generation %d, offset %d", e.Session.Agent, e.Session.ID, e.Generation, e.Offset)
	}
	if e.ID != "" {
		fmt.Fprintf(&b, ", id %s", e.ID)
	}
	fmt.Fprintf(&b, ": damaged: %v", e.Err)
	return b.String()
}

// Unwrap returns the cause.
func (e *DamageError) Unwrap() error { return e.Err }

// Damages returns the errors that were joined to err, or err alone; none for nil.
func Damages(err error) []error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		var flat []error
		for _, one := range all.Unwrap() {
			flat = append(flat, Damages(one)...)
		}
		return flat
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// Generation is what the archive holds of one life of a session's file.
type Generation struct {
	N   int
	Tip transcript.Cursor // how far it has been taken
	Sum mark.Hash         // SHA-256 of all its bytes up to Tip
}

// Session is what the archive holds of a session.
type Session struct {
	transcript.Session
	Generations []Generation // in order; the last one is the current one
	State       []byte       // the caller's own, as it was last stored
	StateDamage error        // a DamageError where State is nil because what was stored is damaged
}

// Tip returns the cursor behind the last byte archived; the zero Cursor where there is none.
func (s Session) Tip() transcript.Cursor {
	if len(s.Generations) == 0 {
		return transcript.Cursor{}
	}
	return s.Generations[len(s.Generations)-1].Tip
}

// Archive is one archive file. It holds no lock and no open file between calls, and is safe for concurrent use by
// goroutines and by processes.
type Archive struct {
	path   string
	o      Options
	enc    *zstd.Encoder
	dec    *zstd.Decoder
	polite politeness
	gaveUp atomic.Pointer[time.Time] // when a wait for the lock was last in vain
	known  atomic.Pointer[verdict]
	used   atomic.Pointer[os.FileInfo] // the file as it was last opened
	moved  atomic.Bool                 // another one, or none, was found since

	unchecked bool // tests only: what is read without the hashes
}

// Open returns the archive at path, which need not exist: it is made by the first write (directories 0700, files
// 0600). Beside path stand two lock files.
func Open(path string, o Options) (*Archive, error) {
	if path == "" {
		return nil, errors.New("open archive: no path")
	}
	enc, err := newEncoder()
	if err != nil {
		return nil, fmt.Errorf("open archive %s: %w", path, err)
	}
	dec, err := newDecoder()
	if err != nil {
		return nil, fmt.Errorf("open archive %s: %w", path, err)
	}
	return &Archive{path: path, o: o, enc: enc, dec: dec}, nil
}
