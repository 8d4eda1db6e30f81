package transcript

import (
	"path"
	"path/filepath"
	"strings"
)

// Find tells what the file at filename, below root, is, from its name alone: nothing is read. Both are absolute paths
// of this system. ok is false for files that are nobody's, ccd's own among them.
func Find(agent, root, filename string) (s Session, ok bool) {
	f, ok := Lookup(agent)
	if !ok {
		return Session{}, false
	}
	rel, err := filepath.Rel(root, filename)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return Session{}, false
	}
	rel = filepath.ToSlash(rel)
	if isOurs(path.Base(rel)) {
		return Session{}, false
	}
	plain, packed := strings.CutSuffix(rel, ".zst")
	base := filepath.Base(root)
	if s, ok = f.match(base, plain); !ok || (packed && s.Class == Attachment) {
		return Session{}, false
	}
	s.Agent, s.Path, s.Root, s.Packed = agent, filename, root, packed
	s.Source = base + "/" + plain
	return s, true
}

// isOurs reports whether the file name is that of a companion or of a temporary file of ours.
func isOurs(name string) bool {
	return strings.HasSuffix(name, ".ccd.md") || strings.HasPrefix(name, ".ccd-")
}

func claudeRoots(getenv func(string) string, home string) []string {
	return []string{filepath.Join(orElse(getenv("CLAUDE_CONFIG_DIR"), filepath.Join(home, ".claude")), "projects")}
}

func codexRoots(getenv func(string) string, home string) []string {
	dir := orElse(getenv("CODEX_HOME"), filepath.Join(home, ".codex"))
	return []string{filepath.Join(dir, "sessions"), filepath.Join(dir, "archived_sessions")}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// claudeMatch knows projects/SLUG/SESSION.jsonl, older projects/SLUG/agent-HEX.jsonl, and what lies in
// projects/SLUG/SESSION/: sub-agents' conversations, and files that are attachments of the session.
func claudeMatch(_, rel string) (Session, bool) {
	parts := strings.Split(rel, "/")
	if len(parts) < 2 {
		return Session{}, false
	}
	name := parts[len(parts)-1]
	stem, isTranscript := strings.CutSuffix(name, ".jsonl")
	if len(parts) == 2 {
		return claudeMain(rel, stem), isTranscript && stem != ""
	}
	session := parts[1]
	if session == "memory" || strings.HasPrefix(session, ".") || strings.HasPrefix(name, ".") {
		return Session{}, false
	}
	if isTranscript && parts[2] == "subagents" && len(parts) > 3 && strings.HasPrefix(stem, "agent-") {
		return Session{Key: Key{ID: stem}, Class: SubAgent, Parent: session}, true
	}
	if !isUUID(session) && parts[2] != "subagents" && parts[2] != "tool-results" {
		return Session{}, false
	}
	return Session{Key: Key{ID: strings.Join(parts[1:], "/")}, Class: Attachment, Parent: session}, true
}

func claudeMain(rel, stem string) Session {
	switch hex, isAgent := strings.CutPrefix(stem, "agent-"); {
	case isAgent && isHex(hex):
		return Session{Key: Key{ID: stem}, Class: SubAgent}
	case isUUID(stem):
		return Session{Key: Key{ID: stem}}
	}
	return Session{Key: Key{ID: strings.TrimSuffix(rel, ".jsonl")}}
}

// codexMatch knows rollouts below sessions and archived_sessions: any *.jsonl, canonical in name or not.
func codexMatch(base, rel string) (Session, bool) {
	stem, ok := strings.CutSuffix(path.Base(rel), ".jsonl")
	if !ok || stem == "" || strings.HasPrefix(stem, ".") {
		return Session{}, false
	}
	if id := rolloutID(stem); id != "" {
		return Session{Key: Key{ID: id}}, true
	}
	return Session{Key: Key{ID: strings.TrimSuffix(rel, ".jsonl")}}, true
}

// rolloutID returns the thread's ID of rollout-2025-10-04T22-19-01-UUID, "" where the name is another.
func rolloutID(stem string) string {
	const stamp = "2025-10-04T22-19-01-"
	rest, ok := strings.CutPrefix(stem, "rollout-")
	if !ok || len(rest) != len(stamp)+36 || !isUUID(rest[len(stamp):]) {
		return ""
	}
	return rest[len(stamp):]
}

// isUUID reports whether s has the form 8-4-4-4-12 in hexadecimal.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch i {
		case 8, 13, 18, 23:
			if s[i] != '-' {
				return false
			}
		default:
			if !isHex(s[i : i+1]) {
				return false
			}
		}
	}
	return true
}

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return s != ""
}
