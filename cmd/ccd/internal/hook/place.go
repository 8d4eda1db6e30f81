package hook

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"ccd/cmd/ccd/internal/disk"
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
