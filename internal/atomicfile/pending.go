package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Pending is a file that is written but not yet in its place. It ends with Commit, CommitNew or Discard; none of its
// methods may be called at the same time as another.
type Pending struct {
	path, base, temp string
	dir              *os.Root // the directory is held, so that nothing can be put in its place between the steps
	file             *os.File // nil once sealed
	try              func(step string) error
}

// Prepare writes data to a temporary file beside path and makes it durable, so that only Commit, a rename, is left
// to do. Permissions are as in Write.
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

// Create begins a replacement of path that is written piece by piece. Permissions are as in Write.
func Create(path string, perm fs.FileMode) (*Pending, error) {
	return create(path, perm, func(string) error { return nil })
}

// create takes what tests need to fail a step: try is called before each with its name.
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
		p.file, err = p.dir.OpenFile(p.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, perm.Perm())
	}
	if err != nil {
		return nil, errors.Join(p.fail(err), p.dir.Close())
	}
	return p, nil
}

// target describes what stands at the path: nil where nothing does, ErrIrregular where it must not be replaced.
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

// Write appends b to the temporary file. It implements io.Writer.
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

// Seal makes what was written durable (fsync); nothing can be written after it. After an error the file is discarded:
// once fsync failed, nobody knows what the disk holds.
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

// Date sets the modification time that the file will have in its place. It seals the file.
func (p *Pending) Date(t time.Time) error {
	if err := p.Seal(); err != nil {
		return err
	}
	if err := p.dir.Chtimes(p.temp, t, t); err != nil {
		return p.fail(err)
	}
	return nil
}

// Stat describes the file as it will stand at its path: Commit changes nothing of size, time and inode.
func (p *Pending) Stat() (fs.FileInfo, error) { return p.dir.Lstat(p.temp) }

// Commit puts the file in its place, over the one that stands there. At return it is durable; after an error the old
// file stands, or (where only the last fsync, of the directory, failed) the new one does.
func (p *Pending) Commit() error {
	return p.commit(func() error {
		if _, err := p.target(); err != nil {
			return err
		}
		return p.dir.Rename(p.temp, p.base)
	})
}

// CommitNew is Commit for a name that must be free: where something stands there, it is left as it is and the error
// wraps fs.ErrExist.
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

// claim takes the name with an empty file that must be new, then renames over it. A crash between the two leaves the
// empty file.
func (p *Pending) claim() error {
	f, err := p.dir.OpenFile(p.base, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
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
		err = syncDir(p.dir)
	}
	if err = errors.Join(err, p.dir.Close()); err != nil {
		return p.fail(err)
	}
	return nil
}

// Discard removes the temporary file; the target stays as it is. After Commit, CommitNew or a failed Seal it does
// nothing.
func (p *Pending) Discard() {
	if p.file != nil {
		p.file.Close()
		p.file = nil
	}
	// A temporary file that cannot be removed now is Clean's; a closed directory means that all is done already.
	p.dir.Remove(p.temp)
	p.dir.Close()
}

func (p *Pending) fail(err error) error { return fmt.Errorf("write %s: %w", p.path, err) }
