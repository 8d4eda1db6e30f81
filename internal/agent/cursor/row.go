// Package cursor describes Cursor: where its agent stores transcripts, how a line decodes, what its tools do.
package cursor

import (
	"ccd/internal/transcript"
)

// Row returns the format of Cursor.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "cursor", Title: "Cursor",
		Roots: roots, Match: match, Recognizes: recognizes,
		Client: &client, Parse: parse,
		// ccd installs no hooks, because a session does not name its working directory, and no rules, because there is
		// no file of rules for all projects.
		Connect: &transcript.Connect{Name: "cursor", Dir: transcript.DirIn("", ".cursor"), Servers: "mcp.json", Member: "mcpServers", Type: "stdio"},
	}
}

// recognizes reports whether the line has a role and a separate message. A line with another agent's members (a type, a
// session's ID, content beside the role) is not Cursor's.
func recognizes(line transcript.Node) bool {
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

// ended is the type of the line that ends a turn.
const ended = "turn_ended"
