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

	"ccd/internal/atomicfile"
	"ccd/internal/words"
)

// change is what Apply does to one file.
type change struct {
	file
	after  []byte
	perm   fs.FileMode // of a new file
	write  bool        // after differs from the file's text
	remove bool        // instead of writing after, remove the file
	keep   bool        // make a backup first
	drop   bool        // remove the backup
	undo   bool        // uninstall
}

// Plan is what install or uninstall would do to agents' files. Nothing is written before Apply.
type Plan struct {
	// Notes are what else the user should know, a sentence each.
	Notes []string
	// Started are the agents whose new sessions will use what is installed.
	Started  []string
	changes  []change
	commands []command // run after the files are written
	open     bool      // a note says what the user must do
	rooms    []string  // directories to remove if they are empty, outer ones first
}

// command is a command of the agent that edits one of its files.
type command struct {
	line string
	run  func() error
}

// again is the hint after a failure.
const again = "run it again: it continues where it stopped"

// join adds q to p.
func (p *Plan) join(q *Plan) {
	p.Notes = append(p.Notes, q.Notes...)
	p.Started = append(p.Started, q.Started...)
	p.changes = append(p.changes, q.changes...)
	p.commands = append(p.commands, q.commands...)
	p.open = p.open || q.open
	p.rooms = append(p.rooms, q.rooms...)
}

// Empty reports whether Apply has nothing to do.
func (p *Plan) Empty() bool {
	for _, c := range p.changes {
		if c.write || c.drop {
			return false
		}
	}
	return len(p.commands) == 0
}

// Steps returns one line for each thing that Apply would do.
func (p *Plan) Steps() (all []string) {
	for _, c := range p.changes {
		if c.write {
			all = append(all, c.verb().now+" "+c.path)
			if c.keep {
				all = append(all, "write "+c.path+backupSuffix)
			}
		}
		if c.drop {
			all = append(all, "remove "+c.path+backupSuffix)
		}
	}
	for _, c := range p.commands {
		all = append(all, "run "+c.line)
	}
	return all
}

// Diff returns a unified diff of all files that Apply would change, and a line for each command that it would run.
func (p *Plan) Diff() string {
	var b strings.Builder
	for _, c := range p.changes {
		if !c.write {
			continue
		}
		old, now := c.path, c.path
		if !c.exists() {
			old = os.DevNull
		}
		if c.remove {
			now = os.DevNull
		}
		text := diff.Diff(old, c.text, now, c.after)
		if _, rest, ok := bytes.Cut(text, []byte("\n")); ok { // without the first line, a diff command
			text = rest
		}
		b.Write(text)
	}
	for _, c := range p.commands {
		b.WriteString("run: " + c.line + "\n")
	}
	return b.String()
}

// Apply does what is planned, and returns a line for each thing done. It writes all new texts to temporary files before
// it replaces the first file, so that most errors happen before anything has changed. If a file was changed since the
// plan was made, it fails and changes nothing. Temporary files that a killed Apply left over an hour ago are removed, even
// if the plan is empty.
func (p *Plan) Apply() (done []string, err error) {
	p.clean()
	var made []string
	ready := map[string]*atomicfile.Pending{}
	defer func() {
		for _, r := range ready {
			r.Discard() // no effect if it was committed
		}
		if err != nil {
			removeEmpty(made)
		}
	}()
	for _, c := range p.changes {
		if err := c.unchanged(); err != nil {
			return nil, err
		}
		if err := c.prepare(ready, &made); err != nil {
			return nil, err
		}
	}
	for _, c := range p.changes {
		lines, err := c.commit(ready)
		done = append(done, lines...)
		if err != nil {
			return done, words.Hint(err, again)
		}
	}
	for _, c := range p.commands {
		if err := c.run(); err != nil {
			return done, words.Hint(fmt.Errorf("run %s: %w", c.line, err), again)
		}
		done = append(done, "ran "+c.line)
	}
	return append(done, removeEmpty(p.rooms)...), nil
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

// prepare writes the new texts of the file and of its backup to temporary files, and makes their directories.
func (c change) prepare(ready map[string]*atomicfile.Pending, made *[]string) error {
	if !c.write {
		return nil
	}
	if c.keep {
		b, err := atomicfile.Prepare(c.path+backupSuffix, 0o600, c.text)
		if err != nil {
			return err
		}
		ready[c.path+backupSuffix] = b
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

func (c change) commit(ready map[string]*atomicfile.Pending) (done []string, err error) {
	say := func(format string, args ...any) { done = append(done, fmt.Sprintf(format, args...)) }
	if b := ready[c.path+backupSuffix]; b != nil {
		if err := b.Commit(); err != nil {
			return done, err
		}
		say("saved the previous file as %s", c.path+backupSuffix)
	}
	if c.write {
		if err := c.unchanged(); err != nil {
			return done, err
		}
		if err := c.replace(ready[c.path]); err != nil {
			return done, err
		}
		say("%s %s", c.verb().done, c.path)
	}
	switch {
	case c.drop:
		if err := os.Remove(c.path + backupSuffix); err != nil && !missing(err) {
			return done, fmt.Errorf("remove backup: %w", err)
		}
		say("removed %s", c.path+backupSuffix)
	case c.write && c.undo && c.backup != nil:
		say("%s stays, because the file was changed since install", c.path+backupSuffix)
	}
	return done, nil
}

type verb struct{ now, done string }

func (c change) verb() verb {
	switch {
	case c.remove:
		return verb{"remove", "removed"}
	case c.exists():
		return verb{"change", "changed"}
	}
	return verb{"write", "wrote"}
}

func (c change) replace(p *atomicfile.Pending) error {
	if c.remove {
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

// removeEmpty removes the empty directories, the last in the list first, and returns a line for each.
func removeEmpty(dirs []string) (done []string) {
	for i := len(dirs) - 1; i >= 0; i-- {
		if entries, err := os.ReadDir(dirs[i]); err == nil && len(entries) == 0 && os.Remove(dirs[i]) == nil {
			done = append(done, "removed "+dirs[i])
		}
	}
	return done
}
