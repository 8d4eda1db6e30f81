package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ccd/cmd/ccd/internal/disk"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// backupSuffix is added to a file's name to name its backup.
const backupSuffix = ".ccd-backup"

// file is one of an agent's files.
type file struct {
	path     string // as the user knows it
	target   string // path with symlinks followed
	text     []byte
	info     fs.FileInfo // nil if the file does not exist
	backup   []byte      // nil if there is none
	saved    fs.FileInfo // of the backup
	linked   bool        // path is a symlink
	comments bool        // the agent accepts comments in JSON
	state    bool        // the agent stores its own state in it, so it changes often
}

// read reads a file and its backup. A missing file is not an error; one that cannot be edited is.
func read(path string) (file, error) {
	f := file{path: path, target: path}
	fail := func(err error) (file, error) { return f, fmt.Errorf("read %s: %w", path, err) }
	link, err := os.Lstat(path)
	if missing(err) {
		return f.withBackup()
	}
	if err != nil {
		return fail(err)
	}
	f.linked = link.Mode()&fs.ModeSymlink != 0
	if f.target, err = filepath.EvalSymlinks(path); err != nil {
		return fail(err)
	}
	if f.info, err = os.Stat(f.target); err != nil {
		return fail(err)
	}
	if !f.info.Mode().IsRegular() {
		return fail(errors.New("not a regular file"))
	}
	if f.text, err = os.ReadFile(f.target); err != nil {
		return fail(err)
	}
	return f.withBackup()
}

func (f file) withBackup() (file, error) {
	info, err := os.Stat(f.path + backupSuffix)
	if missing(err) {
		return f, nil
	}
	text, err := os.ReadFile(f.path + backupSuffix)
	if err != nil {
		return f, fmt.Errorf("read backup: %w", err)
	}
	f.backup, f.saved = append([]byte{}, text...), info
	return f, nil
}

func (f file) exists() bool { return f.info != nil }

// writable fails if replacing the file by a rename would do what the user does not expect: ignore that it is read-only, or take
// it from another user.
func (f file) writable() error {
	if f.info == nil {
		return nil
	}
	path := transcript.ShellWord(f.target)
	switch name := disk.Owner(f.info); {
	case name != "" && os.Geteuid() != 0:
		return words.Hint(fmt.Errorf("write %s: it belongs to %s", f.path, name), "sudo chown \"$USER\" %s, or run this as %s", path, name)
	case f.info.Mode()&0o200 == 0:
		return words.Hint(fmt.Errorf("write %s: it is read-only", f.path), "chmod u+w %s", path)
	}
	return nil
}

// aside is the backup of the file.
func (f file) aside() file {
	return file{path: f.path + backupSuffix, target: f.path + backupSuffix, text: f.backup, info: f.saved}
}

// install plans to give a file this text. ours reports whether ccd was in it before: if not, a backup is made first.
func (p *Plan) install(f file, text []byte, perm fs.FileMode, ours bool) error {
	c := change{file: f, after: text, perm: perm}
	if c.differs() && f.exists() && !ours {
		p.changes = append(p.changes, change{file: f.aside(), after: f.text, perm: 0o600})
	}
	return p.add(c)
}

// uninstall plans to give a file this text, which is without ccd's parts. It removes a file that ccd made if nothing else is
// in it, the directories below dir that are empty then, and the backup of a state file or of one that is now as before.
func (p *Plan) uninstall(f file, text []byte, dir string) error {
	c := change{file: f, after: f.text, within: dir}
	switch {
	case !f.exists() || bytes.Equal(f.text, text):
	case len(text) > 0 || f.backup != nil:
		c.after = append([]byte{}, text...)
	default:
		c.after = nil
	}
	err := p.add(c)
	switch {
	case f.backup == nil || !f.exists():
	case f.state || bytes.Equal(text, f.backup):
		p.changes = append(p.changes, change{file: f.aside()})
	case c.differs():
		p.Notes = append(p.Notes, f.path+backupSuffix+" stays, because the file was changed since install.")
	}
	return err
}

func (p *Plan) add(c change) error {
	p.changes = append(p.changes, c)
	if !c.differs() {
		return nil
	}
	return c.writable()
}
