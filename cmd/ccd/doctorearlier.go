package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"ccd/compactor/sidecar"
)

// former is a companion that stands where its session has none any more: companion.dir was another one.
type former struct {
	path  string
	empty []string // directories of a tree of companions, that go when they are empty, an inner one first
}

// formers finds the companions of earlier places: those that the daemon noted for it could not remove them, and those
// beside transcripts, or in companion.dir, whose session has its own elsewhere. What is not ours is none, and nothing of a session that is not watched here:
// an archive that was restored in another home remembers companions which are in use where they stand.
func (l *library) formers(sessions []entry) (all []former) {
	dir, watched := l.config.Companion.Dir, l.watching()
	now := map[string]bool{}
	for _, e := range sessions {
		now[e.state.Companion] = true
	}
	for _, e := range sessions {
		if !watched(e) {
			continue
		}
		places := e.state.Earlier
		if e.companion() {
			places = append([]string{sidecar.Path(e.Session.Session, ""), sidecar.Path(e.Session.Session, dir)}, places...)
		}
		for _, p := range places {
			if now[p] {
				continue
			}
			now[p] = true // once
			if ours, err := sidecar.Ours(p); err == nil && ours {
				all = append(all, former{p, treeAround(e.Session.Session, p)})
			}
		}
	}
	return all
}

// removeFormers removes them, and the directories of their tree that are empty then. It stops at no error.
func removeFormers(ctx context.Context, all []former) (removed int, failed error) {
	for _, f := range all {
		if ctx.Err() != nil {
			return removed, ctx.Err()
		}
		if err := sidecar.Remove(f.path); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		removed++
		for _, dir := range f.empty {
			_ = os.Remove(dir) // not empty: others of it are
		}
	}
	return removed, failed
}

// checkEarlier finds companions that a change of companion.dir has left behind.
func checkEarlier(_ context.Context, s *surroundings) []finding {
	const check = "earlier"
	all := s.l.formers(s.sessions)
	if len(all) == 0 {
		return nil
	}
	var paths []string
	for _, f := range all {
		paths = append(paths, f.path)
	}
	where := byDirectory(paths)
	detail := fmt.Sprintf("%s of an earlier companion.dir: %d in %s", count(len(all), "companion"), where[0].n, where[0].path)
	if more := len(all) - where[0].n; more > 0 {
		detail += fmt.Sprintf(", %d elsewhere", more)
	}
	f := note(check, "rm "+shellWord(paths[0])+others(len(all)), "%s", detail)
	return []finding{f.by("removed "+count(len(all), "companion")+" of an earlier companion.dir", func(ctx context.Context) error {
		_, err := removeFormers(ctx, all)
		return err
	})}
}

// removeEarlier is what install does about them, outside of the sandbox that kept the daemon from it. The daemon that was
// just started may not have written all of them at their new place: those stay for doctor.
func (a *app) removeEarlier(ctx context.Context, l *library) {
	sessions, err := bounded(ctx, checkLimit, func(ctx context.Context) ([]entry, error) {
		own := *l
		err := own.load(ctx)
		return own.sessions, err
	})
	if err != nil {
		return // doctor tells
	}
	if n, _ := removeFormers(ctx, l.formers(sessions)); n > 0 {
		a.say("removed %s of an earlier companion.dir", count(n, "companion"))
	}
	watched := l.watching()
	for _, e := range sessions {
		if watched(e) && e.present() && e.companion() && e.state.Companion != sidecar.Path(e.Session.Session, l.config.Companion.Dir) {
			a.say("companions are written anew for companion.dir; ccd doctor --fix then removes those before it that ccd may no longer write to")
			return
		}
	}
}
