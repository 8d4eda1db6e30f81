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

	"ccd/cmd/ccd/internal/disk"
	"ccd/compactor/sidecar"
	"ccd/internal/transcript"
	"ccd/internal/words"
	"ccd/watcher"
)

// sorter decides which files with a companion's name are removed and which are kept.
type sorter struct {
	Purge
	*Remains
	seen map[string]bool // real paths
}

// findCompanions finds the companions of this account's sessions that the archive lists, and those at the places where
// the daemon writes them. Companions of another home or machine, which the archive lists if it was restored here, are
// counted and kept.
func (p Purge) findCompanions(ctx context.Context, r *Remains) {
	if err := p.Library.Load(ctx); err != nil {
		r.problems = append(r.problems, "some companions may be left: "+err.Error())
	}
	r.sessions = len(p.Library.Sessions)
	s := sorter{p, r, map[string]bool{}}
	s.remembered()
	for _, root := range p.Roots {
		s.walk(ctx, root.Path, func(path string) { s.take(path, p.placed(root, path, path)) })
	}
	for _, dir := range []string{p.kept(), p.Config.Companion.Dir} {
		for _, agent := range p.agentDirs(dir) {
			r.emptied = append(r.emptied, s.walk(ctx, agent, func(path string) {
				rel, _ := filepath.Rel(agent, path) // it cannot fail, because path is below agent
				base, below, _ := strings.Cut(rel, string(filepath.Separator))
				s.take(path, slices.ContainsFunc(p.Roots, func(r watcher.Root) bool {
					return r.Agent == filepath.Base(agent) && filepath.Base(r.Path) == base && p.placed(r, filepath.Join(r.Path, below), path)
				}))
			})...)
		}
		if dir != "" {
			r.emptied = append(r.emptied, dir)
		}
	}
	if dir := p.Config.Companion.Dir; dir != "" {
		r.around = append(r.around, dir)
	}
	slices.Sort(r.companions)
	r.companions = slices.Compact(r.companions)
}

// agentDirs returns the agents' directories in dir, a tree of companions. No other directory in it is ccd's.
func (p Purge) agentDirs(dir string) (all []string) {
	for _, f := range p.Place.Agents.All() {
		if dir != "" {
			all = append(all, filepath.Join(dir, f.Agent))
		}
	}
	return all
}

// remembered takes the companions that the archive lists: those of sessions below a root that is watched here, and
// those at this account's own places. It counts the others.
func (s sorter) remembered() {
	var places []string
	for _, root := range s.Roots {
		places = append(places, disk.Real(root.Path))
	}
	for _, dir := range append(s.agentDirs(s.Config.Companion.Dir), s.kept()) {
		places = append(places, disk.Real(dir))
	}
	elsewhere, watched := map[string]int{}, watching(s.Roots)
	for _, e := range s.Library.Sessions {
		here := watched(e)
		for _, path := range append(slices.Clone(e.Kept.Earlier), e.Kept.Companion) {
			mine := func(dir string) bool { return disk.Within(disk.Real(path), dir) }
			switch {
			case path == "":
			case here && sidecar.Named(path, e.Source), slices.ContainsFunc(places, mine):
				s.take(path, true)
				s.emptied = append(s.emptied, treeAround(e.Session.Session, path)...)
			default:
				if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
					elsewhere[e.Root]++
				}
			}
		}
	}
	for _, root := range slices.Sorted(maps.Keys(elsewhere)) {
		s.keeps = append(s.keeps, fmt.Sprintf("%s of sessions below %s, which is not watched here (another home or machine)", words.Count(elsewhere[root], "companion"), root))
	}
}

// take decides about one file. placed says that it is at a place where ccd writes a companion.
func (s sorter) take(path string, placed bool) {
	at := disk.Real(path)
	if s.seen[at] {
		return
	}
	ours, err := sidecar.Ours(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	s.seen[at] = true
	switch {
	case err != nil:
		s.unreadable = append(s.unreadable, err.Error())
	case !ours:
		s.keeps = append(s.keeps, path+": named like a companion but not written by ccd")
	case !placed:
		s.keeps = append(s.keeps, path+": a copy of a companion in a directory where ccd writes none")
	default:
		s.companions = append(s.companions, path)
	}
}

// placed reports whether the companion at path has the name that its text gives, and whether a transcript could be at
// the matching place below the root.
func (p Purge) placed(root watcher.Root, place, path string) bool {
	t, ok := p.Place.Agents.Find(root.Agent, root.Path, strings.TrimSuffix(place, sidecar.Suffix)+".jsonl")
	if !ok || t.Class == transcript.Attachment {
		return false
	}
	source, err := sidecar.Source(path)
	return err == nil && sidecar.Named(path, source)
}

// walk calls take for every file below dir with a companion's name, and records the directories of unfinished ones. It
// follows no symlink except dir itself. It returns the directories, inner ones first.
func (s sorter) walk(ctx context.Context, dir string, take func(path string)) (dirs []string) {
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
			s.problems = append(s.problems, err.Error())
		case d.IsDir():
			dirs = append(dirs, path)
		case strings.HasPrefix(d.Name(), ".ccd-"):
			if in := filepath.Dir(path); !slices.Contains(s.strayDirs, in) {
				s.strayDirs = append(s.strayDirs, in)
			}
		case sidecar.Is(d.Name()):
			take(path)
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		s.problems = append(s.problems, err.Error())
	}
	slices.Reverse(dirs)
	return dirs
}
