// Package gemini is what is known of Gemini CLI: where its sessions lie, how a record decodes, what its tools do.
package gemini

import (
	"bytes"
	"cmp"
	"path/filepath"
	"strings"

	"ccd/internal/transcript"
)

// Row is Gemini CLI.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "gemini-cli", Title: "Gemini CLI", How: "add the MCP server `ccd mcp` to mcpServers in ~/.gemini/settings.json",
		Roots: roots, Match: match, Mine: mine, Starts: starts,
		Client: &client, Parse: parse, Member: "messages",
	}
}

// roots: GEMINI_CLI_HOME stands for the home directory.
func roots(getenv func(string) string, home string) []string {
	return []string{filepath.Join(cmp.Or(getenv("GEMINI_CLI_HOME"), home), ".gemini", "tmp")}
}

// match knows PROJECT/chats/session-TIME-ID8.json and .jsonl, sub-agents' PROJECT/chats/SESSION/ID.jsonl, and tool outputs
// that were too long for the context. The ID in a session's name is cut to 8 characters and told for each of its files,
// so that the whole name is the ID. A session that was carried over from .json to .jsonl is two files.
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

// mine knows the header, the changes, and a message by its type.
func mine(line transcript.Node) bool {
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

// starts knows the header in both forms, also where it is a line of its own in an object on several lines.
func starts(line []byte) bool {
	for _, begin := range []string{`"projectHash": "`, `{"$set":{`, `{"$rewindTo":"`} {
		if bytes.HasPrefix(line, []byte(begin)) {
			return true
		}
	}
	if bytes.HasPrefix(line, []byte(`{"sessionId":"`)) {
		return bytes.Contains(line, []byte(`,"projectHash":"`))
	}
	return bytes.HasPrefix(line, []byte(`{"id":"`)) && bytes.Contains(line, []byte(`,"timestamp":"`)) &&
		(bytes.Contains(line, []byte(`,"type":"gemini",`)) || bytes.Contains(line, []byte(`,"type":"user","content":`)))
}
