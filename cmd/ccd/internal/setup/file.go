package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ccd/cmd/ccd/internal/disk"
	"ccd/internal/transcript"
)

// backupSuffix is what the name of a backup ends with.
const backupSuffix = ".ccd-backup"

// largest is the size in bytes of the largest file that is edited: an agent's settings are a thousandth of it.
const largest = 64 << 20

// file is one of the agent's files as it stands.
type file struct {
	path   string // as people know it
	target string // where it stands: path, with symlinks followed
	text   []byte
	info   fs.FileInfo // nil where there is none
	backup []byte      // nil where there is none
	linked bool        // path is a symlink
	state  bool        // the agent itself keeps it, and writes it again and again
}

// read reads a file and its backup. That it is missing is no error; what cannot be edited is.
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
		if f.linked && missing(err) {
			return f, hinted(fmt.Errorf("read %s: a dangling symlink", path), "rm %s", transcript.ShellWord(path))
		}
		return fail(err)
	}
	if f.info, err = os.Stat(f.target); err != nil {
		return fail(err)
	}
	switch {
	case !f.info.Mode().IsRegular():
		return fail(errors.New("not a regular file"))
	case f.info.Size() > largest:
		return fail(fmt.Errorf("%d bytes: too large for a file of settings", f.info.Size()))
	}
	if f.text, err = os.ReadFile(f.target); err != nil {
		return fail(err)
	}
	return f.withBackup()
}

func (f file) withBackup() (file, error) {
	info, err := os.Lstat(f.path + backupSuffix)
	if missing(err) {
		return f, nil
	}
	if err == nil && !info.Mode().IsRegular() { // reading a pipe might never end
		return f, hinted(fmt.Errorf("read backup %s: not a regular file", f.path+backupSuffix), "move it away, then try again")
	}
	text, err := os.ReadFile(f.path + backupSuffix)
	if err != nil {
		return f, fmt.Errorf("read backup: %w", err)
	}
	f.backup = append([]byte{}, text...)
	return f, nil
}

func (f file) exists() bool { return f.info != nil }

// writable fails where this user said that the file is not to be written, although a rename would go past that, where it is
// another user's, which a rename would make this user's, and where a rename would leave other names of it behind.
func (f file) writable() error {
	if f.info != nil {
		if name, mine := disk.Owner(f.info); !mine {
			return hinted(fmt.Errorf("write %s: it belongs to %s", f.path, name), "sudo chown \"$USER\" %s, or run this as %s", transcript.ShellWord(f.target), name)
		}
	}
	if f.info != nil && linkCount(f.info) > 1 {
		return hinted(fmt.Errorf("write %s: it has other names (hard links), which would keep what it was", f.path),
			"make it a file of its own: cp -p %[1]s %[1]s.own && mv %[1]s.own %[1]s", transcript.ShellWord(f.target))
	}
	if f.info != nil && f.info.Mode()&0o200 == 0 {
		return hinted(fmt.Errorf("write %s: it is read-only", f.path), "chmod u+w %s", transcript.ShellWord(f.target))
	}
	return nil
}

// document reads a file as JSON, and its backup where that is one.
func (f file) document() (d, before *document, err error) {
	if f.backup != nil {
		if before, err = parse(f.path+backupSuffix, f.backup); err != nil || len(before.calls()) > 0 {
			before = nil // it is of no help, or not from before ccd
		}
	}
	d, err = parse(f.path, f.text)
	return d, before, err
}

// installed is what is to be done for a file to hold text.
func (f file) installed(text []byte, perm fs.FileMode, ours bool) (change, error) {
	c := change{file: f, after: text, perm: perm}
	if f.exists() && bytes.Equal(f.text, text) {
		return c, nil
	}
	c.write = true
	if f.exists() && !ours {
		c.keep = true
	}
	return c, f.writable()
}

// uninstalled is what is to be done for a file that holds text without what ccd put there. One that ccd made goes when
// nothing else is in it; a backup goes when its file is as it was.
func (f file) uninstalled(text []byte) (change, error) {
	c := change{file: f, after: text, undo: true}
	if f.exists() {
		c.write = !bytes.Equal(f.text, text)
		c.remove = c.write && len(text) == 0 && f.backup == nil
		if c.remove && f.linked && filepath.Base(f.path) != skillName { // the user's link would lead nowhere
			c.remove, c.after = false, f.nothing()
		}
	}
	c.drop = f.backup != nil && (f.state || bytes.Equal(text, f.backup)) && f.exists()
	if !c.write {
		return c, nil
	}
	return c, f.writable()
}

// nothing is what a file says that says nothing.
func (f file) nothing() []byte {
	if filepath.Ext(f.path) == ".json" {
		return []byte("{}\n")
	}
	return []byte{}
}
