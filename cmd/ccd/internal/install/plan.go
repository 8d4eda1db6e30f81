package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"ccd/cmd/ccd/internal/disk"
	"ccd/internal/atomicfile"
	"ccd/internal/words"
)

// change is what Apply does to one file.
type change struct {
	file
	after  []byte      // nil: no file
	perm   fs.FileMode // of a new file
	within string      // remove the directories around the file, below this one, that are empty; "" for none
}

// differs reports whether the file has to be written or removed.
func (c change) differs() bool {
	return c.exists() != (c.after != nil) || !bytes.Equal(c.text, c.after)
}

// Plan is what install or uninstall would do to agents' files. Nothing is written before Apply.
type Plan struct {
	// Agents are those whose files it changes, by their titles.
	Agents []string
	// Notes are what else the user should know, a sentence each.
	Notes   []string
	parts   []string // what it writes, by its name
	changes []change
}

// Empty reports whether Apply has nothing to do.
func (p *Plan) Empty() bool { return len(p.Steps()) == 0 }

// Steps returns one line for each thing that Apply would do.
func (p *Plan) Steps() (all []string) {
	for _, c := range p.changes {
		if c.differs() {
			all = append(all, c.verb()+" "+c.path)
		}
	}
	return all
}

// Diff returns a unified diff of all files that Apply would change.
func (p *Plan) Diff() string {
	var b strings.Builder
	for _, c := range p.changes {
		if !c.differs() || strings.HasSuffix(c.path, backupSuffix) {
			continue
		}
		old, now := c.path, c.path
		if !c.exists() {
			old = os.DevNull
		}
		if c.after == nil {
			now = os.DevNull
		}
		text := diff.Diff(old, c.text, now, c.after)
		if _, rest, ok := bytes.Cut(text, []byte("\n")); ok { // without the first line, a diff command
			text = rest
		}
		b.Write(text)
	}
	return b.String()
}

// Apply does what is planned. If a file was changed since the plan was made, it fails and changes nothing. After another failure
// the next plan has what is left to do.
func (p *Plan) Apply() error {
	for _, c := range p.changes {
		for _, dir := range []string{filepath.Dir(c.path), filepath.Dir(c.target)} {
			_ = atomicfile.Clean(dir) // copies of settings that a killed Apply left
		}
		if err := c.unchanged(); err != nil {
			return err
		}
	}
	for _, c := range p.changes {
		if err := c.apply(); err != nil {
			return words.Hint(err, "run it again: it continues where it stopped")
		}
	}
	return nil
}

// unchanged fails if the file differs from what was read.
func (c change) unchanged() error {
	now, err := os.ReadFile(c.target)
	if missing(err) && !c.exists() || err == nil && c.exists() && bytes.Equal(now, c.text) {
		return nil
	}
	if err == nil || missing(err) {
		err = errors.New("it has changed since it was read")
	}
	return words.Hint(fmt.Errorf("write %s: %w", c.path, err), "run it again")
}

func (c change) verb() string {
	switch {
	case c.after == nil:
		return "remove"
	case c.exists():
		return "change"
	}
	return "write"
}

func (c change) apply() error {
	err := error(nil)
	switch {
	case !c.differs():
	case c.after != nil:
		err = c.write()
	default:
		if err = os.Remove(c.target); err == nil && c.linked {
			err = os.Remove(c.path)
		}
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", c.verb(), c.path, err)
	}
	c.tidy()
	return nil
}

func (c change) write() error {
	if err := os.MkdirAll(filepath.Dir(c.target), 0o700); err != nil {
		return err
	}
	if !c.exists() {
		return atomicfile.Write(c.target, c.perm, c.after)
	}
	perm := c.info.Mode().Perm()
	if err := atomicfile.Write(c.target, perm, c.after); err != nil {
		return err
	}
	return os.Chmod(c.target, perm) // the umask may have removed bits
}

// tidy removes the empty directories around the file, which install may have made.
func (c change) tidy() {
	for dir := filepath.Dir(c.path); c.within != "" && dir != c.within && disk.Within(dir, c.within); dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || os.Remove(dir) != nil { // not a user's link
			return
		}
	}
}
