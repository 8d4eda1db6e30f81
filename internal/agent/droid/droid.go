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
		Roots: home.With("sessions"), Match: match,
		Client: &client, Parse: parse,
		// ccd installs no hooks: whether they belong in settings.json or hooks.json depends on the version.
		Connect: &transcript.Connect{
			Name: "droid", Dir: home.Of,
			Servers: "mcp.json", Member: "mcpServers", Type: "stdio", Guide: "AGENTS.md",
		},
	}
}

// match accepts SESSION.jsonl in a project's directory or, in older versions, in the root. The other files there
// (settings and copies of them) are no transcripts.
var match = transcript.Named(transcript.Name{Form: `(?:.*/)?(?:(?P<id>` + transcript.UUID + `)\.jsonl|` + transcript.JSONL + `)`})

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

// parse decodes one line of a session. The client loads a session in file order and ignores the links between records,
// because going back to an earlier message creates a new file.
func parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	l := d.Object(value)
	kind, message := l.Field("type"), l.Field("message")
	r.Time, r.UUID = transcript.ParseTime(l.Field("timestamp")), l.Field("id").Text()
	r.Type = kind.Text()
	switch {
	case message.Is('{'):
		addMessage(d, r, kind, d.Object(message))
	case streamed(d, r, kind.Text(), l, value):
	case kind.Text() == "session_start":
		header(d, r, l)
	case kind.Text() == "compaction_state":
		compacted(d, r, l)
	case bookkeeping[kind.Text()]:
		r.UI = true
	default:
		r.Unknown = true
	}
}

// bookkeeping lists the record types with nothing that reached the model.
var bookkeeping = map[string]bool{"todo_state": true, "agent_turn_outcome": true, "session_end": true}

// header reads the first line. Its "parent" is the session that this one was forked from or continues; only
// callingSessionId names the session that started it.
func header(d *transcript.Decoder, r *transcript.Record, l transcript.Object) {
	r.UI = true
	if d.Begun {
		return
	}
	d.Begun = true
	r.Cwd = transcript.Reuse(&d.Last.Cwd, l.Field("cwd"))
	r.Version = transcript.Reuse(&d.Last.Version, l.Field("version")) // a number would be the version of the file format
	made := transcript.RankMade
	if l.Field("isSessionTitleManuallySet").IsTrue() {
		made = transcript.RankGiven
	}
	title := l.Field("title")
	d.SetTitle(r, title, transcript.RankSummary)
	d.SetTitle(r, l.Field("sessionTitle"), made)
	r.Parent = l.Field("callingSessionId").Text()
	if r.Parent != "" || l.Field("decompSessionType").Text() == "worker" ||
		strings.HasPrefix(title.Text(), "# Task Tool Invocation") { // older headers do not name the caller
		d.Class = transcript.SubAgent
	}
}

// addMessage adds a message. One that only the person sees (a notice, the output of a hook) never reached the model.
func addMessage(d *transcript.Decoder, r *transcript.Record, kind transcript.Node, m transcript.Object) {
	role, content, sees := m.Field("role"), m.Field("content"), m.Field("visibility").Text()
	v := transcript.Voice{Role: role.Text(), By: d.Author(), Message: r.UUID}
	if sees == "llm_only" || m.Field("hiddenFromUserViews").IsTrue() || m.Field("userMessageSource").Text() == "automation" {
		v.By = transcript.Program
	}
	if r.Unknown = kind.Text() != "message" || len(content.Raw) == 0; r.Unknown {
		v.By = transcript.Program
	}
	r.Type = transcript.TypeName(kind, role)
	if r.UI = sees == "user_only" && !r.Unknown; r.UI {
		return
	}
	if v.Role == "assistant" {
		r.Model = transcript.Reuse(&d.Last.Model, m.First("modelId", "model"))
		if !thinks(content) { // otherwise the reasoning is in the content already
			r.AddFirst(transcript.Item{Kind: transcript.Thinking, Message: v.Message}, m.Field("chatCompletionReasoningContent"),
				m.Field("openaiEncryptedContent"), m.Field("openaiReasoningSummary"))
		}
	}
	d.Content(r, content, v)
	for i := range r.Items {
		it := &r.Items[i]
		it.Failed = it.Failed || it.Kind == transcript.Result && d.Client.Op(it.Tool) == transcript.Command && d.ResultFailed(it.Tool, transcript.Node{Raw: it.Raw})
	}
	d.RememberUUID(r)
}

func thinks(content transcript.Node) bool {
	for block := range content.Elements() {
		switch block.Field("type").Text() {
		case "thinking", "redacted_thinking":
			return true
		}
	}
	return false
}

// compacted reads the record of a compaction. The records after its anchor stay in the context. A compaction that
// starts a new session has no anchor, and no records before it.
func compacted(d *transcript.Decoder, r *transcript.Record, l transcript.Object) {
	info, anchor := l.Field("systemInfoText"), l.Field("anchorMessage")
	if anchor.Is('{') {
		anchor = anchor.Field("id")
	}
	d.SetBoundary(r, transcript.Boundary{Preserved: d.UUIDsAfter(anchor.Text())})
	r.AddFirst(transcript.Item{Kind: transcript.Summary}, l.Field("summaryText"), l.Field("summary"))
	if info.Full() { // the reminder that the client sends with the summary
		r.Add(transcript.Item{Kind: transcript.Meta}, info)
	}
}

// streamed decodes a line of `droid exec -o stream-json` and returns false if it is no such line. The last line (completion) repeats
// the last reply, so it gives no item.
func streamed(d *transcript.Decoder, r *transcript.Record, kind string, l transcript.Object, value transcript.Node) bool {
	if !l.First("session_id", "sessionId").Is('"') {
		return false
	}
	r.Model = transcript.Reuse(&d.Last.Model, l.Field("model"))
	r.Cwd = transcript.Reuse(&d.Last.Cwd, l.Field("cwd"))
	item := transcript.Item{Call: l.First("toolCallId", "id").Text()}
	switch kind {
	case "message":
		d.Say(r, l.Field("text"), transcript.Voice{Role: l.Field("role").Text(), By: d.Author(), Message: r.UUID})
	case "tool_call":
		item.Tool = l.Field("toolName").Text()
		d.Call(r, item, l.Field("parameters"), value)
	case "tool_result":
		item.Kind, item.Tool = transcript.Result, d.ToolOf(item.Call)
		output := l.Field("value")
		item.Failed = l.Field("isError").IsTrue() || output.Field("exitCode").Integer() != 0
		r.AddFirst(item, output, value)
	case "system", "completion", "error":
		r.UI = true
	default:
		return false
	}
	return true
}
