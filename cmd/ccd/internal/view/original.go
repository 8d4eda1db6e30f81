package view

import (
	"context"
	"io"

	"ccd/cmd/ccd/internal/reader"
)

// Restore returns an original by its ID, a prefix of one, or SESSION#N, and checks its hash now. The error is
// history.ErrNotFound if there is none, an *archive.DamageError if it is damaged.
func Restore(ctx context.Context, l *reader.Library, name string) (Original, error) {
	return Original{}, errStub
}

// Exact writes the original as the agent saw it, with its secrets: what `ccd restore` prints for a person.
func Exact(ctx context.Context, l *reader.Library, name string, w io.Writer) error { return errStub }

// Versions returns a file after each of its changes in a session and its sub-agents, the oldest first. Path is absolute, or
// the end of a path.
func Versions(ctx context.Context, l *reader.Library, e reader.Entry, path string) ([]Version, error) {
	return nil, errStub
}
