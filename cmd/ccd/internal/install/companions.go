package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"ccd/cmd/ccd/internal/disk"
	"ccd/compactor/sidecar"
	"ccd/daemon"
	"ccd/internal/atomicfile"
	"ccd/internal/words"
)

// companions removes the companions of all sessions in the archive, which has everything that it takes to write them again. It
// looks again when it is done, because the service may have written until then.
func (a Account) companions(ctx context.Context) *Step {
	step := newStep("companions", "companions")
	if _, err := a.Env.Place(true); err != nil { // a configuration that cannot be read does not say where the archive is
		return step.fail(err)
	}
	found, err := a.findCompanions(ctx)
	if err != nil {
		return step.fail(err)
	}
	in := map[string]int{}
	for _, path := range found {
		in[filepath.Dir(path)]++
	}
	for _, dir := range slices.Sorted(maps.Keys(in)) {
		step.Does = append(step.Does, fmt.Sprintf("remove %d below %s", in[dir], dir))
	}
	if len(found) == 0 {
		return step.is(Unchanged, "none")
	}
	step.What = "remove " + words.Count(len(found), "companion")
	step.do = func(ctx context.Context) (string, error) {
		if run, running, _ := daemon.ReadRun(a.StateDir); running {
			return "", fmt.Errorf("remove companions: %w", runs(run.Pid))
		}
		found, err := a.findCompanions(ctx)
		for _, path := range found {
			err = errors.Join(err, a.removeCompanion(path))
		}
		if err != nil {
			err = fmt.Errorf("companions are left: %w", err)
		}
		return words.Count(len(found), "companion") + " removed", err
	}
	return step
}

func (a Account) findCompanions(ctx context.Context) (paths []string, err error) {
	if err := a.Load(ctx); err != nil {
		return nil, err
	}
	for _, e := range a.Sessions {
		switch ours, failed := sidecar.Ours(e.CompanionFile()); {
		case failed != nil && !errors.Is(failed, fs.ErrNotExist):
			err = errors.Join(err, failed)
		case ours:
			paths = append(paths, e.CompanionFile())
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), err
}

// removeCompanion removes a companion, and the directories of ccd's tree of companions that are empty then.
func (a Account) removeCompanion(path string) error {
	if err := sidecar.Remove(path); err != nil {
		return err
	}
	for _, tree := range []string{filepath.Join(a.StateDir, "companions"), a.Config.Companion.Dir} {
		for dir := filepath.Dir(path); tree != "" && disk.Within(dir, tree); dir = filepath.Dir(dir) {
			_ = atomicfile.CleanAll(dir)                                // unfinished companions
			if info, err := os.Lstat(dir); err == nil && info.IsDir() { // a symbolic link is the user's
				_ = os.Remove(dir) // fails if other files are in it
			}
		}
	}
	return nil
}
