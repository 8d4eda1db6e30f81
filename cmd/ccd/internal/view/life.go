package view

import (
	"context"
	"errors"

	"ccd/archive"
	"ccd/cmd/ccd/internal/reader"
)

var errStub = errors.New("not built yet")

// Life is one generation of a session with the places of its turns. It is not safe for concurrent use.
type Life struct {
	Turns       []Turn
	Context     []Moment // bounded: if there are many, the highest of each stretch
	Compactions []Compaction
	Files       []FileLine // in the order of their last call, the newest first; at most 1,000
	MoreFiles   int
	Records     int
	Bytes       int64 // indexed so far
	Total       int64 // archived when it last grew
	Long        int   // records over 16 MB
}

// Open returns the life of a session before its first record. It reads nothing.
func Open(l *reader.Library, e reader.Entry, g archive.Generation) *Life { return &Life{} }

// Grow indexes what was archived since. It stops after about `most` bytes (0: no limit) so that a server can show what there
// is; more reports whether there is more to index.
func (l *Life) Grow(ctx context.Context, tip archive.Generation, most int64) (more bool, err error) {
	return false, errStub
}

// Page returns up to n entries from a record on, or with n < 0 up to -n entries that end with that record, and which records
// they cover. Texts are cut to textChars characters, outputs to outputChars.
func (l *Life) Page(ctx context.Context, record, n int) ([]Entry, Place, error) {
	return nil, Place{}, errStub
}

// TurnOf returns the index in Turns of the turn with a record.
func (l *Life) TurnOf(record int) int { return 0 }
