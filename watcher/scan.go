package watcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Found is a transcript found by Scan.
type Found struct {
	Path    string
	Root    Root
	Size    int64 // bytes
	ModTime time.Time
}

// Scan walks all roots once and returns the files that Options.Match accepts, newest first. The errors are about roots
// and directories that cannot be read (a missing root is not an error), irregular files (ErrIrregular), files of other
// users (ErrOwner), links to directories elsewhere (ErrLink) and names with control characters (ErrName). The other files
// are returned nevertheless.
func Scan(ctx context.Context, o Options) ([]Found, []error) {
	o = o.complete()
	var found []Found
	var errs []error
	o.Log = slog.New(slog.DiscardHandler) // Scan returns the errors
	t := newTree(&o)
	t.onFile = func(d *dir, name string, info fs.FileInfo, _ bool) {
		found = append(found, Found{filepath.Join(d.path, name), o.Roots[d.root], info.Size(), info.ModTime()})
	}
	t.onSkip = func(err error) { errs = append(errs, err) }
	for i, err := range t.resolve() {
		switch {
		case err == nil:
			t.scan(ctx, i, o.Roots[i].Path, true)
		case !NotExist(err) && !errors.Is(err, errDuplicateRoot):
			errs = append(errs, fmt.Errorf("scan %s: %w", o.Roots[i].Path, cause(err)))
		}
	}
	if err := ctx.Err(); err != nil {
		errs = append(errs, fmt.Errorf("scan: %w", err))
	}
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), strings.Compare(a.Path, b.Path))
	})
	return found, errs
}

// cause removes the path from an error: the caller adds it.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// NotExist reports whether err means that the file certainly does not exist.
func NotExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
