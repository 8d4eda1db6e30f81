// Package copilot describes Copilot CLI: where it stores sessions, how an event decodes, what its tools do.
package copilot

import (
	"strings"

	"ccd/internal/transcript"
)

var home = transcript.Dir{Variable: "COPILOT_HOME", Usual: ".copilot"}

// Row returns the format of Copilot CLI.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "copilot-cli", Title: "Copilot CLI",
		Roots: home.With("session-state"), Match: match, Recognizes: recognizes,
		Client: &client, Parse: parse,
		Connect: &transcript.Connect{
			Name: "copilot", Dir: home.Of,
			Hooks: "hooks/ccd.json", Events: events(), Transcript: "ID/events.jsonl",
			Servers: "mcp-config.json", Member: "mcpServers", Type: "local", Tools: []string{"*"}, Guide: "copilot-instructions.md",
		},
	}
}

// events are those of Claude Code, whose names the client takes too. It compacts while it works, and has no event behind that: the end of a
// tool is asked as a prompt is.
func events() []transcript.Event {
	return append(transcript.Events(), transcript.Event{Client: "PostToolUse", Name: "UserPromptSubmit", Timeout: 10})
}

// recognizes reports whether the line has the envelope of an event.
func recognizes(line transcript.Node) bool {
	e := line.Object()
	return e.Field("data").Is('{') && e.Field("id").Is('"') && e.Field("timestamp").Is('"') && len(e.Field("parentId").Raw) > 0 &&
		isEvent(e.Field("type").Text())
}

// isEvent reports whether a type has the form of an event's: a subject, a full stop, and what happened.
func isEvent(kind string) bool {
	return kind == "abort" || strings.IndexByte(kind, '.') > 0
}

// match accepts SESSION/events.jsonl, older SESSION.jsonl, and in a session's directory the files that the agent wrote
// for itself: the summaries of its compactions, and files. It skips the copies for rewinding, locks and databases.
func match(_, rel string) (transcript.Session, bool) {
	parts := strings.Split(rel, "/")
	name := parts[len(parts)-1]
	if strings.HasPrefix(parts[0], ".") || strings.HasPrefix(name, ".") {
		return transcript.Session{}, false
	}
	stem, isLines := strings.CutSuffix(name, ".jsonl")
	switch {
	case len(parts) == 1:
		return transcript.Session{Key: transcript.Key{ID: stem}}, isLines && transcript.IsUUID(stem)
	case len(parts) == 2:
		return transcript.Session{Key: transcript.Key{ID: parts[0]}}, name == "events.jsonl"
	case parts[1] == "checkpoints" && len(parts) == 3 && strings.HasSuffix(name, ".md"), parts[1] == "files":
		return transcript.Session{Key: transcript.Key{ID: rel}, Class: transcript.Attachment, Parent: parts[0]}, true
	}
	return transcript.Session{}, false
}

// client lists the tools of Copilot CLI, from its documentation and sessions, and the texts that it writes in the
// user's role. What it adds to a person's message is only in transformedContent, which is no item.
var client = transcript.Client{
	Ops: transcript.Tools(map[transcript.Op]string{
		transcript.Command: "bash read_bash write_bash stop_bash powershell read_powershell write_powershell stop_powershell shell",
		transcript.Read:    "view",
		transcript.Write:   "create",
		transcript.Edit:    "edit apply_patch",
		transcript.Search:  "grep rg glob lsp",
		transcript.Web:     "web_fetch web_search",
		transcript.Plan:    "update_todo",
		transcript.Ask:     "ask_user",
		transcript.Agent:   "task read_agent write_agent",
		transcript.Other: "exit_plan_mode fetch_copilot_cli_documentation list_agents list_bash list_powershell report_intent " +
			"session_store_sql show_file skill sql store_memory task_complete",
	}),
	Flags:  true,
	Inside: "userRequest", // in sessions of the editor
	Elements: transcript.Elements("reminderInstructions context attachments editorContext environment_info workspace_info "+
		"current_datetime", ""),
	Exits: []transcript.Wrapper{
		{Begin: "<exited with exit code ", End: ">"},
		{Begin: "<shellId: ", End: ">"},
	},
}
