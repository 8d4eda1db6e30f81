// Package qwen is what is known of Qwen Code: where its sessions lie, how a record decodes, what its tools do.
package qwen

import (
	"bytes"
	"cmp"
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

// Row is Qwen Code.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "qwen-code", Title: "Qwen Code", How: "add the MCP server `ccd mcp` to mcpServers in ~/.qwen/settings.json",
		Roots: roots, Match: match, Mine: mine, Starts: starts,
		Client: &client, Parse: parse,
	}
}

// roots: QWEN_RUNTIME_DIR moves what the client writes, QWEN_HOME that and its settings.
func roots(getenv func(string) string, home string) []string {
	dir := cmp.Or(getenv("QWEN_RUNTIME_DIR"), getenv("QWEN_HOME"), filepath.Join(home, ".qwen"))
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
		dir = filepath.Join(home, rest)
	}
	return []string{filepath.Join(dir, "projects")}
}

// match knows SLUG/chats/SESSION.jsonl, also where it was moved to chats/archive, and the conversations of sub-agents in
// SLUG/subagents/SESSION/agent-ID.jsonl.
func match(_, rel string) (s transcript.Session, ok bool) {
	dirs := strings.Split(rel, "/")
	id, ok := strings.CutSuffix(dirs[len(dirs)-1], ".jsonl")
	if !ok || id == "" || strings.HasPrefix(id, ".") || len(dirs) < 3 {
		return s, false
	}
	switch {
	case dirs[1] == "chats" && (len(dirs) == 3 || len(dirs) == 4 && dirs[2] == "archive"):
		return transcript.Session{Key: transcript.Key{ID: id}}, true
	case dirs[1] == "subagents" && len(dirs) == 4 && strings.HasPrefix(id, "agent-"):
		return transcript.Session{Key: transcript.Key{ID: id}, Class: transcript.SubAgent, Parent: dirs[2]}, true
	}
	return s, false
}

// mine knows the parts of a message, or what only Qwen Code adds to a record without one.
func mine(line transcript.Node) bool {
	if !line.Field("uuid").Is('"') || !line.Field("sessionId").Is('"') {
		return false
	}
	if message := line.Field("message"); message.Is('{') {
		return message.Field("parts").Is('[')
	}
	return line.Field("systemPayload").Is('{') || line.Field("usageMetadata").Is('{') || line.Field("toolCallResult").Is('{')
}

func starts(line []byte) bool {
	if bytes.HasPrefix(line, []byte(`{"uuid":"`)) && bytes.Contains(line, []byte(`","parentUuid":`)) && bytes.Contains(line, []byte(`,"sessionId":"`)) {
		return true
	}
	return bytes.HasPrefix(line, []byte(`{"`)) && bytes.Contains(line, []byte(`"uuid":"`)) && bytes.Contains(line, []byte(`,"sessionId":"`)) &&
		(bytes.Contains(line, []byte(`,"parts":[{`)) || bytes.Contains(line, []byte(`,"systemPayload":{`)))
}
