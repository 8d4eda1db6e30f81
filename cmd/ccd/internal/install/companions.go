package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ccd/cmd/ccd/internal/disk"
	"ccd/compactor/sidecar"
	"ccd/internal/atomicfile"
	"ccd/internal/transcript"
	"ccd/internal/words"
	"ccd/watcher"
)

// companions are the files with a companion's name, and what belongs to them.
type companions struct {
	undo     Undo
	seen     map[string]bool // real paths
	paths    []string
	left     int      // that cannot be looked at
	strays   []string // directories with unfinished companions
	emptied  []string // directories of ccd's tree of companions
	keeps    []string // files that look like ccd's but are not, a line each
	problems []error  // what could not be read
}

// findCompanions finds the companions of this account's sessions that the archive lists, and those at the places where
// the daemon writes them. Companions of another home or machine, which the archive lists if it was restored here, are
// kept.
func (u Undo) findCompanions(ctx context.Context) *companions {
	c := &companions{undo: u, seen: map[string]bool{}}
	if err := u.Library.Load(ctx); err != nil {
		c.problems = append(c.problems, fmt.Errorf("some companions may be left: %w", err))
	}
	c.remembered()
	for _, root := range u.Roots {
		c.walk(ctx, root.Path, func(path string) { c.take(path, u.placed(root, path, path)) })
	}
	for _, dir := range []string{u.kept(), u.Config.Companion.Dir} {
		for _, agent := range u.agentDirs(dir) {
			c.emptied = append(c.emptied, c.walk(ctx, agent, func(path string) {
				rel, _ := filepath.Rel(agent, path) // it cannot fail, because path is below agent
				base, below, _ := strings.Cut(rel, string(filepath.Separator))
				c.take(path, slices.ContainsFunc(u.Roots, func(r watcher.Root) bool {
					return r.Agent == filepath.Base(agent) && filepath.Base(r.Path) == base && u.placed(r, filepath.Join(r.Path, below), path)
				}))
			})...)
		}
		if dir != "" {
			c.emptied = append(c.emptied, dir)
		}
	}
	slices.Sort(c.paths)
	return c
}

// removeCompanions removes what findCompanions found, and then the empty directories of their trees. The archive has
// everything that it takes to write them again. It goes on after an error.
func (u Undo) removeCompanions(ctx context.Context, c *companions) error {
	failed, left := c.problems, c.left
	for _, path := range c.paths {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := sidecar.Remove(path); err != nil {
			failed, left = append(failed, err), left+1
		}
	}
	for _, dir := range c.strays {
		if err := atomicfile.CleanAll(dir); err != nil {
			failed = append(failed, err)
		}
	}
	slices.SortStableFunc(c.emptied, func(x, y string) int { return len(y) - len(x) }) // inner ones first
	for _, dir := range slices.Compact(c.emptied) {
		if !u.watched(dir) {
			_ = removeDir(dir) // fails if other files are in it
		}
	}
	switch {
	case len(failed) == 0:
		return nil
	case len(failed) > 1:
		return fmt.Errorf("%s left: %w; and %s", words.Count(left, "companion"), failed[0], words.Count(len(failed)-1, "more problem"))
	}
	return fmt.Errorf("%s left: %w", words.Count(left, "companion"), failed[0])
}

// agentDirs returns the agents' directories in dir, a tree of companions. No other directory in it is ccd's.
func (u Undo) agentDirs(dir string) (all []string) {
	for _, f := range u.Place.Agents.All() {
		if dir != "" {
			all = append(all, filepath.Join(dir, f.Agent))
		}
	}
	return all
}

// remembered takes the companions that the archive lists: those of sessions below a root that is watched here, and
// those at this account's own places. It counts the others.
func (c *companions) remembered() {
	u := c.undo
	var places []string
	for _, root := range u.Roots {
		places = append(places, disk.Real(root.Path))
	}
	for _, dir := range append(u.agentDirs(u.Config.Companion.Dir), u.kept()) {
		places = append(places, disk.Real(dir))
	}
	elsewhere, watched := map[string]int{}, watching(u.Roots)
	for _, e := range u.Library.Sessions {
		here := watched(e)
		for _, path := range append(slices.Clone(e.Kept.Earlier), e.Kept.Companion) {
			mine := func(dir string) bool { return disk.Within(disk.Real(path), dir) }
			switch {
			case path == "":
			case here && sidecar.Named(path, e.Source), slices.ContainsFunc(places, mine):
				c.take(path, true)
				c.emptied = append(c.emptied, treeAround(e.Session.Session, path)...)
			case disk.Exists(path):
				elsewhere[e.Root]++
			}
		}
	}
	for _, root := range slices.Sorted(maps.Keys(elsewhere)) {
		c.keeps = append(c.keeps, fmt.Sprintf("keep %s of sessions below %s, which is not watched here (another home or machine)", words.Count(elsewhere[root], "companion"), root))
	}
}

// take decides about one file. placed says that it is at a place where ccd writes a companion.
func (c *companions) take(path string, placed bool) {
	at := disk.Real(path)
	if c.seen[at] {
		return
	}
	ours, err := sidecar.Ours(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	c.seen[at] = true
	switch {
	case err != nil:
		c.problems, c.left = append(c.problems, err), c.left+1
	case !ours:
		c.keeps = append(c.keeps, "keep "+path+": named like a companion but not written by ccd")
	case !placed:
		c.keeps = append(c.keeps, "keep "+path+": a copy of a companion in a directory where ccd writes none")
	default:
		c.paths = append(c.paths, path)
	}
}

// placed reports whether the companion at path has the name that its text gives, and whether a transcript could be at
// the matching place below the root.
func (u Undo) placed(root watcher.Root, place, path string) bool {
	t, ok := u.Place.Agents.Find(root.Agent, root.Path, strings.TrimSuffix(place, sidecar.Suffix)+".jsonl")
	if !ok || t.Class == transcript.Attachment {
		return false
	}
	source, err := sidecar.Source(path)
	return err == nil && sidecar.Named(path, source)
}

// walk calls take for every file below dir with a companion's name, and records the directories of unfinished ones. It
// follows no symlink except dir itself. It returns the directories, inner ones first.
func (c *companions) walk(ctx context.Context, dir string, take func(path string)) (dirs []string) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil // dir does not exist
	}
	err = filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		path = dir + strings.TrimPrefix(path, real) // the path that the archive has
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			c.problems = append(c.problems, err)
		case d.IsDir():
			dirs = append(dirs, path)
		case strings.HasPrefix(d.Name(), ".ccd-"):
			if in := filepath.Dir(path); !slices.Contains(c.strays, in) {
				c.strays = append(c.strays, in)
			}
		case sidecar.Is(d.Name()):
			take(path)
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		c.problems = append(c.problems, err)
	}
	slices.Reverse(dirs)
	return dirs
}
