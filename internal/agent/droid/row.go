// Package droid is what is known of Factory Droid: where its sessions live, how a record decodes, what its tools do.
package droid

import (
	"bytes"

	"ccd/internal/transcript"
)

// Row is Factory Droid.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "factory-droid", Title: "Factory Droid", How: "add the MCP server `ccd mcp` to ~/.factory/mcp.json",
		Roots: roots, Match: match, Mine: mine, Starts: starts,
		Client: &client, Parse: parse,
	}
}

// mine knows the types that no other agent writes. A message has the form of Pi's messages: it must show something that
// Pi's never have.
func mine(line transcript.Node) bool {
	switch line.Field("type").Text() {
	case "session_start":
		return line.Field("id").Is('"')
	case "compaction_state":
		return line.Field("summaryText").Is('"') || line.Field("summaryKind").Is('"') || line.Field("removedCount").Has()
	case "todo_state":
		return line.Field("todos").Has()
	case "agent_turn_outcome":
		return line.Field("turnId").Is('"')
	case "message":
		if message := line.Field("message"); message.Is('{') {
			return mineMessage(line.Field("id").Text(), message)
		}
	}
	return mineStreamed(line)
}

func mineMessage(id string, message transcript.Node) bool {
	var role string
	content, known := transcript.Node{}, isID(id)
	for key, v := range message.Members() {
		switch string(key) {
		case "role":
			role = v.Text()
		case "content":
			content = v
		case "timestamp", "api", "provider", "stopReason", "usage":
			return false
		case "visibility", "userMessageSource", "interactionMode", "modelId", "hookEventName":
			known = true
		}
	}
	if role != "user" && role != "assistant" || !content.Is('[') {
		return false
	}
	for block := range content.Elements() {
		switch block.Field("type").Text() {
		case "tool_use", "tool_result":
			known = true
		case "toolCall":
			return false
		}
	}
	return known
}

// isID reports whether a record's ID is of the form that Droid gives: a UUID, or that of the message it is the context of.
func isID(id string) bool {
	return transcript.IsUUID(id) || len(id) > len(context) && id[:len(context)] == context && transcript.IsUUID(id[len(context):])
}

const context = "context-"

func starts(line []byte) bool {
	for _, kind := range []string{"session_start", "compaction_state"} {
		if bytes.HasPrefix(line, []byte(`{"type":"`+kind+`","id":"`)) {
			return true
		}
	}
	rest, ok := bytes.CutPrefix(line, []byte(`{"type":"message","id":"`))
	id, _, closed := bytes.Cut(rest, []byte(`"`))
	return ok && closed && isID(string(id)) && bytes.Contains(rest, []byte(`"message":{"role":"`))
}
