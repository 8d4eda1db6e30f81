// Package droid describes Factory Droid: where it stores sessions, how a record decodes, what its tools do.
package droid

import (
	"ccd/internal/transcript"
)

// Row returns the format of Factory Droid.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "factory-droid", Title: "Factory Droid",
		Roots: roots, Match: match, Recognizes: recognizes,
		Client: &client, Parse: parse,
		// ccd installs no hooks: whether they belong in settings.json or hooks.json depends on the version.
		Connect: &transcript.Connect{
			Name: "droid", Dir: transcript.DirIn("FACTORY_HOME_OVERRIDE", ".factory"),
			Servers: "mcp.json", Member: "mcpServers", Type: "stdio", Guide: "AGENTS.md",
		},
	}
}

// recognizes reports whether the line has a type that no other agent writes. Messages look like Pi's, so a message must
// also have something that Pi never writes.
func recognizes(line transcript.Node) bool {
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
			return isMessage(line.Field("id").Text(), message)
		}
	}
	return isStreamed(line)
}

func isMessage(id string, message transcript.Node) bool {
	m := message.Object()
	for _, pis := range []string{"timestamp", "api", "provider", "stopReason", "usage"} {
		if len(m.Field(pis).Raw) > 0 {
			return false
		}
	}
	content, known := m.Field("content"), isID(id)
	for _, droids := range []string{"visibility", "userMessageSource", "interactionMode", "modelId", "hookEventName"} {
		known = known || len(m.Field(droids).Raw) > 0
	}
	if role := m.Field("role").Text(); role != "user" && role != "assistant" || !content.Is('[') {
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

// isID reports whether a record's ID has Droid's form: a UUID, or "context-" and the UUID of the message that the
// record is the context of.
func isID(id string) bool {
	return transcript.IsUUID(id) || len(id) > len(context) && id[:len(context)] == context && transcript.IsUUID(id[len(context):])
}

const context = "context-"
