// Package archive stores every byte of every transcript in one bbolt file, permanently, and returns it exactly.
//
// Its invariant: what Append acknowledged is durable, and what the package returns has the hash of what was stored.
// Anything else is a DamageError or another error, never wrong bytes and never a crash. The file is locked for one bounded
// transaction at a time. The package does not know about companions, watching or what lines mean.
//
// A generation of a session is one life of its file. Its record lists its blocks: frames of up to 2 MB, cut by content (see cutter)
// and stored once however often they occur, and pieces after the last frame. bbolt has no checksums: every value is an entry,
// which a scan of the file finds and checks by itself (see entry.go). Rebuild and Import make a new file from the intact ones of a
// scan; Forget and Compact make one from those of the tree, without what is removed. All four use one rebuilder.
//
// The way in: Append, or Save for many sessions in one transaction, compares the stored tip with the start of the new bytes, replaces
// in them what was forgotten, and cuts, hashes and compresses them without the lock (plan). Under the lock plan.commit writes
// the new blocks and the longer list. It returns after the fsync. Publish then stores where each ID of a companion is.
//
// The way back: Lookup finds the place of an ID: session, generation, offset and length. A Reader of that generation loads its list,
// gets the blocks of the place, checks the hash of each entry, and decompresses them (unpack). Raw reads all of an original
// and compares its hash with the ID before it yields the first byte. Segments reads a generation and compares its hash.
package archive

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Options configure an archive.
type Options struct {
	ReadOnly bool  // every write fails, nothing is created
	MinFree  int64 // bytes that must stay free on the archive's file system; 0: no limit
	MaxSize  int64 // maximum size of the archive file (bbolt grows it in steps of 16 MB); 0: no limit
}

// Errors wrapped by the errors of this package.
var (
	ErrTip      = errors.New("segment does not start at the stored tip")
	ErrStale    = errors.New("session has changed since it was folded")
	ErrNotFound = errors.New("not in the archive")
	ErrFull     = errors.New("no space for the archive")
	ErrNewer    = errors.New("archive was written by another version of ccd")
	ErrReadOnly = errors.New("archive is open read-only")
	ErrMissing  = errors.New("no block") // the cause of a DamageError for bytes that were lost
)

// DamageError is returned if stored bytes differ from what was written. Fields that do not apply are zero.
type DamageError struct {
	Path       string // of the archive file
	Session    transcript.Key
	Generation int
	Offset     int64   // in the generation
	ID         mark.ID // of the affected original
	Err        error   // the cause
}

// Error includes the place and the cause.
func (e *DamageError) Error() string {
	return fmt.Sprintf("read archive %s: damaged: %v", strings.Join(append([]string{e.Path}, e.place()...), ", "), e.Err)
}

// Brief returns the place without the archive's path, and the cause, for a list of damage.
func (e *DamageError) Brief() string {
	if place := e.place(); len(place) > 0 {
		return fmt.Sprintf("%s: %v", strings.Join(place, ", "), e.Err)
	}
	return e.Err.Error()
}

func (e *DamageError) place() (parts []string) {
	if e.Session != (transcript.Key{}) {
		parts = append(parts, fmt.Sprintf("session %s %s, generation %d, offset %d", e.Session.Agent, e.Session.ID, e.Generation, e.Offset))
	}
	if e.ID != "" {
		parts = append(parts, fmt.Sprintf("id %s", e.ID))
	}
	return parts
}

// Unwrap returns the cause.
func (e *DamageError) Unwrap() error { return e.Err }

// Hint returns what to do about it.
func (e *DamageError) Hint() string { return "ccd doctor --fix" }

// Missing reports whether bytes or a session are gone, without a trace that could still be read: Rebuild finds no more of it.
func (e *DamageError) Missing() bool {
	return errors.Is(e.Err, ErrMissing) || errors.Is(e.Err, ErrNotFound)
}

// Damages returns the errors joined in err, or err alone; none for nil.
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

// Progress is called with what is done and the total. It may be nil.
type Progress func(done, total int64)

// part returns the progress of a step that takes these thousandths of the whole.
func (p Progress) part(from, to int64) Progress {
	return func(done, total int64) {
		if p != nil {
			p(from+(to-from)*done/max(1, total), 1000)
		}
	}
}

// Generation describes one archived life of a session's file.
type Generation struct {
	N   int
	Tip transcript.Cursor // end of the archived bytes
	Sum mark.Hash         // SHA-256 of all bytes up to Tip
}

// Session describes an archived session.
type Session struct {
	transcript.Session
	Generations []Generation // in order; the last one is the current one
	State       []byte       // opaque bytes stored by the caller
	StateDamage error        // a DamageError if State is nil because the stored bytes are damaged
}

// Tip returns the cursor after the last archived byte, or the zero Cursor if there is none.
func (s Session) Tip() transcript.Cursor {
	if len(s.Generations) == 0 {
		return transcript.Cursor{}
	}
	return s.Generations[len(s.Generations)-1].Tip
}

// Archive is an archive file. Between calls it keeps neither a lock nor the file open.
// It is safe for concurrent use by goroutines and processes.
type Archive struct {
	path     string
	o        Options
	codec    *codec
	gaveUp   atomic.Pointer[time.Time]   // when a wait for the lock last timed out
	lastFile atomic.Pointer[os.FileInfo] // as FileReplaced last saw it
	known    atomic.Pointer[tombs]       // as last read
	held     *store                      // that all calls use, for a caller that keeps it open; usually nil

	unchecked bool // for tests: skip hashes when reading
}

// Open returns the archive at path. The first write creates the file if it does not exist (directories with mode 0700,
// files with 0600), and a lock file beside it.
func Open(path string, o Options) (*Archive, error) {
	if path == "" {
		return nil, errors.New("open archive: no path")
	}
	return &Archive{path: path, o: o, codec: newCodec()}, nil
}
