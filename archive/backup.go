package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/atomicfile"
	"ccd/internal/ownfile"
)

// Copy describes a backup whose hashes were all verified. Damage is what is missing in the archive too.
type Copy struct {
	Report
	File string // path
	ID   string // of the archive and of the copy
	Size int64  // of the file in bytes
}

// ErrOverwrite is wrapped if a backup may not replace an existing file.
var ErrOverwrite = errors.New("file exists")

// Backup copies the archive's file while others read it; writers wait. The copy is verified before it gets its name, so file is
// always either the old file or a good backup. Of a damaged archive there is none before Repair; what that could not bring back
// is missing in the copy too, and Damage lists it. An existing file is replaced only with force, but never one of the archive's
// own. Backup fails with ErrNotFound if there is no archive yet. progress, if not nil, is called with thousandths.
func (a *Archive) Backup(ctx context.Context, file string, force bool, progress Progress) (c Copy, err error) {
	defer wrap(&err, "back up archive to %s", file)
	if c.File, err = a.target(file, force); err != nil {
		return c, err
	}
	_ = atomicfile.Clean(filepath.Dir(c.File)) // what a killed backup has left: to keep it is no reason for none
	p, err := atomicfile.Create(c.File, 0o600)
	if err != nil {
		return c, err
	}
	defer p.Discard()
	if err = a.copyTo(ctx, p, progress.part(0, 500)); err != nil {
		return c, err
	}
	b := &Archive{path: p.Temp(), o: Options{ReadOnly: true}, codec: a.codec}
	if c.Report, err = b.Verify(ctx, progress.part(500, 1000)); err != nil {
		return c, err
	}
	for _, d := range c.Damage {
		if d.Path = a.path; !d.Missing() {
			return c, fmt.Errorf("%d places are damaged: %w", len(c.Damage), d)
		}
	}
	if c.ID, err = b.ID(ctx); err != nil {
		return c, err
	}
	info, err := p.Stat()
	if err != nil {
		return c, err
	}
	c.Size = info.Size()
	return c, p.Commit()
}

// copyTo copies the archive's file.
func (a *Archive) copyTo(ctx context.Context, p *atomicfile.Pending, progress Progress) error {
	if err := a.view(ctx, func(*bolt.Tx) error { return nil }); err != nil { // it is an archive of this schema
		return err
	}
	l, err := a.lock(ctx, false, nil)
	if err != nil {
		return err
	}
	defer l.release()
	return l.copyTo(ctx, p, progress)
}

// copyTo copies the locked file.
func (l lock) copyTo(ctx context.Context, p *atomicfile.Pending, progress Progress) error {
	size, dir := l.info.Size(), filepath.Dir(p.Temp())
	free, err := ownfile.Free(dir)
	if err == nil && free > 0 && free < size { // free is 0 if the file system does not report it
		return fmt.Errorf("%d bytes are free in %s, %d are needed", free, dir, size)
	}
	for done := int64(0); done < size; progress(done, size) {
		n, err := io.Copy(p, io.NewSectionReader(l.data, done, min(scanStep, size-done)))
		if done += n; cmp.Or(err, ctx.Err()) != nil {
			return cmp.Or(err, ctx.Err())
		}
	}
	return p.Seal()
}

// target returns the absolute path of a backup. It refuses the archive's own files, what is no regular file and, without force, a file
// that exists.
func (a *Archive) target(file string, force bool) (string, error) {
	if _, err := a.stat(); errors.Is(err, errAbsent) {
		return "", fmt.Errorf("%w at %s", err, a.path)
	}
	own, err := filepath.EvalSymlinks(a.path)
	if err != nil {
		return "", err
	}
	if file, err = filepath.Abs(file); err != nil {
		return "", err
	}
	beside := filepath.Join(filepath.Dir(own), filepath.Base(file)) // the same file, if it is in the archive's directory
	info, missing := os.Lstat(file)
	switch _, err := os.Stat(filepath.Dir(file)); {
	case err != nil:
		return "", err
	case ownfile.Same(file, own):
		return "", errors.New("it is the archive itself")
	case ownfile.Same(filepath.Dir(file), filepath.Dir(own)) && (lockPath(beside) == lockPath(own) || slices.Contains(ownPaths(own), beside)):
		return "", errors.New("the archive uses this name for its own files")
	case missing == nil && !info.Mode().IsRegular():
		return "", errors.New("not a regular file")
	case missing == nil && !force:
		return "", ErrOverwrite
	}
	return file, nil
}
