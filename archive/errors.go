package archive

import (
	"errors"
	"fmt"
	"strings"

	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// Errors wrapped by the errors of this package.
var (
	ErrStale    = errors.New("session has changed since it was read")
	ErrNotFound = errors.New("not found")
	ErrFull     = errors.New("no space for the archive")
	ErrNewer    = errors.New("archive was written by another version of ccd")
	ErrReadOnly = errors.New("archive is open read-only")
	ErrMissing  = errors.New("bytes are lost") // the cause of a DamageError for bytes that were lost
)

// DamageError is returned if stored bytes differ from what was written. Fields that do not apply are zero.
type DamageError struct {
	Path       string // of the archive file
	Session    transcript.Key
	Generation int
	Offset     int64   // in the generation
	ID         mark.ID // of the affected original
	Err        error   // the cause

	closed bool // the file cannot be opened as an archive at all
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
func (e *DamageError) Hint() string {
	if e.closed { // perhaps a scan finds nothing of an archive in it
		return "ccd doctor --fix; if that fails, " + another(e.Path)
	}
	return "ccd doctor --fix"
}

// another says how to get an archive in the place of a file that is none. The name is one of those that forget overwrites.
func another(path string) string {
	return fmt.Sprintf("mv %s %s, then ccd archive import BACKUP or ccd run --once", words.Shell(path), words.Shell(path+asideSuffix+"1"))
}

// Missing reports whether bytes or a session are gone, without a trace that could still be read: Repair finds no more of it.
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

// wrap says what an error of a function kept from being done.
func wrap(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf(format+": %w", append(args, *err)...)
	}
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
