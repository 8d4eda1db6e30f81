package hook

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"ccd/cmd/ccd/internal/disk"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// session returns the session of the event's transcript, which need not exist, and sets the event's agent.
func (h Hooks) session(e *Event) (transcript.Session, error) {
	f, _ := h.Agents.Lookup(e.Agent)
	own := slices.DeleteFunc(slices.Clone(h.Roots), func(r watcher.Root) bool { return e.Agent != "" && r.Agent != e.Agent })
	if e.Transcript == "" && f.Connect != nil && f.Connect.Transcript != "" && transcript.IsUUID(e.Session) {
		for _, r := range own {
			e.Transcript = filepath.Join(r.Path, filepath.FromSlash(strings.Replace(f.Connect.Transcript, "ID", e.Session, 1)))
		}
	}
	if !filepath.IsAbs(e.Transcript) {
		return transcript.Session{}, errors.New("find session: the event names no transcript")
	}
	s, ok := Session(h.Agents, own, e.Transcript)
	if !ok {
		return transcript.Session{}, &OutsideError{Dir: homeOf(own, e.Transcript)}
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
func homeOf(roots []watcher.Root, path string) string {
	for dir := filepath.Dir(filepath.Clean(path)); len(dir) > 1; dir = filepath.Dir(dir) {
		if slices.ContainsFunc(roots, func(r watcher.Root) bool { return filepath.Base(r.Path) == filepath.Base(dir) }) {
			return dir
		}
	}
	return ""
}

// Session returns the session of the transcript at path, which need not exist, by the roots that it may be below.
func Session(agents registry.Table, roots []watcher.Root, path string) (transcript.Session, bool) {
	path = filepath.Clean(path)
	for _, r := range roots {
		s, ok := agents.Find(r.Agent, r.Path, path)
		if !ok {
			s, ok = agents.Find(r.Agent, disk.Real(r.Path), filepath.Join(disk.Real(filepath.Dir(path)), filepath.Base(path)))
		}
		if ok && s.Class != transcript.Attachment {
			return s, true
		}
	}
	return transcript.Session{}, false
}
