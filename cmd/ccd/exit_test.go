package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"ccd/archive"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/words"
)

// TestLongError: an error that quotes a long argument is cut in its middle.
func TestLongError(t *testing.T) {
	var b bytes.Buffer
	cli.Report(&b, fmt.Errorf("tag %q: too long", strings.Repeat("x", 5000)), false)
	if b.Len() > 2000 || !strings.HasPrefix(b.String(), `ccd: tag "xxx`) || !strings.HasSuffix(b.String(), "xxx\": too long\n") {
		t.Errorf("%d bytes: %.80s", b.Len(), b.String())
	}
}

func TestExitCode(t *testing.T) {
	wrap := func(err error) error { return words.Hint(fmt.Errorf("do this: %w", err), "ccd that") }
	tests := []struct {
		name string
		err  error
		code int
		says string
	}{
		{"done", nil, 0, ""},
		{"failed", wrap(fs.ErrPermission), 1, "ccd: do this: permission denied\nhint: ccd that\n"},
		{"usage", wrap(words.Usage(errors.New("no such flag"))), 2, "ccd: do this: no such flag\nhint: ccd that\n"},
		{"not found", wrap(archive.ErrNotFound), 3, "ccd: do this: not found\nhint: ccd that\n"},
		{"not in the archive", fmt.Errorf("read: %w", archive.ErrNotFound), 3, "ccd: read: not found\n"},
		{
			"ambiguous", &reader.AmbiguousError{What: "id ab", Matches: []string{"one", "two"}}, 3,
			"ccd: find id ab: ambiguous, 2 matches\n  one\n  two\n",
		},
		{
			"damage", wrap(&archive.DamageError{Path: "/a", Err: errors.New("hash mismatch")}), 4,
			"ccd: do this: read archive /a: damaged: hash mismatch\nhint: ccd that\n",
		},
		{"damage, listed", cli.ErrDamaged, 4, ""},
		{"failed, told", cli.ErrSaid, 1, ""},
		{"interrupted", wrap(cli.ErrInterrupted), 130, ""},
		{"canceled", fmt.Errorf("read: %w", context.Canceled), 130, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			cli.Report(&b, tt.err, false)
			if got := cli.ExitCode(tt.err); got != tt.code || b.String() != tt.says {
				t.Errorf("exit code %d saying %q, want %d saying %q", got, b.String(), tt.code, tt.says)
			}
		})
	}
}
