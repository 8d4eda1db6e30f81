package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	// Notes are what else the user should know, a sentence each.
	Notes []string
	// Started are the agents whose new sessions will use what is installed.
	Started []string
	parts   []string // what it writes, by its name
	changes []change
}

// again is the hint after a failure.
const again = "run it again: it continues where it stopped"

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

// past is the past tense of the verbs of steps.
var past = strings.NewReplacer("change", "changed", "write", "wrote", "remove", "removed")

// Done returns a line for each thing that Apply has done.
func (p *Plan) Done() (all []string) {
	for _, step := range p.Steps() {
		verb, what, _ := strings.Cut(step, " ")
		all = append(all, past.Replace(verb)+" "+what)
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

// Apply does what is planned. It writes all new texts to temporary files before it replaces the first file, so that most
// errors happen before anything has changed. If a file was changed since the plan was made, it fails and changes nothing.
// Temporary files that a killed Apply left over an hour ago are removed, even if the plan is empty.
func (p *Plan) Apply() (err error) {
	p.clean()
	var made []string
	ready := map[string]*atomicfile.Pending{}
	defer func() {
		for _, r := range ready {
			r.Discard() // no effect if it was committed
		}
		if err != nil {
			for _, dir := range slices.Backward(made) {
				_ = os.Remove(dir) // fails if other files are in it
			}
		}
	}()
	for _, c := range p.changes {
		if err := c.unchanged(); err != nil {
			return err
		}
		if err := c.prepare(ready, &made); err != nil {
			return err
		}
	}
	for _, c := range p.changes {
		if err := c.commit(ready[c.path]); err != nil {
			return words.Hint(err, again)
		}
	}
	for _, c := range p.changes {
		c.tidy()
	}
	return nil
}

// clean removes temporary files, which are copies of settings, that a killed Apply left. Its errors are ignored, because
// they do not prevent the plan.
func (p *Plan) clean() {
	seen := map[string]bool{}
	for _, c := range p.changes {
		for _, dir := range []string{filepath.Dir(c.path), filepath.Dir(c.target)} {
			if !seen[dir] {
				_ = atomicfile.Clean(dir)
			}
			seen[dir] = true
		}
	}
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

// prepare writes the new text of the file to a temporary file, and makes its directory.
func (c change) prepare(ready map[string]*atomicfile.Pending, made *[]string) error {
	if !c.differs() {
		return nil
	}
	if err := makeAll(filepath.Dir(c.target), made); err != nil {
		return err
	}
	perm := c.perm
	if c.exists() {
		perm = c.info.Mode().Perm()
	}
	p, err := atomicfile.Prepare(c.target, perm, c.after) // also for a file to remove: it fails if the directory is not writable
	if err == nil {
		ready[c.path] = p
	}
	return err
}

// makeAll makes a directory and its parents, and adds the new ones to made, innermost last.
func makeAll(dir string, made *[]string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("make directory %s: it is a file", dir)
	}
	if !missing(err) {
		return err
	}
	if err := makeAll(filepath.Dir(dir), made); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	*made = append(*made, dir)
	return nil
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

func (c change) commit(p *atomicfile.Pending) error {
	if p == nil {
		return nil
	}
	if err := c.unchanged(); err != nil {
		return err
	}
	if c.after == nil {
		p.Discard()
		if err := os.Remove(c.target); err != nil {
			return fmt.Errorf("remove file: %w", err)
		}
		if c.linked {
			if err := os.Remove(c.path); err != nil {
				return fmt.Errorf("remove link: %w", err)
			}
		}
		return nil
	}
	if err := p.Commit(); err != nil {
		return err
	}
	if !c.exists() {
		return nil
	}
	if err := os.Chmod(c.target, c.info.Mode().Perm()); err != nil { // the umask may have removed bits
		return fmt.Errorf("keep mode of file: %w", err)
	}
	return keepOwner(c.target, c.info)
}

// tidy removes the empty directories around the file, which install may have made.
func (c change) tidy() {
	for dir := filepath.Dir(c.path); c.within != "" && dir != c.within && disk.Within(dir, c.within); dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || os.Remove(dir) != nil { // not a user's link
			return
		}
	}
}
