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
	"ccd/compactor/companion"
	"ccd/daemon"
	"ccd/internal/atomicfile"
	"ccd/internal/words"
)

// companions removes all companions. The archive has everything that it takes to write them again. It
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
			return "", words.Hint(fmt.Errorf("remove companions: a daemon is running, pid %d", run.Pid), "stop it first: kill %d", run.Pid)
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

// findCompanions returns the companions beside the transcripts of all roots and in ccd's trees of companions, also those that the archive,
// which may be gone, does not know, and those of the archive's sessions anywhere else.
func (a Account) findCompanions(ctx context.Context) (paths []string, err error) {
	dirs := a.companionTrees()
	for _, r := range a.Roots {
		dirs = append(dirs, r.Path)
	}
	if err := a.Load(ctx); err != nil {
		return nil, err
	}
	for _, e := range a.Sessions {
		dirs = append(dirs, e.CompanionFile())
	}
	for _, dir := range dirs {
		stopped := filepath.WalkDir(dir, func(path string, d fs.DirEntry, failed error) error {
			ours := false
			if failed == nil && !d.IsDir() && companion.Is(path) {
				ours, failed = companion.Ours(path)
			}
			if ours {
				paths = append(paths, path)
			}
			if !errors.Is(failed, fs.ErrNotExist) {
				err = errors.Join(err, failed)
			}
			return ctx.Err()
		})
		err = errors.Join(err, stopped)
	}
	slices.Sort(paths)
	return slices.Compact(paths), err
}

// companionTrees returns the directories that may have companions alone.
func (a Account) companionTrees() []string {
	trees := []string{filepath.Join(a.StateDir, "companions")}
	if dir := a.Config.Companion.Dir; dir != "" {
		trees = append(trees, dir)
	}
	return trees
}

// removeCompanion removes a companion, and the directories of ccd's tree of companions that are empty then.
func (a Account) removeCompanion(path string) error {
	if err := companion.Remove(path); err != nil {
		return err
	}
	for _, tree := range a.companionTrees() {
		for dir := filepath.Dir(path); disk.Within(dir, tree); dir = filepath.Dir(dir) {
			_ = atomicfile.CleanAll(dir)                                // unfinished companions
			if info, err := os.Lstat(dir); err == nil && info.IsDir() { // a symbolic link is the user's
				_ = os.Remove(dir) // fails if other files are in it
			}
		}
	}
	return nil
}
