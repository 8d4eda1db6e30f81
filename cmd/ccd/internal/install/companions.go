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
	"strings"

	"ccd/compactor/sidecar"
	"ccd/daemon"
	"ccd/internal/atomicfile"
	"ccd/internal/transcript"
	"ccd/internal/words"
	"ccd/watcher"
)

// companions removes the companions below the watched roots and in ccd's trees of companions. It searches again when it
// is done, because the service may have written until then.
func (a Account) companions(ctx context.Context) *Step {
	step := newStep("companions", "companions")
	if _, err := a.Env.Place(true); err != nil { // a configuration that cannot be read does not say where they are
		return step.fail(err)
	}
	found := a.findCompanions(ctx)
	in := map[string]int{}
	for _, path := range found.paths {
		in[filepath.Dir(path)]++
	}
	for _, dir := range slices.Sorted(maps.Keys(in)) {
		step.Does = append(step.Does, fmt.Sprintf("remove %d below %s", in[dir], dir))
	}
	step.Does = append(step.Does, found.keeps...)
	if len(found.paths) == 0 && found.failed == nil {
		return step.is(Unchanged, "none")
	}
	step.What = "remove " + words.Count(len(found.paths), "companion")
	step.do = func(ctx context.Context) (string, error) {
		if run, running, _ := daemon.ReadRun(a.StateDir); running {
			return "", fmt.Errorf("remove companions: %w", runs(run.Pid))
		}
		found := a.findCompanions(ctx)
		return words.Count(len(found.paths), "companion") + " removed", found.remove(ctx)
	}
	return step
}

// companions are the files with a companion's name in the directories where ccd writes some.
type companions struct {
	paths  []string
	dirs   []string // of ccd's trees, inner ones first
	keeps  []string // files that are not ccd's, a line each
	failed error    // what could not be read
}

func (a Account) findCompanions(ctx context.Context) *companions {
	c := &companions{}
	for _, root := range a.Roots {
		c.walk(ctx, root.Path, a.placed(root, root.Path))
		for _, tree := range []string{filepath.Join(a.StateDir, "companions"), a.Config.Companion.Dir} {
			if tree != "" {
				own := filepath.Join(tree, root.Agent, filepath.Base(root.Path)) // no other directory in the tree is ccd's
				c.dirs = append(c.dirs, c.walk(ctx, own, a.placed(root, own))...)
				c.dirs = append(c.dirs, filepath.Dir(own), tree)
			}
		}
	}
	slices.Sort(c.paths)
	c.paths = slices.Compact(c.paths)
	return c
}

// placed returns a function that reports whether a companion below dir has the name that its text gives, and whether a
// transcript could be at the matching place below the root.
func (a Account) placed(root watcher.Root, dir string) func(path string) bool {
	return func(path string) bool {
		rel, _ := filepath.Rel(dir, path) // it cannot fail, because path is below dir
		place := filepath.Join(root.Path, strings.TrimSuffix(rel, sidecar.Suffix)+".jsonl")
		t, ok := a.Place.Agents.Find(root.Agent, root.Path, place)
		if !ok || t.Class == transcript.Attachment {
			return false
		}
		source, err := sidecar.Source(path)
		return err == nil && sidecar.Named(path, source)
	}
}

// walk takes the companions below dir, and returns the directories, inner ones first. It follows no symlink except dir itself.
func (c *companions) walk(ctx context.Context, dir string, placed func(path string) bool) (dirs []string) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil // dir does not exist
	}
	err = filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		path = dir + strings.TrimPrefix(path, real) // the path that the user knows
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			c.failed = errors.Join(c.failed, err)
		case d.IsDir():
			dirs = append(dirs, path)
		case sidecar.Is(d.Name()):
			switch ours, err := sidecar.Ours(path); {
			case err != nil && !errors.Is(err, fs.ErrNotExist):
				c.failed = errors.Join(c.failed, err)
			case err == nil && !ours:
				c.keeps = append(c.keeps, "keep "+path+": named like a companion but not written by ccd")
			case err == nil && !placed(path):
				c.keeps = append(c.keeps, "keep "+path+": a copy of a companion in a directory where ccd writes none")
			case err == nil:
				c.paths = append(c.paths, path)
			}
		}
		return nil
	})
	c.failed = errors.Join(c.failed, err)
	slices.Reverse(dirs)
	return dirs
}

// remove removes the companions, and then the empty directories of their trees. It goes on after an error. The archive has
// everything that it takes to write the companions again.
func (c *companions) remove(ctx context.Context) error {
	failed := c.failed
	for _, path := range c.paths {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		failed = errors.Join(failed, sidecar.Remove(path))
	}
	for _, dir := range c.dirs {
		_ = atomicfile.CleanAll(dir)                                // unfinished companions
		if info, err := os.Lstat(dir); err == nil && info.IsDir() { // a symbolic link is the user's
			_ = os.Remove(dir) // fails if other files are in it
		}
	}
	if failed == nil {
		return nil
	}
	return fmt.Errorf("companions are left: %w", failed)
}
