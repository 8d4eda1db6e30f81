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

	"ccd/cmd/ccd/internal/disk"
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
				s, ok = agents.Find(f.Agent, disk.Real(root), filepath.Join(disk.Real(filepath.Dir(path)), filepath.Base(path)))
			}
			if ok && s.Class != transcript.Attachment {
				return s, true
			}
		}
	}
	return transcript.Session{}, false
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
	companion string    // its path
	last      time.Time // when the transcript last grew or, if it was removed, when the companion was written
}

// maxSeen is how many companions are considered, by name, to find the newest.
const maxSeen = 5000

// others returns the other main sessions of the same agent that have a companion, most recently grown first. For Claude Code these
// are the sessions in the same project directory, for Codex those of all projects.
func (h Hooks) others(ctx context.Context, s transcript.Session) (all []candidate) {
	roots, below, seen := h.Roots[s.Agent], "", 0
	if s.Agent == claude {
		roots = []string{s.Root}
		below, _ = filepath.Rel(s.Root, filepath.Dir(s.Path)) // cannot fail: Find matched this path below the root
	}
	for _, root := range roots {
		trees := []string{root, filepath.Join(cmp.Or(h.CompanionDir, h.kept()), s.Agent, filepath.Base(root))}
		for _, tree := range trees {
			walk(ctx, tree, below, s.Agent != claude, func(name string) bool {
				stem, is := strings.CutSuffix(name, sidecar.Suffix)
				if found, ok := h.Agents.Find(s.Agent, root, filepath.Join(root, stem+".jsonl")); is && ok {
					if seen++; found.ID != s.ID && found.Class == transcript.Main {
						path := filepath.Join(tree, name)
						all = append(all, candidate{found, path, grown(found.Path, path)})
					}
				}
				return seen < maxSeen
			})
		}
	}
	slices.SortFunc(all, func(x, y candidate) int {
		return cmp.Or(y.last.Compare(x.last), cmp.Compare(x.ID, y.ID))
	})
	return all
}

// grown returns when the first of these files that exists was written.
func grown(paths ...string) (at time.Time) {
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil && at.IsZero() {
			at = info.ModTime()
		}
	}
	return at
}

// walk yields the files below a directory of a tree until each returns false. It starts with the last names, because days and rollouts
// are named by time.
func walk(ctx context.Context, tree, below string, deep bool, each func(name string) bool) bool {
	entries, _ := os.ReadDir(filepath.Join(tree, below)) // missing or unreadable: it has none
	for _, e := range slices.Backward(entries) {
		name := filepath.Join(below, e.Name())
		if ctx.Err() != nil || e.IsDir() && deep && !walk(ctx, tree, name, deep, each) || e.Type().IsRegular() && !each(name) {
			return false
		}
	}
	return true
}
