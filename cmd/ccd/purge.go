package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ccd/daemon"
	"ccd/internal/atomicfile"
	"ccd/internal/sidecar"
)

// answers reports whether there is somebody to ask.
func (a *app) answers() bool {
	in, ok := a.in.(*os.File)
	return ok && terminal(in) && terminal(a.err)
}

// agreed reports whether the answer is yes, the whole word.
func agreed(in io.Reader) bool {
	answer, _ := bufio.NewReader(in).ReadString('\n')
	return strings.EqualFold(strings.TrimSpace(answer), "yes")
}

// purge removes all that is ccd's of one account, transcripts apart: what calls ccd first, then what needs nothing else
// to be found, the archive and the configuration that names its place last. So one that was interrupted goes on when
// it is run again.
func (i installation) purge(ctx context.Context, yes bool) error {
	a := i.app
	if err := i.idle(ctx); err != nil {
		return err
	}
	r, err := i.remains(ctx)
	if err != nil {
		return err
	}
	if !a.quiet || !yes {
		fmt.Fprint(a.err, r.text())
	}
	if !yes {
		fmt.Fprint(a.err, "Type yes to remove all of it: ")
		if !agreed(a.in) {
			return errors.New("purge: the answer was not yes, nothing is removed")
		}
	}
	if err := i.Uninstall(ctx); err != nil {
		return err
	}
	if i.user != "" { // root's part is done: what stands in a user's directories goes as that user
		if err := become(i.user); err != nil {
			return fmt.Errorf("purge as %s: %w", i.user, err)
		}
	}
	if _, running, err := daemon.ReadRun(i.library.stateDir); err == nil && running {
		return hint(errors.New("purge: a daemon has started meanwhile"), "ccd status")
	}
	// The service wrote until it ended: what it wrote goes too.
	if r, err = i.again(ctx, r); err == nil {
		err = i.remove(ctx, r)
	}
	if err != nil {
		again := "run it again: it goes on where it ended"
		if i.user != "" {
			again = "ccd uninstall --system --purge --user " + shellWord(i.user) + " goes on where it ended"
		}
		return hint(fmt.Errorf("purge: %w", err), "%s", again)
	}
	if len(r.problems) > 0 {
		return errSaid
	}
	a.say("nothing of ccd's is left; transcripts are as they were")
	return nil
}

// idle fails where a daemon runs that is not the service which is about to be removed.
func (i installation) idle(ctx context.Context) error {
	if i.user == "" {
		if other, err := i.app.installedService(i.library); err == nil && other.System() {
			return hint(errors.New("purge: a service of the machine runs as you"), "sudo ccd uninstall --system --purge")
		}
	}
	info, running, err := daemon.ReadRun(i.library.stateDir)
	if err != nil && !running {
		return nil // nobody holds the lock; what cannot be read goes too
	}
	if running {
		if st, err := i.Status(ctx); err != nil || !st.Active || st.Pid != info.Pid {
			return hint(fmt.Errorf("purge: a daemon runs, pid %d", info.Pid), "end it first: kill %d", info.Pid)
		}
	}
	return nil
}

// remove does what was shown, and says each thing done.
func (i installation) remove(ctx context.Context, r remains) error {
	a := i.app
	for _, plan := range r.agents {
		done, err := plan.Apply()
		for _, line := range done {
			a.say("%s", line)
		}
		if err != nil {
			return err
		}
	}
	for _, p := range r.backups {
		if err := i.unlink(p); err != nil {
			return err
		}
	}
	for _, dir := range r.agentDirs {
		_ = atomicfile.CleanAll(dir) // what a killed command left: nothing fails for it
	}
	for _, p := range r.companions {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := sidecar.Remove(p); err != nil {
			return err
		}
	}
	if len(r.companions) > 0 {
		a.say("removed %s", count(len(r.companions), "companion"))
	}
	for _, dir := range r.strayDirs {
		if err := atomicfile.CleanAll(dir); err != nil {
			return err
		}
	}
	slices.SortStableFunc(r.emptied, func(x, y string) int { return len(y) - len(x) }) // an inner one first
	for _, dir := range r.emptied {
		_ = os.Remove(dir) // not empty: it holds what is not ours
	}
	return i.removeState(r)
}

// removeState removes the archive, the state directory and the configuration.
func (i installation) removeState(r remains) error {
	for _, p := range slices.Concat(r.archive, r.logs) {
		if err := i.unlink(p); err != nil {
			return err
		}
	}
	for _, p := range r.own {
		if err := os.RemoveAll(p); err != nil { // follows no symlink
			return fmt.Errorf("remove state: %w", err)
		}
	}
	if r.state != "" {
		if err := atomicfile.CleanAll(r.state); err != nil {
			return err
		}
		if os.Remove(r.state) == nil {
			i.app.say("removed %s", r.state)
		} else {
			i.app.say("%s stays, with what is not ccd's in it", r.state)
		}
	}
	if r.config != "" {
		if err := i.unlink(r.config); err != nil {
			return err
		}
	}
	home, err := i.app.home()
	if err != nil {
		return err
	}
	for _, dir := range r.around {
		_ = atomicfile.CleanAll(dir)
		removeEmptyBelow(home, dir)
	}
	return nil
}

// unlink removes a file, and says so; that it is gone already is what was wanted.
func (i installation) unlink(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	i.app.say("removed %s", path)
	return nil
}

// removeEmptyBelow removes dir, if it is empty, and then those above it up to home. One that stands elsewhere goes alone.
func removeEmptyBelow(home, dir string) {
	for dir != home {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
		if !within(dir, home) {
			return
		}
		dir = filepath.Dir(dir)
	}
}
