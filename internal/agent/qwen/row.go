// Package qwen describes Qwen Code: where it stores sessions, how a record decodes, what its tools do.
package qwen

import (
	"cmp"
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

// Row returns the format of Qwen Code.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "qwen-code", Title: "Qwen Code",
		Roots: roots, Match: match, Recognizes: recognizes,
		Client: &client, Parse: parse,
		Write: write, Place: place, Project: project, Resume: []string{"qwen", "--resume"}, Shell: transcript.ShellTool("run_shell_command"),
		Connect: &transcript.Connect{
			Name: "qwen", Dir: transcript.DirOf("QWEN_HOME", ".qwen"),
			Hooks: "settings.json", Events: transcript.Events(), Servers: "settings.json", Member: "mcpServers", Comments: true, Guide: "QWEN.md",
			Model: &transcript.Model{
				Event: transcript.Event{Client: "PreCompact", Name: "SessionCompact", Timeout: 15},
				Key:   "compactionModel", Value: "openai:ccd", ID: "ccd", List: []string{"modelProviders", "openai"}, Proxy: "proxy", Env: "QWEN_CODE_MODEL",
			},
		},
	}
}

// roots returns the directories of sessions and of tool outputs. QWEN_RUNTIME_DIR moves what the client writes;
// QWEN_HOME moves that and its settings.
func roots(getenv func(string) string, home string) []string {
	dir := cmp.Or(getenv("QWEN_RUNTIME_DIR"), getenv("QWEN_HOME"), filepath.Join(home, ".qwen"))
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
		dir = filepath.Join(home, rest)
	}
	return []string{filepath.Join(dir, "projects"), filepath.Join(dir, "tmp")}
}

// match accepts SLUG/chats/SESSION.jsonl, the same in chats/archive, and sub-agents' conversations in
// SLUG/subagents/SESSION/agent-ID.jsonl. Below tmp it accepts HASH/TOOL_ID.output, tool outputs that were too long for
// the context.
func match(base, rel string) (s transcript.Session, ok bool) {
	dirs := strings.Split(rel, "/")
	if base == "tmp" {
		return transcript.Session{Key: transcript.Key{ID: rel}, Class: transcript.Attachment}, len(dirs) == 2 && strings.HasSuffix(rel, ".output")
	}
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

// recognizes reports whether the line has a message with parts, or a member that only Qwen Code writes.
func recognizes(line transcript.Node) bool {
	if !line.Field("uuid").Is('"') || !line.Field("sessionId").Is('"') {
		return false
	}
	if message := line.Field("message"); message.Is('{') {
		return message.Field("parts").Is('[')
	}
	return line.Field("systemPayload").Is('{') || line.Field("usageMetadata").Is('{') || line.Field("toolCallResult").Is('{')
}
