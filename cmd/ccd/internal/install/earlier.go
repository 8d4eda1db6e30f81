package install

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/reader"
	"ccd/compactor/sidecar"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// Left is a companion that an earlier companion.dir left behind: its session now has one elsewhere.
type Left struct {
	Path  string
	empty []string // directories of a tree of companions to remove once they are empty, inner ones first
}

// Earlier finds the companions that an earlier companion.dir left behind: those that the daemon recorded because it
// could not remove them, and those beside transcripts or in companion.dir whose session has one elsewhere. It skips
// files that are not ccd's, and sessions that are not watched here, because an archive restored in another home lists
// companions that are still in use there.
func Earlier(p *account.Place, sessions []reader.Entry) (all []Left) {
	watched := watching(p.Roots)
	seen := map[string]bool{}
	for _, e := range sessions {
		seen[e.Kept.Companion] = true
	}
	for _, e := range sessions {
		if !watched(e) {
			continue
		}
		places := e.Kept.Earlier
		if e.HasCompanion() {
			places = append([]string{sidecar.Path(e.Session.Session, ""), sidecar.Path(e.Session.Session, p.Config.Companion.Dir)}, places...)
		}
		for _, path := range places {
			if seen[path] {
				continue
			}
			seen[path] = true
			if ours, err := sidecar.Ours(path); err == nil && ours {
				all = append(all, Left{path, treeAround(e.Session.Session, path)})
			}
		}
	}
	return all
}

// RemoveEarlier removes these companions, and then the empty directories of their tree. It continues after an error.
func RemoveEarlier(ctx context.Context, all []Left) (removed int, failed error) {
	for _, l := range all {
		if ctx.Err() != nil {
			return removed, ctx.Err()
		}
		if err := sidecar.Remove(l.Path); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		removed++
		for _, dir := range l.empty {
			_ = removeDir(dir) // fails if other files are in it
		}
	}
	return removed, failed
}

// watching returns a function that reports whether a session's root is one of roots, by real paths.
func watching(roots []watcher.Root) func(e reader.Entry) bool {
	known := map[watcher.Root]bool{}
	for _, r := range roots {
		known[r] = true
		known[watcher.Root{Agent: r.Agent, Path: disk.Real(r.Path)}] = true
	}
	return func(e reader.Entry) bool {
		root := watcher.Root{Agent: e.Agent, Path: e.Root}
		here, seen := known[root]
		if !seen {
			here = known[watcher.Root{Agent: e.Agent, Path: disk.Real(e.Root)}]
			known[root] = here
		}
		return here
	}
}

// treeAround returns the directories around a companion in a tree of companions, inner ones first, and none if the
// companion is beside its transcript.
func treeAround(s transcript.Session, path string) (dirs []string) {
	top, ok := strings.CutSuffix(path, sidecar.Path(s, string(filepath.Separator)))
	for dir := filepath.Dir(path); ok && path != sidecar.Path(s, "") && top != "" && disk.Within(dir, top); dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	return dirs
}
