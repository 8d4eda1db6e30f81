package hook

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ccd/compactor/sidecar"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

// session is the session that the event's transcript is the file of. The file need not exist. It completes the event's
// agent.
func (h Hooks) session(e *Event) (transcript.Session, error) {
	if !filepath.IsAbs(e.Transcript) {
		return transcript.Session{}, errors.New("find session: the event names no transcript")
	}
	path := filepath.Clean(e.Transcript)
	for _, f := range registry.All() {
		if e.Agent != "" && f.Agent != e.Agent {
			continue
		}
		for _, root := range h.Roots[f.Agent] {
			s, ok := registry.Find(f.Agent, root, path)
			if !ok {
				s, ok = registry.Find(f.Agent, real(root), filepath.Join(real(filepath.Dir(path)), filepath.Base(path)))
			}
			if ok && s.Class != transcript.Attachment {
				e.Agent = f.Agent
				return s, nil
			}
		}
	}
	return transcript.Session{}, errors.New("find session: its transcript lies below no directory that ccd knows")
}

// real is a path without symbolic links; the path itself where there is nothing yet.
func real(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return path
}

// companion is the companion of a session: where it is written, or where it is kept once its transcript is gone.
func (h Hooks) companion(s transcript.Session) (companion, error) {
	c, err := open(sidecar.Path(s, h.CompanionDir), s)
	if err != nil && h.CompanionDir == "" {
		if kept, gone := open(sidecar.Path(s, h.kept()), s); gone == nil {
			return kept, nil
		}
	}
	return c, err
}

// kept is the tree of companions whose transcripts are gone.
func (h Hooks) kept() string { return filepath.Join(h.StateDir, "companions") }

// candidate is another session, which may be told of.
type candidate struct {
	transcript.Session
	companion string    // its path, "" where there is none
	last      time.Time // when the transcript grew last, or, where that is gone, when the companion was written
}

// maxSeen bounds the files that are looked at, by name, to find the newest.
const maxSeen = 5000

// others are the other main sessions of the same agent, the one that grew last first: of Claude Code those of the same
// project, whose directory they share; of Codex those of all projects.
func (h Hooks) others(ctx context.Context, s transcript.Session) []candidate {
	roots, below, deep := h.Roots[s.Agent], "", true
	if s.Agent == claude {
		roots, deep = []string{s.Root}, false
		below, _ = filepath.Rel(s.Root, filepath.Dir(s.Path)) // Find took it from there
	}
	l := look{agent: s.Agent, deep: deep, found: map[string]*candidate{}}
	for _, l.root = range roots {
		trees := []string{l.root, filepath.Join(h.kept(), s.Agent, filepath.Base(l.root))}
		if h.CompanionDir != "" {
			trees[1] = filepath.Join(h.CompanionDir, s.Agent, filepath.Base(l.root))
		}
		for _, l.tree = range trees {
			l.walk(ctx, below)
		}
	}
	var all []candidate
	for _, c := range l.found {
		if c.ID != s.ID && c.Class == transcript.Main {
			all = append(all, *c)
		}
	}
	slices.SortFunc(all, func(x, y candidate) int {
		return cmp.Or(y.last.Compare(x.last), cmp.Compare(x.ID, y.ID))
	})
	return all
}

// look collects the sessions below one directory of a tree, the last names first: days and rollouts are named by time.
type look struct {
	agent      string
	root, tree string
	deep       bool
	seen       int
	found      map[string]*candidate // by ID
}

func (l *look) walk(ctx context.Context, below string) {
	entries, err := os.ReadDir(filepath.Join(l.tree, below))
	if err != nil {
		return // not there, or not to be read: nothing to tell of
	}
	for i := len(entries) - 1; i >= 0 && l.seen < maxSeen && ctx.Err() == nil; i-- {
		name := filepath.Join(below, entries[i].Name())
		switch {
		case entries[i].IsDir() && l.deep:
			l.walk(ctx, name)
		case entries[i].Type().IsRegular():
			l.add(name)
		}
	}
}

// add takes a transcript, or a companion; the other one of the two is found under the same name.
func (l *look) add(name string) {
	stem, isCompanion := strings.CutSuffix(name, sidecar.Suffix)
	if !isCompanion {
		stem = strings.TrimSuffix(name, ".jsonl")
	}
	s, ok := registry.Find(l.agent, l.root, filepath.Join(l.root, stem+".jsonl"))
	if stem == name || !ok {
		return
	}
	l.seen++
	c := l.found[s.ID]
	if c == nil {
		c = &candidate{Session: s}
		l.found[s.ID] = c
	}
	path := filepath.Join(l.tree, name)
	if isCompanion {
		c.companion = path
	}
	if info, err := os.Lstat(path); err == nil && (!isCompanion || c.last.IsZero()) {
		c.last = info.ModTime()
	}
}
