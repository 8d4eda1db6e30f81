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

// session returns the session of the event's transcript, which need not exist, and sets the event's agent.
func (h Hooks) session(e *Event) (transcript.Session, error) {
	if f, _ := h.Agents.Lookup(e.Agent); e.Transcript == "" && f.Connect != nil && f.Connect.Transcript != "" && transcript.IsUUID(e.Session) {
		for _, root := range h.Roots[e.Agent] {
			e.Transcript = filepath.Join(root, filepath.FromSlash(strings.Replace(f.Connect.Transcript, "ID", e.Session, 1)))
		}
	}
	if !filepath.IsAbs(e.Transcript) {
		return transcript.Session{}, errors.New("find session: the event names no transcript")
	}
	s, ok := Session(h.Agents, h.Roots, e.Agent, e.Transcript)
	if !ok {
		return transcript.Session{}, &OutsideError{Dir: homeOf(h.Roots[e.Agent], e.Transcript)}
	}
	e.Agent = s.Agent
	return s, nil
}

// OutsideError reports a transcript that is not below a watched root: the agent has another home, which nobody told ccd.
type OutsideError struct {
	Dir string // would have to be a root; "" if that is unclear
}

// Error says what is wrong, without the path.
func (e *OutsideError) Error() string {
	return "find session: its transcript is not below a watched root"
}

// homeOf returns the directory above a transcript that has the name of a root.
func homeOf(roots []string, path string) string {
	for dir := filepath.Dir(filepath.Clean(path)); len(dir) > 1; dir = filepath.Dir(dir) {
		if slices.ContainsFunc(roots, func(root string) bool { return filepath.Base(root) == filepath.Base(dir) }) {
			return dir
		}
	}
	return ""
}

// Session returns the session of the transcript at path, which need not exist, by the roots of each agent. If agent is "",
// it may be of any agent.
func Session(agents registry.Table, roots map[string][]string, agent, path string) (transcript.Session, bool) {
	path = filepath.Clean(path)
	for _, f := range agents.All() {
		if agent != "" && f.Agent != agent {
			continue
		}
		for _, root := range roots[f.Agent] {
			s, ok := agents.Find(f.Agent, root, path)
			if !ok {
				s, ok = agents.Find(f.Agent, real(root), filepath.Join(real(filepath.Dir(path)), filepath.Base(path)))
			}
			if ok && s.Class != transcript.Attachment {
				return s, true
			}
		}
	}
	return transcript.Session{}, false
}

// real resolves the symbolic links of a path. It returns a path that does not exist as it is.
func real(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return path
}

// companion opens the companion of a session, also where it is kept after its transcript was removed.
func (h Hooks) companion(s transcript.Session) (companion, error) {
	c, err := open(sidecar.Path(s, h.CompanionDir), s)
	if err != nil && h.CompanionDir == "" {
		if kept, gone := open(sidecar.Path(s, h.kept()), s); gone == nil {
			return kept, nil
		}
	}
	return c, err
}

// kept returns the directory for companions whose transcripts were removed.
func (h Hooks) kept() string { return filepath.Join(h.StateDir, "companions") }

// candidate is another session that may be offered.
type candidate struct {
	transcript.Session
	companion string    // its path, "" if there is none
	last      time.Time // when the transcript last grew or, if it was removed, when the companion was written
}

// maxSeen is how many files are considered, by name, to find the newest.
const maxSeen = 5000

// others returns the other main sessions of the same agent, most recently grown first. For Claude Code these are the
// sessions in the same project directory, for Codex those of all projects.
func (h Hooks) others(ctx context.Context, s transcript.Session) []candidate {
	roots, below, deep := h.Roots[s.Agent], "", true
	if s.Agent == claude {
		roots, deep = []string{s.Root}, false
		below, _ = filepath.Rel(s.Root, filepath.Dir(s.Path)) // cannot fail: Find matched this path below the root
	}
	l := look{agents: h.Agents, agent: s.Agent, deep: deep, found: map[string]*candidate{}}
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

// look collects the sessions below one directory. It starts with the last names, because days and rollouts are named by time.
type look struct {
	agents     registry.Table
	agent      string
	root, tree string
	deep       bool
	seen       int
	found      map[string]*candidate // by ID
}

func (l *look) walk(ctx context.Context, below string) {
	entries, err := os.ReadDir(filepath.Join(l.tree, below))
	if err != nil {
		return // missing or unreadable: it contributes no sessions
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

// add adds the session of a transcript or companion; both have the same stem.
func (l *look) add(name string) {
	stem, isCompanion := strings.CutSuffix(name, sidecar.Suffix)
	if !isCompanion {
		stem = strings.TrimSuffix(name, ".jsonl")
	}
	s, ok := l.agents.Find(l.agent, l.root, filepath.Join(l.root, stem+".jsonl"))
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
