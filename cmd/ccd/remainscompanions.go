package main

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
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// findCompanions finds those that the archive knows of this installation's sessions, and those that stand where the
// daemon puts them. What the archive remembers of another home or machine, as one that was restored there does, is told
// and not looked at.
func (i installation) findCompanions(ctx context.Context, r *remains) {
	if err := i.library.load(ctx); err != nil {
		r.problems = append(r.problems, "companions that only the archive knows of may be left: "+err.Error())
	}
	r.sessions = len(i.library.sessions)
	s := i.sorting(r)
	i.findRemembered(s)
	for _, root := range i.library.roots {
		s.walk(ctx, root.Path, func(path string) { s.take(path, placed(root, path, path)) })
	}
	r.emptied = append(r.emptied, i.walkTree(ctx, s, i.kept())...)
	if dir := i.library.config.Companion.Dir; dir != "" {
		r.emptied = append(r.emptied, i.walkTree(ctx, s, dir)...)
		r.around = append(r.around, dir)
	}
	slices.Sort(r.companions)
	r.companions = slices.Compact(r.companions)
}

// sorting sorts files of a companion's name into those that go and those that stay.
type sorting struct {
	*remains
	seen   map[string]bool // real paths
	places []string        // real paths of the directories that this installation's companions stand below
}

func (i installation) sorting(r *remains) *sorting {
	s := &sorting{remains: r, seen: map[string]bool{}}
	for _, root := range i.library.roots {
		s.places = append(s.places, realPath(root.Path))
	}
	for _, dir := range append(agentDirs(i.library.config.Companion.Dir), i.kept()) {
		s.places = append(s.places, realPath(dir))
	}
	return s
}

// take sorts one file; placed tells that ccd puts a companion there.
func (s *sorting) take(path string, placed bool) {
	at := realPath(path)
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
		s.stuck = append(s.stuck, err.Error())
	case !ours:
		s.stays = append(s.stays, path+": not ccd's, whatever its name")
	case !placed:
		s.stays = append(s.stays, path+": a copy of a companion, at a place where ccd puts none")
	default:
		s.companions = append(s.companions, path)
	}
}

// findRemembered takes those that the archive knows: of sessions below a root that is watched here, and what stands in
// this installation's own places. The others are counted.
func (i installation) findRemembered(s *sorting) {
	elsewhere, watched := map[string]int{}, i.library.watching()
	for _, e := range i.library.sessions {
		here := watched(e)
		for _, p := range append(slices.Clone(e.state.Earlier), e.state.Companion) {
			switch {
			case p == "":
			case here && sidecar.Named(p, e.Source), s.mine(p):
				s.take(p, true)
				s.emptied = append(s.emptied, treeAround(e.Session.Session, p)...)
			case stands(p):
				elsewhere[e.Root]++
			}
		}
	}
	for _, root := range slices.Sorted(maps.Keys(elsewhere)) {
		s.stays = append(s.stays, fmt.Sprintf("%s of sessions below %s, which is not watched here: of another home or machine", count(elsewhere[root], "companion"), root))
	}
}

// stands reports whether a file is there, or may be for all that can be told.
func stands(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// watching returns a function that reports whether a session's root is one that is watched now, by real paths.
func (l *library) watching() func(e entry) bool {
	known := map[watcher.Root]bool{}
	for _, r := range l.roots {
		known[r] = true
		known[watcher.Root{Agent: r.Agent, Path: realPath(r.Path)}] = true
	}
	return func(e entry) bool {
		root := watcher.Root{Agent: e.Agent, Path: e.Root}
		here, seen := known[root]
		if !seen {
			here = known[watcher.Root{Agent: e.Agent, Path: realPath(e.Root)}]
			known[root] = here
		}
		return here
	}
}

// mine reports whether a path is below a watched root, companion.dir or the state directory's companions.
func (s *sorting) mine(path string) bool {
	at := realPath(path)
	return slices.ContainsFunc(s.places, func(dir string) bool { return within(at, dir) })
}

// placed reports whether the companion at path has the name that it gives itself, and the place below a root that it
// has, or would have beside its transcript, is one where a transcript stands.
func placed(root watcher.Root, place, path string) bool {
	t, ok := registry.Find(root.Agent, root.Path, strings.TrimSuffix(place, sidecar.Suffix)+".jsonl")
	if !ok || t.Class == transcript.Attachment {
		return false
	}
	source, err := sidecar.Source(path)
	return err == nil && sidecar.Named(path, source)
}

// walkTree sorts what stands in the tree of companions in dir, and returns its directories, an inner one before what
// holds it.
func (i installation) walkTree(ctx context.Context, s *sorting, dir string) (dirs []string) {
	for _, agent := range agentDirs(dir) {
		dirs = append(dirs, s.walk(ctx, agent, func(path string) {
			rel, _ := filepath.Rel(agent, path) // path is below it
			base, below, _ := strings.Cut(rel, string(filepath.Separator))
			s.take(path, slices.ContainsFunc(i.library.roots, func(r watcher.Root) bool {
				return r.Agent == filepath.Base(agent) && filepath.Base(r.Path) == base && placed(r, filepath.Join(r.Path, below), path)
			}))
		})...)
	}
	return append(dirs, dir)
}

// agentDirs are the directories of a tree of companions in dir: no other is ccd's.
func agentDirs(dir string) (all []string) {
	for _, f := range registry.All() {
		if dir != "" {
			all = append(all, filepath.Join(dir, f.Agent))
		}
	}
	return all
}

// treeAround are the directories around a companion that stands in a tree of companions, that of the tree last; none where
// it stands beside its transcript.
func treeAround(s transcript.Session, path string) (dirs []string) {
	top, ok := strings.CutSuffix(path, sidecar.Path(s, string(filepath.Separator)))
	for dir := filepath.Dir(path); ok && path != sidecar.Path(s, "") && top != "" && within(dir, top); dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	return dirs
}

// walk takes every file below dir that has a companion's name, and notes where unfinished ones are. It follows no symlink
// but dir itself, and returns the directories, an inner one before what holds it.
func (r *remains) walk(ctx context.Context, dir string, take func(path string)) (dirs []string) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil // not there
	}
	err = filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		path = dir + strings.TrimPrefix(path, real) // as the archive names it
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			r.problems = append(r.problems, err.Error())
		case d.IsDir():
			dirs = append(dirs, path)
		case strings.HasPrefix(d.Name(), ".ccd-"):
			if in := filepath.Dir(path); !slices.Contains(r.strayDirs, in) {
				r.strayDirs = append(r.strayDirs, in)
			}
		case sidecar.Is(d.Name()):
			take(path)
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		r.problems = append(r.problems, err.Error())
	}
	slices.Reverse(dirs)
	return dirs
}
