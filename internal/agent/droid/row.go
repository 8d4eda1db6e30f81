// Package droid describes Factory Droid: where it stores sessions, how a record decodes, what its tools do.
package droid

import (
	"strings"

	"ccd/internal/transcript"
)

// home is in the directory that FACTORY_HOME_OVERRIDE names in place of the home directory.
var home = transcript.Dir{Variable: "FACTORY_HOME_OVERRIDE", Below: ".factory"}

// Row returns the format of Factory Droid.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "factory-droid", Title: "Factory Droid",
		Roots: home.With("sessions"), Match: match, Recognizes: recognizes,
		Client: &client, Parse: parse,
		// ccd installs no hooks: whether they belong in settings.json or hooks.json depends on the version.
		Connect: &transcript.Connect{
			Name: "droid", Dir: home.Of,
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

// match accepts SESSION.jsonl in a project's directory or, in older versions, in the root. The other files there
// (settings and copies of them) are no transcripts.
func match(_, rel string) (transcript.Session, bool) {
	id, ok := transcript.Stem(rel)
	if !transcript.IsUUID(id) {
		id = strings.TrimSuffix(rel, ".jsonl")
	}
	return transcript.Session{Key: transcript.Key{ID: id}}, ok
}

// client lists the tools of Factory Droid and the texts that it writes in the user's role, as seen from 0.81.0 to
// 0.226.
var client = transcript.Client{
	Ops: transcript.Tools(map[transcript.Op]string{
		transcript.Command: "Execute shell",
		transcript.Read:    "Read view_file",
		transcript.Write:   "Create write",
		transcript.Edit:    "Edit MultiEdit ApplyPatch apply_patch",
		transcript.Search:  "Grep Glob LS ToolSearch",
		transcript.Web:     "WebSearch FetchUrl",
		transcript.Plan:    "TodoWrite",
		transcript.Ask:     "AskUser ExitSpecMode",
		transcript.Agent:   "Task TaskOutput TaskStop",
		transcript.Other:   "GenerateDroid Skill",
	}),
	Exits: []transcript.Wrapper{
		{Begin: "[Process exited with code ", End: "]"},
		{Begin: "Error: Command failed (exit code: ", End: ")"},
	},
	Flags:    true, // a summary is in its own record
	Elements: transcript.Elements("", ""),
	Notices: []transcript.Wrapper{
		{Begin: "Request cancelled by user", End: "user"},
		{Begin: "Error: Request was aborted.", End: "."},
	},
}
