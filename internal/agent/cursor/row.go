// Package cursor is what is known of Cursor: where the transcripts of its agent live, how a line decodes, what its tools do.
package cursor

import (
	"bytes"

	"ccd/internal/transcript"
)

// Row is Cursor.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "cursor", Title: "Cursor", How: "add the MCP server `ccd mcp` to mcpServers in ~/.cursor/mcp.json",
		Roots: roots, Match: match, Mine: mine, Starts: starts,
		Client: &client, Parse: parse,
	}
}

// mine knows a message by its two members: a role, and the message apart from it. What has a type, an ID of a session or
// its content beside the role is another's.
func mine(line transcript.Node) bool {
	var role, message, kind, status transcript.Node
	for key, v := range line.Members() {
		switch string(key) {
		case "role":
			role = v
		case "message":
			message = v
		case "type":
			kind = v
		case "status":
			status = v
		case "content", "payload", "uuid", "parentUuid", "sessionId", "session_id", "parts":
			return false
		}
	}
	if kind.Has() {
		return kind.Text() == ended && status.Is('"') && !role.Has()
	}
	return (role.Text() == "user" || role.Text() == "assistant") && message.Field("content").Has()
}

// ended is the type of the line behind a turn.
const ended = "turn_ended"

func starts(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"role":"user","message":{`)) || bytes.HasPrefix(line, []byte(`{"role":"assistant","message":{`))
}
