package copilot

import (
	"strings"

	"ccd/internal/transcript"
)

// event is the members of an event that ccd reads.
type event struct{ kind, data, id, timestamp, parent, agent transcript.Node }

func read(value transcript.Node) (e event) {
	for key, v := range value.Members() {
		switch string(key) {
		case "type":
			e.kind = v
		case "data":
			e.data = v
		case "id":
			e.id = v
		case "timestamp":
			e.timestamp = v
		case "parentId":
			e.parent = v
		case "agentId":
			e.agent = v
		}
	}
	return e
}

// parse understands one event. What the model sees stands in the messages and in what tools gave back; events of a tool's
// start, of hooks, turns and reasoning repeat it for the screen. An event of a sub-agent stands in the session that started
// it, and says so.
func parse(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	e := read(value)
	r.Type = d.TypeName(e.kind, transcript.Node{})
	r.UUID = e.id.Text()
	r.Time = transcript.Clock(e.timestamp)
	side := e.agent.Full() || e.data.Field("parentToolCallId").Full()
	switch kind := e.kind.Text(); kind {
	case "user.message":
		user(d, r, e.data, side)
	case "assistant.message":
		assistant(d, r, e.data, side)
	case "tool.user_requested":
		d.Call(r, called(e.data, "toolName", side), e.data.Field("arguments"), e.data)
	case "tool.execution_start":
		r.UI = true
		if !side {
			d.Named(e.data.Field("toolCallId").Text(), e.data.Field("toolName").Text())
		}
	case "tool.execution_complete":
		result(d, r, e.data, side)
	case "system.message":
		role := e.data.Field("role").Text()
		if role == "" {
			role = "system"
		}
		d.Content(r, e.data.Field("content"), transcript.Voice{Role: role, Side: side})
	case "system.notification":
		r.Agent = e.data.Field("kind").Field("agentId").Text()
		d.Content(r, e.data.Field("content"), transcript.Voice{Role: "user", Side: side})
	case "subagent.started", "subagent.completed", "subagent.failed":
		r.UI = true
		r.Agent = e.agent.Text()
	default:
		session(d, r, kind, e.data)
	}
}

// bookkeeping are the events, beside those of a session's state, that hold nothing that reached the model.
var bookkeeping = map[string]bool{
	"abort": true, "assistant.intent": true, "assistant.reasoning": true, "assistant.turn_end": true,
	"assistant.turn_start": true, "assistant.usage": true, "hook.end": true, "hook.progress": true, "hook.start": true,
	"permission.completed": true, "permission.requested": true, "skill.invoked": true, "subagent.configured": true,
	"subagent.deselected": true, "subagent.selected": true, "tool.search_activated": true, "user_input.completed": true,
	"user_input.requested":       true,
	"session.auto_mode_resolved": true, "session.autopilot_objective_changed": true, "session.error": true,
	"session.idle": true, "session.info": true, "session.mode_changed": true, "session.permissions_changed": true,
	"session.plan_changed": true, "session.session_limits_changed": true, "session.snapshot_rewind": true,
	"session.task_complete": true, "session.todos_changed": true, "session.truncation": true,
	"session.usage_checkpoint": true, "session.usage_info": true, "session.warning": true,
	"session.workspace_file_changed": true,
}

// session reads the events of a session's state, and all others. A truncation takes some messages out of the context without
// telling which: it is no boundary.
func session(d *transcript.Decoder, r *transcript.Record, kind string, data transcript.Node) {
	r.UI = true
	switch kind {
	case "session.start", "session.resume":
		r.Version = transcript.Reuse(&d.Last.Version, data.Field("copilotVersion"))
		r.Model = transcript.Reuse(&d.Last.Model, data.Field("selectedModel"))
		place(d, r, data.Field("context"))
	case "session.context_changed":
		place(d, r, data)
	case "session.title_changed":
		d.Entitle(r, data.Field("title"), transcript.RankMade)
	case "session.model_change":
		r.Model = transcript.Reuse(&d.Last.Model, data.Field("newModel"))
		switch data.Field("source").Text() {
		case "model_command", "settings_command", "config_command", "model_picker":
			r.Chosen = r.Model
		}
	case "session.shutdown":
		held(d, r, data, "currentTokens")
	case "session.compaction_start":
		held(d, r, data, "systemTokens", "conversationTokens", "toolDefinitionsTokens")
	case "session.compaction_complete":
		compacted(d, r, data)
	case "session.context_cleared":
		d.Compacted(r, transcript.Boundary{Trigger: "manual"})
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

// held reports what the model held at a time, the sum of some counts. No reply reports it.
func held(d *transcript.Decoder, r *transcript.Record, data transcript.Node, counts ...string) {
	total := int64(0)
	for _, name := range counts {
		count, ok := data.Field(name).Tokens()
		if !ok {
			total = transcript.NoCount
			break
		}
		total += count
	}
	if total != 0 {
		window, _ := data.Field("tokenLimit").Tokens()
		d.Uses(r, transcript.Usage{Context: total, Window: window})
	}
}

// compacted reads how a compaction ended. One that failed took nothing away.
func compacted(d *transcript.Decoder, r *transcript.Record, data transcript.Node) {
	if data.Field("success").Is('f') {
		return
	}
	r.UI = false
	b := transcript.Boundary{Trigger: data.Field("trigger").Text(), Before: data.Field("preCompactionTokens").Integer()}
	if b.Trigger != "" && b.Trigger != "manual" {
		b.Trigger = "auto"
	}
	d.Compacted(r, b)
	if summary := data.Field("summaryContent"); summary.Full() {
		r.Add(transcript.Item{Kind: transcript.Summary}, summary)
	}
}

// user reads a message as it was typed. What the client made of it (transformedContent) is the same with the time and such
// beside it.
func user(d *transcript.Decoder, r *transcript.Record, data transcript.Node, side bool) {
	v := transcript.Voice{Role: "user", By: author(d, data, side), Side: side}
	content := data.Field("content")
	if !content.Full() {
		content, v.By = data.Field("transformedContent"), transcript.Program
	}
	r.Unknown = len(content.Raw) == 0
	d.Content(r, content, v)
	for one := range data.Field("attachments").Elements() {
		if one.Field("data").Is('"') && strings.HasPrefix(one.Field("mimeType").Text(), "image/") {
			r.Add(transcript.Item{Kind: transcript.Image, Side: side}, one)
		}
	}
}

// author is who wrote a message: a person, unless its origin names a skill, a command, another agent or the client itself.
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

// result reads what the model saw of what a tool gave back: its content. The detailed content is for the screen.
func result(d *transcript.Decoder, r *transcript.Record, data transcript.Node, side bool) {
	item := transcript.Item{Kind: transcript.Result, Call: data.Field("toolCallId").Text(), Side: side}
	if !side {
		item.Tool = d.ToolOf(item.Call)
	}
	content := data.Field("result").Field("content")
	item.Failed = data.Field("success").Is('f') || d.Op(item.Tool) == transcript.Command && exit(content)
	if !content.Has() {
		failure := data.Field("error")
		r.AddFirst(item, failure.Field("message"), failure, data.Field("result"), data)
		return
	}
	if !side && !item.Failed && d.Class == transcript.Main && d.Op(item.Tool) == transcript.Ask && content.Is('"') {
		item.Kind, item.Frame = transcript.Human, transcript.Reported
	}
	r.Add(item, content)
}

// exit reports whether a command's output ends with a status that is not 0.
func exit(content transcript.Node) bool {
	raw := content.Raw
	tail := string(raw[max(0, len(raw)-64):])
	i := strings.LastIndex(tail, "exit code ")
	if i < 0 {
		return false
	}
	status, rest, ok := strings.Cut(tail[i+len("exit code "):], ">")
	return ok && status != "0" && strings.Trim(status, "-0123456789") == "" && strings.Trim(rest, `\n"`) == ""
}

// unknown keeps an event of a type that is not known. What looks like a text that a model sees is an item all the same.
func unknown(d *transcript.Decoder, r *transcript.Record, data transcript.Node) {
	r.UI, r.Unknown = false, true
	for _, name := range []string{"content", "message", "summary"} {
		if n := data.Field(name); n.Full() && (n.Is('"') || n.Is('[')) {
			d.Content(r, n, transcript.Voice{})
			return
		}
	}
}
