package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/reader"
	"ccd/compactor/sidecar"
	"ccd/daemon"
	"ccd/internal/atomicfile"
	"ccd/internal/words"
	"ccd/packaging"
)

// ErrIncomplete is the error of a purge that has already reported what it could not remove.
var ErrIncomplete = errors.New("some files were not removed")

// Purge removes everything that ccd has for one account.
type Purge struct {
	*reader.Library
	Service *packaging.Service
	Agents  *Setup

	Say     func(format string, args ...any) // what was done
	Problem func(problem string)             // what could not be done or read
}

// Check fails if a daemon runs that is not the service, or if the service uses other directories than this command
// would purge.
func (p Purge) Check(ctx context.Context) error {
	if other, err := p.Installed(nil); err == nil && other.System() {
		return words.Hint(errors.New("purge: a system service runs as you"), "sudo ccd service remove --system, then run it again")
	}
	if pid := account.Foreground(ctx, p.Service, p.StateDir); pid != 0 {
		return words.Hint(fmt.Errorf("purge: a daemon is running, pid %d", pid), "stop it first: kill %d", pid)
	}
	differs, err := p.Service.PlaceChanges()
	if err == nil && len(differs) > 0 {
		err = words.Hint(fmt.Errorf("the installed service's paths differ from this command's: %s", strings.Join(differs, ", ")),
			"use the environment and --config of the service, or run ccd service remove first")
	}
	if err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	return nil
}

// Remove removes the service, then searches again and removes what it finds, because the service may have written files
// since shown was made.
func (p Purge) Remove(ctx context.Context, shown *Remains) error {
	if err := p.Service.Uninstall(ctx); err != nil {
		return err
	}
	if _, running, _ := daemon.ReadRun(p.StateDir); running {
		return words.Hint(errors.New("purge: a daemon was started during the purge"), "ccd status")
	}
	err := p.clear(ctx, shown)
	if err == nil || errors.Is(err, ErrIncomplete) {
		return err
	}
	return words.Hint(fmt.Errorf("purge: %w", err), again)
}

func (p Purge) clear(ctx context.Context, shown *Remains) error {
	r := &Remains{settings: shown.settings}
	if err := p.find(ctx, r); err != nil {
		return err
	}
	told := slices.Concat(shown.problems, shown.unreadable)
	for _, problem := range slices.Concat(r.problems, r.unreadable) {
		if !slices.Contains(told, problem) {
			p.Problem(problem)
		}
	}
	failed := p.removeSettings(r.settings) || len(r.settings.unread)+len(r.problems) > 0
	left, strays, err := p.removeCompanions(ctx, r)
	if err != nil {
		return err
	}
	failed = strays || failed
	if left > 0 {
		return fmt.Errorf("%s left; kept the archive, the state and the configuration, which are needed to find them", words.Count(left, "companion"))
	}
	if err := p.removeState(r); err != nil {
		return err
	}
	switch {
	case failed:
		return ErrIncomplete
	case len(r.keeps) > 0:
		p.Say("removed ccd, except the files listed as kept; transcripts are unchanged")
	default:
		p.Say("removed ccd; transcripts are unchanged")
	}
	return nil
}

// removeCompanions removes the companions of r. It returns how many are left, and whether it failed to clean up after them.
func (p Purge) removeCompanions(ctx context.Context, r *Remains) (left int, failed bool, err error) {
	left = len(r.unreadable)
	removed := 0
	for _, path := range r.companions {
		if err := ctx.Err(); err != nil {
			return left, failed, err
		}
		if p.failed(sidecar.Remove(path)) {
			left++
		} else {
			removed++
		}
	}
	if removed > 0 {
		p.Say("removed %s", words.Count(removed, "companion"))
	}
	return left, p.removeStrays(r), nil
}

// Companions finds the companions that ccd wrote for this account, and changes nothing.
func (p Purge) Companions(ctx context.Context) (*Remains, error) {
	r := &Remains{}
	p.findCompanions(ctx, r)
	return r, ctx.Err()
}

// RemoveCompanions removes what Companions found. The archive has everything that it takes to write them again. While a daemon
// runs, it fails: the daemon would write them again at once.
func (p Purge) RemoveCompanions(ctx context.Context, r *Remains) error {
	if run, running, _ := daemon.ReadRun(p.StateDir); running {
		return words.Hint(fmt.Errorf("remove companions: a daemon is running, pid %d", run.Pid), "stop it first: kill %d", run.Pid)
	}
	for _, problem := range r.Problems() {
		p.Problem(problem)
	}
	left, failed, err := p.removeCompanions(ctx, r)
	if err == nil && left > 0 {
		err = fmt.Errorf("remove companions: %s left", words.Count(left, "companion"))
	}
	if err == nil && (failed || len(r.Problems()) > 0) {
		err = fmt.Errorf("remove companions: %w", ErrIncomplete)
	}
	return err
}

// failed reports an error, and whether there was one.
func (p Purge) failed(err error) bool {
	if err != nil {
		p.Problem(err.Error())
	}
	return err != nil
}

// removeSettings removes ccd from agents' own files, and removes the backups of these files. A failure does not stop
// the rest.
func (p Purge) removeSettings(s settings) (failed bool) {
	for _, plan := range s.plans {
		failed = p.failed(plan.Apply()) || failed
		for _, line := range plan.Done() {
			p.Say("%s", line)
		}
	}
	for _, path := range s.backups {
		failed = p.failed(p.unlink(path)) || failed
	}
	for _, dir := range s.dirs {
		_ = atomicfile.CleanAll(dir) // temporary files of a killed command; a failure does not matter
	}
	return failed
}

// removeStrays removes unfinished companions, and then the empty directories of their trees.
func (p Purge) removeStrays(r *Remains) (failed bool) {
	for _, dir := range r.strayDirs {
		failed = p.failed(atomicfile.CleanAll(dir)) || failed
	}
	slices.SortStableFunc(r.emptied, func(x, y string) int { return len(y) - len(x) }) // inner ones first
	for _, dir := range slices.Compact(r.emptied) {
		if !p.watched(dir) {
			_ = os.Remove(dir) // fails if other files are in it
		}
	}
	return failed
}

// removeState removes the archive, the state directory and the configuration.
func (p Purge) removeState(r *Remains) error {
	for _, path := range slices.Concat(r.archive, r.logs, r.own) {
		if err := p.unlink(path); err != nil {
			return err
		}
	}
	if r.state != "" {
		if err := p.removeStateDir(r.state); err != nil {
			return err
		}
	}
	if r.config != "" {
		if err := p.unlink(r.config); err != nil {
			return err
		}
	}
	for _, dir := range r.around {
		_ = atomicfile.CleanAll(dir)
		p.removeEmpty(dir)
	}
	return nil
}

// removeStateDir removes the state directory if no other files are in it.
func (p Purge) removeStateDir(dir string) error {
	if err := atomicfile.CleanAll(dir); err != nil {
		return err
	}
	_ = os.Remove(p.summarizer()) // fails if the summarizer has written files there
	_ = os.Remove(p.backups())    // fails if there are any
	_ = os.Remove(daemon.RequestDir(dir))
	err := os.Remove(dir)
	inside, unread := os.ReadDir(dir)
	switch {
	case err == nil:
		p.Say("removed %s", dir)
		return nil
	case unread != nil || len(inside) == 0:
		return err
	}
	p.Say("kept: %s, because it contains backups, keys, or files that ccd did not write", dir)
	return nil
}

// unlink removes a file, and says so. A missing file is no error.
func (p Purge) unlink(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		p.Say("removed %s", path)
	}
	return err
}

// removeEmpty removes dir if it is empty, and then the empty directories above it, up to the home directory. Outside of
// the home directory it removes only dir.
func (p Purge) removeEmpty(dir string) {
	for dir != p.Home && !p.watched(dir) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) || !disk.Within(dir, p.Home) {
			return
		}
		dir = filepath.Dir(dir)
	}
}

// watched reports whether dir is a watched directory, or has one in it. A root that does not exist does not count;
// otherwise ~/.local, where Amp's would be, would be kept although it is empty.
func (p Purge) watched(dir string) bool {
	for _, r := range p.Roots {
		if disk.Exists(r.Path) && disk.Within(disk.Real(r.Path), disk.Real(dir)) {
			return true
		}
	}
	return false
}
