package watcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Found is a file that a scan found.
type Found struct {
	Path    string
	Root    Root
	Size    int64 // bytes
	ModTime time.Time
	Links   int // names that the file has: backup programs make hard links
}

// Scan looks once through all roots and returns what Options.Match accepts, newest first. The errors tell of roots
// and directories that could not be read (a root that does not exist is none), and, wrapping ErrIrregular, of what has
// a transcript's name and is no regular file, and, wrapping ErrOwner or ErrName, of files of other users and of names
// with control characters; the rest is found all the same.
func Scan(ctx context.Context, o Options) ([]Found, []error) {
	o = o.complete()
	var found []Found
	var errs []error
	w := newWalk(&o)
	w.file = func(root int, dir, name string, info fs.FileInfo) {
		found = append(found, Found{filepath.Join(dir, name), o.Roots[root], info.Size(), info.ModTime(), links(info)})
	}
	w.skip = func(_ int, dir, name string) {
		errs = append(errs, fmt.Errorf("skip %q: %w", filepath.Join(dir, name), skipped{}))
	}
	w.refuse = func(_ int, file string, err error) { errs = append(errs, fmt.Errorf("read %q: %w", file, err)) }
	w.fail = func(_ int, dir string, err error) { errs = append(errs, fmt.Errorf("scan %s: %w", dir, cause(err))) }
	for i, err := range w.resolve() {
		switch {
		case err == nil:
			w.tree(ctx, i, o.Roots[i].Path)
		case !absent(err) && !errors.Is(err, errTwice):
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

// skipped is why a scan passes over what has a transcript's name.
type skipped struct{}

func (skipped) Error() string { return "not a regular file" }

// Is makes it an ErrIrregular.
func (skipped) Is(err error) bool { return err == ErrIrregular }

// cause strips what an error says of the path: the caller names it.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// absent reports whether err says for certain that the file is not there.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotADirectory)
}
