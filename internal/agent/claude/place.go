package claude

import (
	"cmp"
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

func roots(getenv func(string) string, home string) []string {
	return []string{filepath.Join(cmp.Or(getenv("CLAUDE_CONFIG_DIR"), filepath.Join(home, ".claude")), "projects")}
}

// match knows projects/SLUG/SESSION.jsonl, older projects/SLUG/agent-HEX.jsonl, and what lies in
// projects/SLUG/SESSION/: sub-agents' conversations, and files that are attachments of the session.
func match(_, rel string) (transcript.Session, bool) {
	parts := strings.Split(rel, "/")
	if len(parts) < 2 {
		return transcript.Session{}, false
	}
	name := parts[len(parts)-1]
	stem, isTranscript := strings.CutSuffix(name, ".jsonl")
	if len(parts) == 2 {
		return main(rel, stem), isTranscript && stem != ""
	}
	session := parts[1]
	if session == "memory" || strings.HasPrefix(session, ".") || strings.HasPrefix(name, ".") {
		return transcript.Session{}, false
	}
	if isTranscript && parts[2] == "subagents" && len(parts) > 3 && strings.HasPrefix(stem, "agent-") {
		return transcript.Session{Key: transcript.Key{ID: stem}, Class: transcript.SubAgent, Parent: session}, true
	}
	if !transcript.IsUUID(session) && parts[2] != "subagents" && parts[2] != "tool-results" {
		return transcript.Session{}, false
	}
	return transcript.Session{Key: transcript.Key{ID: strings.Join(parts[1:], "/")}, Class: transcript.Attachment, Parent: session}, true
}

func main(rel, stem string) transcript.Session {
	switch hex, isAgent := strings.CutPrefix(stem, "agent-"); {
	case isAgent && transcript.IsHex(hex):
		return transcript.Session{Key: transcript.Key{ID: stem}, Class: transcript.SubAgent}
	case transcript.IsUUID(stem):
		return transcript.Session{Key: transcript.Key{ID: stem}}
	}
	return transcript.Session{Key: transcript.Key{ID: strings.TrimSuffix(rel, ".jsonl")}}
}
