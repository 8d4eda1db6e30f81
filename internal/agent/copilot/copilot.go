// Package copilot describes Copilot CLI: where it stores sessions, how an event decodes, what its tools do.
package copilot

import (
	"cmp"

	"ccd/internal/transcript"
)

var home = transcript.Dir{Variable: "COPILOT_HOME", Usual: ".copilot"}

// Row returns the format of Copilot CLI.
func Row() transcript.Format {
	return transcript.Format{
		Agent: "copilot-cli", Title: "Copilot CLI",
		Roots: home.With("session-state"), Match: match,
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

// match accepts SESSION/events.jsonl, older SESSION.jsonl, and in a session's directory the files that the agent wrote
// for itself: the summaries of its compactions, and files. It skips the copies for rewinding, locks and databases.
var match = transcript.Named(
	transcript.Name{Form: `(?P<id>` + transcript.UUID + `)\.jsonl`},
	transcript.Name{Form: `(?P<id>[^/.][^/]*)/events\.jsonl`},
	transcript.Name{Form: `(?P<parent>[^/.][^/]*)/(?:checkpoints/[^/.][^/]*\.md|files/(?:.*/)?[^/.][^/]*)`, Class: transcript.Attachment},
)

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

// parse decodes one event. What the model sees is in the messages and in the results of tools; events of a tool's
// start, of hooks, turns and reasoning repeat it for the screen. Events of a sub-agent are in the session that started
// it and carry the sub-agent's ID.
func parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	e := d.Object(value)
	data := e.Field("data")
	r.Type = e.Field("type").Text()
	r.UUID = e.Field("id").Text()
	r.Time = transcript.ParseTime(e.Field("timestamp"))
	side := e.Field("agentId").Full() || data.Field("parentToolCallId").Full()
	switch kind := e.Field("type").Text(); kind {
	case "user.message":
		user(d, r, data, side)
	case "assistant.message":
		assistant(d, r, data, side)
	case "tool.user_requested":
		d.Call(r, called(data, "toolName", side), data.Field("arguments"), data)
	case "tool.execution_start":
		r.UI = true
		if !side {
			d.RememberTool(data.Field("toolCallId").Text(), data.Field("toolName").Text())
		}
	case "tool.execution_complete":
		result(d, r, data, side)
	case "system.message":
		d.Content(r, data.Field("content"), transcript.Voice{Role: cmp.Or(data.Field("role").Text(), "system"), Side: side})
	case "system.notification":
		r.Agent = data.Field("kind").Field("agentId").Text()
		d.Content(r, data.Field("content"), transcript.Voice{Role: "user", Side: side})
	case "subagent.started", "subagent.completed", "subagent.failed":
		r.UI = true
		r.Agent = e.Field("agentId").Text()
	default:
		session(d, r, kind, data)
	}
	d.Again(r)
}

// bookkeeping lists the events, besides those of the session's state, with nothing that reached the model.
var bookkeeping = transcript.Set("assistant.intent assistant.reasoning assistant.turn_end assistant.turn_start assistant.usage hook.end hook.progress " +
	"hook.start permission.completed permission.requested skill.invoked subagent.configured subagent.deselected " +
	"subagent.selected tool.search_activated user_input.completed session.auto_mode_resolved " +
	"session.autopilot_objective_changed session.idle session.info session.mode_changed session.permissions_changed " +
	"session.plan_changed session.session_limits_changed session.snapshot_rewind session.task_complete " +
	"session.todos_changed session.truncation session.usage_checkpoint session.usage_info session.warning " +
	"session.workspace_file_changed")

// session decodes the events of the session's state and all other events. A truncation removes messages from the
// context without saying which, so it is no boundary.
func session(d *transcript.Decoder, r *transcript.Record, kind string, data transcript.Node) {
	r.UI = true
	switch kind {
	case "assistant.turn_end":
		r.TurnEnd = true
	case "abort":
		r.Aborted = true
	case "session.start", "session.resume":
		r.Version = transcript.Reuse(&d.Last.Version, data.Field("copilotVersion"))
		r.Model = transcript.Reuse(&d.Last.Model, data.Field("selectedModel"))
		place(d, r, data.Field("context"))
	case "session.context_changed":
		place(d, r, data)
	case "session.title_changed":
		d.SetTitle(r, data.Field("title"), transcript.RankMade)
	case "session.model_change":
		r.Model = transcript.Reuse(&d.Last.Model, data.Field("newModel"))
		switch data.Field("source").Text() {
		case "model_command", "settings_command", "config_command", "model_picker":
			r.Chosen = r.Model
		}
	case "session.error":
		d.Refused(r, data.Field("message"))
	case "session.shutdown":
		addUsage(d, r, data, "currentTokens")
	case "session.compaction_start":
		addUsage(d, r, data, "systemTokens", "conversationTokens", "toolDefinitionsTokens")
	case "session.compaction_complete":
		compacted(d, r, data)
	case "session.context_cleared":
		d.SetBoundary(r, transcript.Boundary{Trigger: "manual"})
	default:
		if !bookkeeping[kind] {
			unknown(d, r, data)
		}
	}
}

func place(d *transcript.Decoder, r *transcript.Record, context transcript.Node) {
	r.Cwd = transcript.Reuse(&d.Last.Cwd, context.Field("cwd"))
	r.Branch = transcript.Reuse(&d.Last.Branch, context.Field("branch"))
}

// addUsage sets the size of the context to the sum of some counts. Replies do not report it.
func addUsage(d *transcript.Decoder, r *transcript.Record, data transcript.Node, counts ...string) {
	window, _ := data.Field("tokenLimit").Tokens()
	d.SetUsage(r, transcript.Usage{Context: data.Object().Tokens(counts...), Window: window})
}

// compacted reads the result of a compaction. A failed one removed nothing.
func compacted(d *transcript.Decoder, r *transcript.Record, data transcript.Node) {
	if data.Field("success").Is('f') {
		return
	}
	r.UI = false
	b := transcript.Boundary{Trigger: data.Field("trigger").Text(), Before: data.Field("preCompactionTokens").Integer()}
	if b.Trigger != "" && b.Trigger != "manual" {
		b.Trigger = "auto"
	}
	d.SetBoundary(r, b)
	if summary := data.Field("summaryContent"); summary.Full() {
		r.Add(transcript.Item{Kind: transcript.Summary}, summary)
	}
}

// user adds a message as the person typed it. transformedContent is the same message with the time and the like added
// by the client.
func user(d *transcript.Decoder, r *transcript.Record, data transcript.Node, side bool) {
	v := transcript.Voice{Role: "user", By: author(d, data, side), Side: side}
	content := data.Field("content")
	if !content.Full() {
		content, v.By = data.Field("transformedContent"), transcript.Program
	}
	r.Unknown = len(content.Raw) == 0
	d.Content(r, content, v)
	for one := range data.Field("attachments").Elements() {
		if one.Field("data").Is('"') && one.Field("mimeType").Is('"') {
			r.Add(transcript.Item{Kind: transcript.Image, Side: side, Given: v.Gives()}, one)
		}
	}
}

// author returns who wrote a message: a person, unless its origin names a skill, a command, another agent or the client
// itself.
func author(d *transcript.Decoder, data transcript.Node, side bool) transcript.Author {
	source := data.Field("source").Text()
	switch {
	case side, source != "" && source != "user", data.Field("isAutopilotContinuation").IsTrue(), data.Field("inputOrigin").Full():
		return transcript.Program
	}
	return d.Author()
}

func assistant(d *transcript.Decoder, r *transcript.Record, data transcript.Node, side bool) {
	v := transcript.Voice{Role: "assistant", Message: data.Field("messageId").Text(), Side: side}
	if !side {
		r.Model = transcript.Reuse(&d.Last.Model, data.Field("model"))
	}
	for _, name := range []string{"reasoningText", "reasoningOpaque", "encryptedContent"} {
		if n := data.Field(name); n.Full() {
			r.Add(transcript.Item{Kind: transcript.Thinking, Message: v.Message, Side: side}, n)
			break
		}
	}
	content := data.Field("content")
	r.Unknown = len(content.Raw) == 0 && !data.Field("toolRequests").Is('[')
	if content.Full() {
		d.Content(r, content, v)
	}
	for one := range data.Field("toolRequests").Elements() {
		item := called(one, "name", side)
		item.Message = v.Message
		d.Call(r, item, one.Field("arguments"), one)
	}
}

func called(n transcript.Node, name string, side bool) transcript.Item {
	return transcript.Item{Call: n.Field("toolCallId").Text(), Tool: n.Field(name).Text(), Side: side}
}

// result adds a tool's result as the model saw it: its content. The detailed content is for the screen.
func result(d *transcript.Decoder, r *transcript.Record, data transcript.Node, side bool) {
	item := transcript.Item{Kind: transcript.Result, Call: data.Field("toolCallId").Text(), Side: side}
	if !side {
		item.Tool = d.ToolOf(item.Call)
	}
	content := data.Field("result").Field("content")
	item.Failed = data.Field("success").Is('f') || d.Client.Op(item.Tool) == transcript.Command && d.ResultFailed(item.Tool, content)
	if !content.Has() {
		failure := data.Field("error")
		r.AddFirst(item, failure.Field("message"), failure, data.Field("result"), data)
		return
	}
	if !side && !item.Failed && d.Class == transcript.Main && d.Client.Op(item.Tool) == transcript.Ask && content.Is('"') {
		item.Kind, item.Frame = transcript.Human, transcript.Reported
	}
	r.Add(item, content)
}

// unknown decodes an event of an unknown type. Text that the model may have seen becomes an item.
func unknown(d *transcript.Decoder, r *transcript.Record, data transcript.Node) {
	r.UI, r.Unknown = false, true
	for _, name := range []string{"content", "message", "summary"} {
		if n := data.Field(name); n.Full() && (n.Is('"') || n.Is('[')) {
			d.Content(r, n, transcript.Voice{})
			return
		}
	}
}
