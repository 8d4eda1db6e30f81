package archive

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Copy describes a backup whose hashes were all verified. Damage is what is missing in the archive too.
type Copy struct {
	Report
	File string        // path
	ID   string        // of the archive and of the copy
	Size int64         // of the file in bytes
	Sum  mark.Hash     // SHA-256 of the file
	Held time.Duration // longest time that writers had to wait for one read
}

// ErrOverwrite is wrapped if a backup may not replace an existing file.
var ErrOverwrite = errors.New("file exists")

// Backup writes a copy of the archive to file while others use the archive: it holds the lock for a few milliseconds at
// a time. The copy has the same schema and ID. Each session in it is as it was at some moment during the call, and all
// IDs in it resolve. The copy is verified before it gets its name, so file is always either the old file or a good
// backup. Of a damaged archive there is none before Rebuild; what that could not bring back is missing in the copy too, Damage
// lists it, and the copy replaces no file without force.
//
// An existing file is replaced only if it is an earlier backup of this archive, or with force, but never if the archive
// itself uses it. Backup fails with ErrNotFound if there is no archive yet. progress, if not nil, is called with
// thousandths.
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
		err = t.checkReplaceable(ctx, force)
	}
	if err == nil {
		err = t.checkSpace(ctx)
	}
	if err == nil { // damage may hide entries, and the copy would be sound without them
		err = a.CheckIndex(ctx)
	}
	if err != nil {
		return c, err
	}
	tmp := filepath.Join(filepath.Dir(t.path), tempName())
	defer os.Remove(tmp) // fails after the rename
	held, err := a.copyInto(ctx, tmp, func(done, total int64) { progress(500*min(done, total)/max(1, total), 1000) })
	if err == nil {
		c, err = a.readBack(ctx, tmp, func(done, total int64) { progress(500+500*done/max(1, total), 1000) })
	}
	if err == nil {
		err = t.checkReplaceable(ctx, force) // check again: copying took time
	}
	if _, absent := os.Lstat(t.path); err == nil && len(c.Damage) > 0 && absent == nil && !force {
		err = c.Damage[0] // the earlier backup may have more
	}
	if err == nil {
		err = os.Rename(tmp, t.path)
	}
	if err != nil {
		return Copy{}, err
	}
	c.File, c.Held = t.path, held
	return c, syncDir(filepath.Dir(t.path))
}

// tempName returns a name for a temporary file as all of ccd uses it, so that leftovers of a crash are recognized.
func tempName() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return ".ccd-" + hex.EncodeToString(b[:]) + ".tmp"
}

// readBack verifies the whole copy at path.
func (a *Archive) readBack(ctx context.Context, path string, progress func(done, total int64)) (c Copy, err error) {
	b := &Archive{path: path, o: Options{ReadOnly: true}, codec: a.codec}
	if c.Report, err = b.Verify(ctx, progress); err != nil {
		return c, err
	}
	for _, d := range c.Damage { // damage is copied too
		_, err := a.Reader(d.Session, d.Generation).Span(ctx, transcript.Span{Off: d.Offset, Len: 1})
		if d.Path = a.path; err == nil || !d.Missing() {
			return c, fmt.Errorf("%d places are damaged: %w", len(c.Damage), d)
		}
	}
	return c, c.measure(ctx, path)
}

// measure reads the ID, the hash and the size of the copy at path.
func (c *Copy) measure(ctx context.Context, path string) error {
	b, err := Open(path, Options{ReadOnly: true})
	if err == nil {
		c.ID, err = b.ID(ctx)
	}
	if err == nil {
		c.Sum, err = hashFile(path)
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err == nil {
		c.Size = info.Size()
	}
	return err
}

func hashFile(path string) (sum mark.Hash, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return mark.Hash(h.Sum(nil)), err
}

// target is the destination of a backup.
type target struct {
	a    *Archive
	path string // without symlinks
}

// target resolves file, and refuses the archive's own files.
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
	switch {
	case t.path == own || sameFile(t.path, own):
		return t, errors.New("it is the archive itself")
	case t.path == lockPath(own) || lockPath(t.path) == lockPath(own) || t.path == own+".tmp":
		return t, errors.New("the archive uses this name for its own files")
	}
	return t, nil
}

// resolve follows symlinks, including file itself.
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

// checkReplaceable fails if the file exists and the backup may not replace it.
func (t target) checkReplaceable(ctx context.Context, force bool) error {
	info, err := os.Lstat(t.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("not a regular file")
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
	if theirs, err := there.ID(ctx); err != nil || theirs != ours {
		return fmt.Errorf("%w and is not a backup of this archive", ErrOverwrite)
	}
	return t.a.containsAll(ctx, there)
}

// containsAll fails if an earlier backup has bytes that this archive lacks, for example after an older backup was put
// back.
func (a *Archive) containsAll(ctx context.Context, earlier *Archive) error {
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
			return fmt.Errorf("%w and contains more of session %s than this archive", ErrOverwrite, s.ID)
		}
		for i, g := range s.Generations {
			if ours.Generations[i].Tip.Offset < g.Tip.Offset {
				return fmt.Errorf("%w and contains more of session %s than this archive", ErrOverwrite, s.ID)
			}
		}
	}
	return nil
}

// checkSpace fails if the copy will not fit.
func (t target) checkSpace(ctx context.Context) error {
	z, err := t.a.Size(ctx)
	if err != nil {
		return err
	}
	dir := filepath.Dir(t.path)
	free, err := freeSpace(dir)
	if need := z.File - z.Free; err == nil && free > 0 && free < need { // free is 0 if the file system does not report it
		return fmt.Errorf("%d bytes are free in %s, about %d are needed", free, dir, need)
	}
	return nil
}
