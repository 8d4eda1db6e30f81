package cursor

import (
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

// roots returns the directories of projects. CURSOR_DATA_DIR moves them for the command line but not for the editor, so
// both are watched.
func roots(getenv func(string) string, home string) []string {
	dirs := []string{filepath.Join(home, ".cursor", "projects")}
	if dir := getenv("CURSOR_DATA_DIR"); dir != "" && filepath.Join(dir, "projects") != dirs[0] {
		dirs = append([]string{filepath.Join(dir, "projects")}, dirs...)
	}
	return dirs
}

// match accepts PROJECT/agent-transcripts/SESSION/SESSION.jsonl, older PROJECT/agent-transcripts/SESSION.jsonl, and the
// sub-agents' SESSION/subagents/AGENT.jsonl. It skips the oldest, SESSION.txt, which are not JSON.
func match(_, rel string) (transcript.Session, bool) {
	parts := strings.Split(rel, "/")
	stem, ok := strings.CutSuffix(parts[len(parts)-1], ".jsonl")
	if !ok || stem == "" || strings.HasPrefix(stem, ".") || len(parts) < 3 || parts[1] != "agent-transcripts" {
		return transcript.Session{}, false
	}
	s := transcript.Session{Key: transcript.Key{ID: strings.TrimSuffix(rel, ".jsonl")}}
	if transcript.IsUUID(stem) {
		s.ID = stem
	}
	switch {
	case len(parts) == 5 && parts[3] == "subagents":
		s.Class = transcript.SubAgent
		if s.Parent = parts[2]; !transcript.IsUUID(s.Parent) {
			s.Parent = strings.Join([]string{parts[0], parts[1], parts[2], parts[2]}, "/")
		}
	case len(parts) > 4:
		return transcript.Session{}, false
	}
	return s, true
}
