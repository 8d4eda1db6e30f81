package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Pending is a written file that is not in its place yet. It ends with Commit, CommitNew or Discard. It is not safe for
// concurrent use.
type Pending struct {
	path, base, temp string
	dir              *os.Root // kept open, so that the directory cannot be replaced between the steps
	file             *os.File // nil once sealed
	try              func(step string) error
}

// Prepare writes data durably to a temporary file beside path, so that only the rename of Commit is left. Permissions
// are as in Write. It fails as Create does, and if the disk is full.
func Prepare(path string, perm fs.FileMode, data []byte) (*Pending, error) {
	p, err := Create(path, perm)
	if err != nil {
		return nil, err
	}
	if _, err := p.Write(data); err != nil {
		p.Discard()
		return nil, err
	}
	if err := p.Seal(); err != nil {
		return nil, err
	}
	return p, nil
}

// Create starts a replacement of path that is written in pieces. Permissions are as in Write.
// It fails with ErrIrregular if something else than a file is there.
func Create(path string, perm fs.FileMode) (*Pending, error) {
	return create(path, perm, func(string) error { return nil })
}

// create calls try before each step with its name, so that tests can make it fail.
func create(path string, perm fs.FileMode, try func(step string) error) (*Pending, error) {
	dir, base, err := split(path)
	if err != nil {
		return nil, fmt.Errorf("write file: %w", err)
	}
	p := &Pending{path: path, base: base, temp: tempName(), try: try}
	if p.dir, err = os.OpenRoot(dir); err != nil {
		return nil, p.fail(err)
	}
	old, err := p.target()
	if err != nil {
		return nil, errors.Join(p.fail(err), p.dir.Close())
	}
	if old != nil {
		perm &= old.Mode()
	}
	if err = try("create"); err == nil {
		p.file, err = p.dir.OpenFile(p.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm.Perm())
	}
	if err != nil {
		return nil, errors.Join(p.fail(err), p.dir.Close())
	}
	return p, nil
}

// target describes the file at path: nil if there is none, ErrIrregular if it must not be replaced.
func (p *Pending) target() (fs.FileInfo, error) {
	info, err := p.dir.Lstat(p.base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, ErrIrregular
	}
	return info, nil
}

// Write appends b to the temporary file. It implements io.Writer. It fails if the disk is full.
func (p *Pending) Write(b []byte) (int, error) {
	if err := p.try("write"); err != nil {
		return 0, p.fail(err)
	}
	n, err := p.file.Write(b)
	if err != nil {
		return n, p.fail(err)
	}
	return n, nil
}

// Seal makes the written bytes durable (fsync); nothing can be written after it. After an error the file is discarded,
// because its state on disk is unknown.
func (p *Pending) Seal() error {
	if p.file == nil {
		return nil
	}
	err := p.try("sync")
	if err == nil {
		err = p.file.Sync()
	}
	err = errors.Join(err, p.file.Close())
	p.file = nil
	if err != nil {
		p.Discard()
		return p.fail(err)
	}
	return nil
}

// Date sets the file's modification time. It seals the file. It fails as Seal does.
func (p *Pending) Date(t time.Time) error {
	if err := p.Seal(); err != nil {
		return err
	}
	if err := p.dir.Chtimes(p.temp, t, t); err != nil {
		return p.fail(err)
	}
	return nil
}

// Temp returns the path of the temporary file.
func (p *Pending) Temp() string { return filepath.Join(filepath.Dir(p.path), p.temp) }

// Stat describes the file. Commit does not change its size, time and inode. It fails after the end.
func (p *Pending) Stat() (fs.FileInfo, error) { return p.dir.Lstat(p.temp) }

// Commit renames the file to its path, replacing an existing one, and is durable when it returns. After an error the
// old file is in place, or the new one if only the final fsync of the directory failed.
func (p *Pending) Commit() error {
	return p.commit(func() error {
		if _, err := p.target(); err != nil {
			return err
		}
		return p.dir.Rename(p.temp, p.base)
	})
}

// CommitNew is Commit for a name that must be free. If there is a file, it is kept and the error wraps fs.ErrExist.
func (p *Pending) CommitNew() error {
	return p.commit(func() error {
		err := p.dir.Link(p.temp, p.base)
		if err == nil {
			return p.dir.Remove(p.temp)
		}
		if errors.Is(err, fs.ErrExist) {
			return fs.ErrExist
		}
		return p.claim() // a file system without hard links
	})
}

// claim creates an empty file, which must be new, then renames over it. A crash in between leaves the empty file.
func (p *Pending) claim() error {
	f, err := p.dir.OpenFile(p.base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := p.dir.Rename(p.temp, p.base); err != nil {
		return errors.Join(err, p.dir.Remove(p.base))
	}
	return nil
}

func (p *Pending) commit(place func() error) error {
	if err := p.Seal(); err != nil {
		return err
	}
	err := p.try("rename")
	if err == nil {
		err = place()
	}
	if err != nil {
		p.Discard()
		return p.fail(err)
	}
	if err = p.try("sync directory"); err == nil {
		err = SyncDir(p.dir)
	}
	if err = errors.Join(err, p.dir.Close()); err != nil {
		return p.fail(err)
	}
	return nil
}

// Discard removes the temporary file and keeps the target. After Commit, CommitNew or a failed Seal it does nothing.
func (p *Pending) Discard() {
	if p.file != nil {
		p.file.Close()
		p.file = nil
	}
	// Clean removes the file later if this fails; if the directory is closed, everything is done.
	p.dir.Remove(p.temp)
	p.dir.Close()
}

func (p *Pending) fail(err error) error {
	if cause := (*fs.PathError)(nil); errors.As(err, &cause) { // it names the temporary file
		err = cause.Err
	}
	return fmt.Errorf("write %s: %w", p.path, err)
}
