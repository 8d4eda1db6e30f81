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
	"strconv"
	"strings"

	"ccd/compactor/sidecar"
	"ccd/daemon"
	"ccd/internal/atomicfile"
)

// answers reports whether there is somebody to ask.
func (a *app) answers() bool {
	in, ok := a.in.(*os.File)
	return ok && terminal(in) && terminal(a.err)
}

// answer reads a line, "" where there is none, without the space around it. An interrupted question has no answer: it
// fails with what ended ctx, and what reads goes on until the process ends.
func answer(ctx context.Context, in io.Reader) (string, error) {
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(in).ReadString('\n')
		line <- text
	}()
	select {
	case text := <-line:
		return strings.TrimSpace(text), nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// agreed reports whether the answer is the one that is wanted, whole.
func agreed(ctx context.Context, in io.Reader, want string) (bool, error) {
	text, err := answer(ctx, in)
	return strings.EqualFold(text, want), err
}

// ask asks whether all that was shown is to be removed. Where sessions exist nowhere else, their number is the answer.
func (i installation) ask(ctx context.Context, r remains) error {
	want, why := "yes", ""
	if r.onlyHere > 0 {
		want, why = strconv.Itoa(r.onlyHere), onlyHereText(r.onlyHere)+". "
	}
	fmt.Fprintf(i.app.err, "%sType %s to remove all of it: ", why, want)
	switch agreed, err := agreed(ctx, i.app.in, want); {
	case err != nil:
		fmt.Fprintln(i.app.err) // behind the question
		return err
	case !agreed:
		return fmt.Errorf("purge: answer was not %s; nothing removed", want)
	}
	return nil
}

func onlyHereText(n int) string {
	if n == 1 {
		return "1 session exists only in this archive"
	}
	return fmt.Sprintf("%d sessions exist only in this archive", n)
}

// purge removes all that is ccd's of one account, transcripts apart: what calls ccd first, then what needs nothing else
// to be found, the archive and the configuration that names its place last. So one that was interrupted goes on when
// it is run again.
func (i installation) purge(ctx context.Context, yes bool) error {
	a := i.app
	if err := i.idle(ctx); err != nil {
		return err
	}
	if err := i.refuseForeign(); err != nil {
		return err
	}
	r, err := i.remains(ctx)
	if err != nil {
		return err
	}
	if !a.quiet || !yes {
		fmt.Fprint(a.err, r.text())
	} else {
		fmt.Fprint(a.err, r.trouble())
	}
	if !yes {
		if err := i.ask(ctx, r); err != nil {
			return err
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
	if _, running, _ := daemon.ReadRun(i.library.stateDir); running {
		return hint(errors.New("purge: a daemon has started meanwhile"), "ccd status")
	}
	if err := i.clear(ctx, r); err != nil {
		again := "run it again: it goes on where it ended"
		if i.user != "" {
			again = "ccd uninstall --system --purge --user " + shellWord(i.user) + " goes on where it ended"
		}
		return hint(fmt.Errorf("purge: %w", err), "%s", again)
	}
	return nil
}

// clear removes what there is once the service has ended, which wrote until then. The archive, the state and the
// configuration go last, and only when no companion is left that they tell of.
func (i installation) clear(ctx context.Context, shown remains) error {
	r, err := i.again(ctx, shown)
	if err != nil {
		return err
	}
	failed := i.removeAgents(r)
	if err := i.removeCompanions(ctx, r); err != nil {
		return err
	}
	failed = i.removeStrays(r) || failed
	now, err := i.again(ctx, r)
	if err != nil {
		return err
	}
	if left := len(now.companions) + len(now.stuck); left > 0 {
		for _, p := range now.companions {
			fmt.Fprintf(i.app.err, "left: %s\n", p)
		}
		return fmt.Errorf("%s left: the archive, the state and the configuration stay too, for they tell of them", count(left, "companion"))
	}
	if err := i.removeState(now); err != nil {
		return err
	}
	switch {
	case failed || len(now.problems) > 0:
		return errSaid
	case len(now.stays) > 0:
		i.app.say("nothing of ccd's is left but what was told to stay; transcripts are as they were")
	default:
		i.app.say("nothing of ccd's is left; transcripts are as they were")
	}
	return nil
}

// idle fails where a daemon runs that is not the service which is about to be removed.
func (i installation) idle(ctx context.Context) error {
	if i.user == "" {
		if other, err := i.app.installedService(i.library); err == nil && other.System() {
			return hint(errors.New("purge: a service of the machine runs as you"), "sudo ccd uninstall --system --purge")
		}
	}
	if info, running, _ := daemon.ReadRun(i.library.stateDir); running { // what cannot be read goes too
		if st, err := i.Status(ctx); err != nil || !st.Active || st.Foreign != "" || st.Pid != info.Pid {
			return hint(fmt.Errorf("purge: a daemon runs, pid %d", info.Pid), "end it first: kill %d", info.Pid)
		}
	}
	return nil
}

// refuseForeign fails where the installed service works in other places than this command would look at: what it has written
// there would stay.
func (i installation) refuseForeign() error {
	differs, err := i.Differs()
	if err == nil && len(differs) > 0 {
		err = hint(fmt.Errorf("the installed service has other places than this command: %s", strings.Join(differs, ", ")),
			"run it with the environment and the --config of the service, or ccd uninstall first")
	}
	if err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	return nil
}

// removeAgents takes ccd out of agents' own files, and removes the copies that were made of them. What fails is said,
// and keeps nothing else from going.
func (i installation) removeAgents(r remains) (failed bool) {
	a := i.app
	for _, plan := range r.agents {
		done, err := plan.Apply()
		for _, line := range done {
			a.say("%s", line)
		}
		failed = i.problem(err) || failed
	}
	for _, p := range r.backups {
		failed = i.problem(i.unlink(p)) || failed
	}
	for _, dir := range r.agentDirs {
		_ = atomicfile.CleanAll(dir) // what a killed command left: nothing fails for it
	}
	return failed
}

// problem says an error, and reports whether there was one.
func (i installation) problem(err error) bool {
	if err != nil {
		fmt.Fprintf(i.app.err, "problem: %v\n", err) // an error, not talk
	}
	return err != nil
}

// removeCompanions removes them. What it cannot remove it says, and goes on.
func (i installation) removeCompanions(ctx context.Context, r remains) error {
	removed := 0
	for _, p := range r.companions {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !i.problem(sidecar.Remove(p)) {
			removed++
		}
	}
	if removed > 0 {
		i.app.say("removed %s", count(removed, "companion"))
	}
	return nil
}

// removeStrays removes unfinished companions, and then the directories of their trees that are empty.
func (i installation) removeStrays(r remains) (failed bool) {
	for _, dir := range r.strayDirs {
		failed = i.problem(atomicfile.CleanAll(dir)) || failed
	}
	slices.SortStableFunc(r.emptied, func(x, y string) int { return len(y) - len(x) }) // an inner one first
	for _, dir := range slices.Compact(r.emptied) {
		if !i.watched(dir) {
			_ = os.Remove(dir) // not empty: it holds what is not ours
		}
	}
	return failed
}

// removeState removes the archive, the state directory and the configuration.
func (i installation) removeState(r remains) error {
	for _, p := range slices.Concat(r.archive, r.logs) {
		if err := i.unlink(p); err != nil {
			return err
		}
	}
	for _, p := range r.own {
		if err := i.unlink(p); err != nil {
			return err
		}
	}
	if err := i.removeStateDir(r.state); err != nil {
		return err
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
		i.removeEmptyBelow(home, dir)
	}
	return nil
}

// removeStateDir removes the state directory, if there is one, when all that is left in it is not ccd's.
func (i installation) removeStateDir(dir string) error {
	if dir == "" {
		return nil
	}
	if err := atomicfile.CleanAll(dir); err != nil {
		return err
	}
	_ = os.Remove(i.summarizer()) // where others have written there, it stays
	err := os.Remove(dir)
	inside, unread := os.ReadDir(dir)
	switch {
	case err == nil:
		i.app.say("removed %s", dir)
		return nil
	case unread != nil || len(inside) == 0:
		return err
	}
	i.app.say("%s stays, with what is not ccd's in it", dir)
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
func (i installation) removeEmptyBelow(home, dir string) {
	for dir != home && !i.watched(dir) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
		if !within(dir, home) {
			return
		}
		dir = filepath.Dir(dir)
	}
}
