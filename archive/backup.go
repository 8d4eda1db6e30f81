package archive

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"ccd/internal/mark"
)

// Copy is a backup as it was read back: every hash in it is right.
type Copy struct {
	Report
	File string        // where it stands
	ID   string        // of the archive and of the copy; "" where the schema has none
	Size int64         // length of the file in bytes
	Sum  mark.Hash     // SHA-256 of the file
	Held time.Duration // for how long it kept writers from the archive at a time, at most
}

// ErrOverwrite is wrapped where a backup would replace a file that it may not.
var ErrOverwrite = errors.New("it would be overwritten")

// Backup writes an archive of its own to file, while others read and write this one: it holds the lock for some
// milliseconds at a time. The copy is of the same schema, and has the same ID; each session in it is as it was at some
// moment of the call, and all IDs in it resolve. It is read back whole before it gets its name, so that file is at any
// time what it was or a sound backup. A damaged archive has none (a DamageError).
//
// A file that stands there is replaced only if it is an earlier backup of this archive, or with force; never one that
// the archive itself uses. ErrNotFound where there is no archive yet. progress, if not nil, is told thousandths.
func (a *Archive) Backup(ctx context.Context, file string, force bool, progress func(done, total int64)) (Copy, error) {
	if progress == nil {
		progress = func(int64, int64) {}
	}
	c, err := a.backup(ctx, file, force, progress)
	if err != nil {
		return Copy{}, fmt.Errorf("back up archive to %s: %w", file, err)
	}
	return c, nil
}

func (a *Archive) backup(ctx context.Context, file string, force bool, progress func(done, total int64)) (c Copy, err error) {
	t, err := a.target(file)
	if err == nil {
		err = t.replaceable(ctx, force)
	}
	if err == nil {
		err = t.room(ctx)
	}
	if err != nil {
		return c, err
	}
	tmp := filepath.Join(filepath.Dir(t.path), tempName())
	defer func() {
		if err != nil {
			_ = os.Remove(tmp) // why it is of no use is told already
		}
	}()
	held, err := a.copyInto(ctx, tmp, func(done, total int64) { progress(500*min(done, total)/max(1, total), 1000) })
	if err == nil {
		c, err = a.readBack(ctx, tmp, func(done, total int64) { progress(500+500*done/max(1, total), 1000) })
	}
	if err == nil {
		err = t.replaceable(ctx, force) // again: it took its time
	}
	if err == nil {
		err = os.Rename(tmp, t.path)
	}
	if err != nil {
		return c, err
	}
	c.File, c.Held = t.path, held
	return c, syncDir(filepath.Dir(t.path))
}

// tempName is a name as all temporary files of ccd have it, so that what a crash leaves is known for what it is.
func tempName() string {
	var b [8]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return ".ccd-" + hex.EncodeToString(b[:]) + ".tmp"
}

// readBack verifies the copy at path, in whole.
func (a *Archive) readBack(ctx context.Context, path string, progress func(done, total int64)) (c Copy, err error) {
	b, err := Open(path, Options{ReadOnly: true})
	if err != nil {
		return c, err
	}
	if c.Report, err = b.Verify(ctx, progress); err != nil {
		return c, err
	}
	if n := len(c.Damage); n > 0 { // copied as it stood
		d := *c.Damage[0]
		d.Path = a.path
		return c, fmt.Errorf("%d places are damaged: %w", n, &d)
	}
	if c.ID, err = b.ID(ctx); err != nil {
		return c, err
	}
	if c.Sum, err = hashFile(ctx, path); err != nil {
		return c, err
	}
	info, err := os.Stat(path)
	if err == nil {
		c.Size = info.Size()
	}
	return c, err
}

// target is where a backup goes.
type target struct {
	a    *Archive
	path string // without links
}

// target finds out where file really is, and refuses what the archive itself uses.
func (a *Archive) target(file string) (t target, err error) {
	own, err := filepath.EvalSymlinks(a.path)
	if errors.Is(err, os.ErrNotExist) {
		return t, fmt.Errorf("%w: there is no archive yet at %s", ErrNotFound, a.path)
	}
	if err == nil {
		own, err = filepath.Abs(own)
	}
	if err != nil {
		return t, err
	}
	if t, err = a.resolve(file); err != nil {
		return t, err
	}
	lockPath, gatePath := lockPaths(own)
	theirLock, _ := lockPaths(t.path)
	switch {
	case t.path == own || sameFile(t.path, own):
		return t, errors.New("it is the archive itself")
	case t.path == lockPath || t.path == gatePath || theirLock == lockPath || t.path == own+".tmp" || schemaOf(own, t.path) > 0:
		return t, errors.New("the archive itself uses this name")
	}
	return t, nil
}

// resolve follows links, also one that file is.
func (a *Archive) resolve(file string) (t target, err error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return t, err
	}
	if _, err := os.Lstat(path); err == nil {
		path, err = filepath.EvalSymlinks(path)
		return target{a, path}, err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return target{a, filepath.Join(dir, filepath.Base(path))}, err
}

func sameFile(x, y string) bool {
	one, err := os.Stat(x)
	if err != nil {
		return false
	}
	other, err := os.Stat(y)
	return err == nil && os.SameFile(one, other)
}

// replaceable fails where something stands there that a backup may not replace.
func (t target) replaceable(ctx context.Context, force bool) error {
	info, err := os.Lstat(t.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("it is there, and not a regular file")
	case force:
		return nil
	}
	there, err := Open(t.path, Options{ReadOnly: true})
	if err != nil {
		return err
	}
	ours, err := t.a.ID(ctx)
	if err != nil {
		return err
	}
	if theirs, err := there.ID(ctx); err != nil || theirs == "" || theirs != ours {
		return fmt.Errorf("%w, and it is not a backup of this archive", ErrOverwrite)
	}
	return t.a.reaches(ctx, there)
}

// reaches fails where an earlier backup holds what this archive does not: where it was put back from an older one, say.
func (a *Archive) reaches(ctx context.Context, earlier *Archive) error {
	sessions, err := earlier.Sessions(ctx)
	if err != nil && !errors.As(err, new(*DamageError)) {
		return err
	}
	for _, s := range sessions {
		ours, err := a.Session(ctx, s.Key)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		if len(ours.Generations) < len(s.Generations) {
			return fmt.Errorf("%w: it holds more of session %s than this archive", ErrOverwrite, s.ID)
		}
		for i, g := range s.Generations {
			if ours.Generations[i].Tip.Offset < g.Tip.Offset {
				return fmt.Errorf("%w: it holds more of session %s than this archive", ErrOverwrite, s.ID)
			}
		}
	}
	return nil
}

// room fails where the copy will not fit.
func (t target) room(ctx context.Context) error {
	z, err := t.a.Size(ctx)
	if err != nil {
		return err
	}
	dir := filepath.Dir(t.path)
	free, err := freeSpace(dir)
	if need := z.File - z.Free; err == nil && free > 0 && free < need { // some file systems do not tell
		return fmt.Errorf("%d bytes are free in %s, about %d are needed", free, dir, need)
	}
	return nil
}
