package setup

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
)

// change is what is to be done to one file.
type change struct {
	file
	after  []byte
	perm   fs.FileMode // of a new file
	write  bool        // after differs from what stands there
	remove bool        // instead: the file goes
	keep   bool        // a backup is made first
	drop   bool        // the backup goes
	undo   bool        // uninstall
}

// Plan is what install or uninstall would do to the files of one or more agents. Until Apply nothing is written.
type Plan struct {
	// Notes are what the user should know beside it, a sentence each.
	Notes []string
	// Started are the agents whose sessions use what is installed from their next start on.
	Started  []string
	changes  []change
	commands []command // run when the files are done
	open     bool      // a note says what is still to be done
	rooms    []string  // directories that go if they are empty, an outer one before what it holds
}

// command is a program of the agent's that edits a file of its own.
type command struct {
	line string
	run  func() error
}

// join makes one plan of two.
func (p *Plan) join(q *Plan) {
	p.Notes = append(p.Notes, q.Notes...)
	p.Started = append(p.Started, q.Started...)
	p.changes = append(p.changes, q.changes...)
	p.commands = append(p.commands, q.commands...)
	p.open = p.open || q.open
	p.rooms = append(p.rooms, q.rooms...)
}

// Empty reports whether everything is as it should be already.
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

// Diff returns the plan as a unified diff of every file that it changes, and a line for each command that it runs.
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
		if _, rest, ok := bytes.Cut(text, []byte("\n")); ok { // its first line, a command, is of no use
			text = rest
		}
		b.Write(text)
	}
	for _, c := range p.commands {
		b.WriteString("run: " + c.line + "\n")
	}
	return b.String()
}

// Apply does it, and returns one line for each thing done. Everything is written beside its place before the first file
// is replaced, so that what can fail has failed by then; each file is then replaced in one step. A file that was changed
// since the plan was made is an error, and nothing is done. What a killed Apply left beside the files more than an hour ago goes, also where the
// plan is empty.
func (p *Plan) Apply() (done []string, err error) {
	p.clean()
	var made []string
	ready := map[string]*atomicfile.Pending{}
	defer func() {
		for _, r := range ready {
			r.Discard() // nothing, where it was committed
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
			return done, hinted(err, "run it again: what is done already stays as it is")
		}
	}
	for _, c := range p.commands {
		if err := c.run(); err != nil {
			return done, hinted(fmt.Errorf("run %s: %w", c.line, err), "run it again: what is done already stays as it is")
		}
		done = append(done, "ran "+c.line)
	}
	return append(done, removeEmpty(p.rooms)...), nil
}

// clean removes what an earlier Apply left beside the files when it was killed: copies of settings. It is no part of what
// is to be done, so that nothing fails for it.
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

// unchanged fails where the file is not as it was read.
func (c change) unchanged() error {
	now, err := os.ReadFile(c.target)
	if missing(err) && !c.exists() || err == nil && c.exists() && bytes.Equal(now, c.text) {
		return nil
	}
	if err == nil || missing(err) {
		err = errors.New("it was changed meanwhile")
	}
	return hinted(fmt.Errorf("write %s: %w", c.path, err), "run it again")
}

// prepare writes what the file, and its backup, will be beside their places, and makes their directories.
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
	p, err := atomicfile.Prepare(c.target, perm, c.after) // for a file that is to go: it tells whether that can be done
	if err == nil {
		ready[c.path] = p
	}
	return err
}

// makeAll makes a directory and those above it, and notes the new ones, the innermost last.
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
		say("kept what it was as %s", c.path+backupSuffix)
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
		say("%s stays: the file has been changed by others since", c.path+backupSuffix)
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
	if err := os.Chmod(c.target, c.info.Mode().Perm()); err != nil { // the umask may have taken some
		return fmt.Errorf("keep mode of file: %w", err)
	}
	return keepOwner(c.target, c.info)
}

// removeEmpty removes the directories that are empty, the innermost of those last in the list first.
func removeEmpty(dirs []string) (done []string) {
	for i := len(dirs) - 1; i >= 0; i-- {
		if entries, err := os.ReadDir(dirs[i]); err == nil && len(entries) == 0 && os.Remove(dirs[i]) == nil {
			done = append(done, "removed "+dirs[i])
		}
	}
	return done
}
