package claude

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ccd/internal/transcript"
)

func roots(getenv func(string) string, home string) []string {
	return []string{filepath.Join(cmp.Or(getenv("CLAUDE_CONFIG_DIR"), filepath.Join(home, ".claude")), "projects")}
}

// state returns the file in which the client stores its MCP servers: an old one in its own directory if that exists,
// else .claude.json in the home directory, or in CLAUDE_CONFIG_DIR if that is set.
func state(getenv func(string) string, home string) string {
	moved := getenv("CLAUDE_CONFIG_DIR")
	dir := cmp.Or(moved, filepath.Join(home, ".claude"))
	old := filepath.Join(dir, ".config.json")
	if _, err := os.Lstat(old); err == nil {
		return old
	}
	return filepath.Join(cmp.Or(moved, home), ".claude.json")
}

// match accepts projects/SLUG/SESSION.jsonl, older projects/SLUG/agent-HEX.jsonl, and the files in
// projects/SLUG/SESSION/: conversations of sub-agents, and attachments of the session.
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
	if isTranscript && transcript.IsUUID(stem) && !transcript.IsUUID(session) && !slices.Contains(parts, "subagents") { // moved too deep
		return transcript.Session{Key: transcript.Key{ID: stem}}, true
	}
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
	case isAgent && hex != "" && strings.Trim(hex, "0123456789abcdefABCDEF") == "":
		return transcript.Session{Key: transcript.Key{ID: stem}, Class: transcript.SubAgent}
	case transcript.IsUUID(stem):
		return transcript.Session{Key: transcript.Key{ID: stem}}
	}
	return transcript.Session{Key: transcript.Key{ID: strings.TrimSuffix(rel, ".jsonl")}}
}
