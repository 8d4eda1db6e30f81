// Package gemini describes Gemini CLI: where it stores sessions, how a record decodes, what its tools do.
package gemini

import (
	"cmp"
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

// Row returns the format of Gemini CLI.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "gemini-cli", Title: "Gemini CLI",
		Roots: roots, Match: match, Recognizes: recognizes,
		Client: &client, Parse: parse, Member: "messages", Beside: []transcript.Index{index},
		Write: write, Place: place, Resume: []string{"gemini", "--resume"}, Shell: transcript.ShellTool("run_shell_command"),
		Connect: &transcript.Connect{
			Name: "gemini", Dir: transcript.DirIn("GEMINI_CLI_HOME", ".gemini"),
			Hooks: "settings.json", Events: events, Servers: "settings.json", Member: "mcpServers", Comments: true, Guide: "GEMINI.md",
		},
	}
}

// events are the hook events of 0.61. Timeouts are in milliseconds.
var events = []transcript.Event{
	{Client: "SessionStart", Name: "SessionStart", Timeout: 10000},
	{Client: "BeforeAgent", Name: "UserPromptSubmit", Timeout: 10000},
	{Client: "PreCompress", Name: "PreCompact", Timeout: 15000},
}

// roots returns the directory of sessions. GEMINI_CLI_HOME replaces the home directory.
func roots(getenv func(string) string, home string) []string {
	return []string{filepath.Join(cmp.Or(getenv("GEMINI_CLI_HOME"), home), ".gemini", "tmp")}
}

// match accepts PROJECT/chats/session-TIME-ID8.json and .jsonl, sub-agents' PROJECT/chats/SESSION/ID.jsonl, and tool
// outputs that were too long for the context. A session's file name has only 8 characters of its ID, and a session can
// have several files, so the whole name is the ID. A session that moved from .json to .jsonl counts as two.
func match(_, rel string) (s transcript.Session, ok bool) {
	dirs := strings.Split(rel, "/")
	name := dirs[len(dirs)-1]
	id, isTranscript := strings.CutSuffix(name, ".jsonl")
	if !isTranscript {
		id, isTranscript = name, strings.HasSuffix(name, ".json")
	}
	switch {
	case len(dirs) < 3 || strings.HasPrefix(name, "."):
		return s, false
	case dirs[1] == "chats" && len(dirs) == 3:
		return transcript.Session{Key: transcript.Key{ID: id}}, isTranscript && strings.HasPrefix(id, "session-")
	case dirs[1] == "chats" && len(dirs) == 4:
		return transcript.Session{Key: transcript.Key{ID: id}, Class: transcript.SubAgent, Parent: dirs[2]}, isTranscript
	case dirs[1] == "tool-outputs" || dirs[1] == "tool_output" || dirs[1] == "tool_outputs":
		s = transcript.Session{Key: transcript.Key{ID: rel}, Class: transcript.Attachment}
		if of, told := strings.CutPrefix(dirs[2], "session-"); told && len(dirs) > 3 {
			s.Parent = of
		}
		return s, true
	}
	return s, false
}

// recognizes reports whether the line is a header, a change, or a message with one of Gemini's types.
func recognizes(line transcript.Node) bool {
	if isChange(line) || line.Field("sessionId").Is('"') && line.Field("projectHash").Is('"') {
		return true
	}
	if !line.Field("id").Is('"') || !line.Field("timestamp").Is('"') || len(line.Field("content").Raw) == 0 {
		return false
	}
	switch line.Field("type").Text() {
	case "gemini", "user", "info", "warning", "error":
		return !line.Field("uuid").Has() && !line.Field("sessionId").Has() && !line.Field("payload").Has()
	}
	return false
}

func isChange(line transcript.Node) bool {
	for key := range line.Members() {
		return string(key) == "$set" || string(key) == "$rewindTo"
	}
	return false
}
